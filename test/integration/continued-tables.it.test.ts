/** Tables that other engines began, changed or tidied up, and that a pipeline goes on with. */
import { access, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { judgeOrSkip } from '../kit/judges/judge-or-skip.ts';
import { sameRows } from '../kit/judges/wire.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { create, line, remove } from '../scenarios/envelopes.ts';
import { metadataHoldsTogether } from './manifests.ts';
import {
  everyReaderSees,
  folderOf,
  ownRows,
  ownSnapshots,
  readersOrSkip,
  sees,
  type TableAt,
} from './readers.ts';
import { gone, order, orders, sharedTable } from './shared-table.ts';

const marksOf = async (table: TableAt): Promise<(string | undefined)[]> =>
  (await ownSnapshots(table)).map(({ summary }) => summary['lakeward.checkpoint-id']);

test('a table that Flink began with equality and position deletes goes on with us, Flink and Spark in turn', async (context) => {
  const readers = await readersOrSkip(context);
  const pyiceberg = await judgeOrSkip('pyiceberg', context);
  await using shared = await sharedTable();
  const { table } = shared;
  const agree = (): Promise<void> => everyReaderSees(readers, table, shared.expected());
  // Repeats within a checkpoint are position deletes of Flink's.
  await shared.flink(readers.flink, [
    ...orders([1, 2, 3, 4, 5, 6, 7, 8], 1),
    order(1, 2),
    ...gone(2),
    order(3, 2),
    order(2, 3),
  ]);
  await agree();
  await shared.lakeward([order(1, 4), ...gone(3, 4), ...orders([9, 10], 4), ...gone(99)]);
  await agree();
  await shared.flink(readers.flink, [
    order(9, 5),
    ...gone(1),
    order(3, 5),
    order(3, 6),
    ...gone(10),
    order(11, 5),
  ]);
  await agree();
  await shared.lakeward([order(1, 7), ...gone(11), order(3, 7), order(12, 7)]);
  await agree();
  await shared.spark(readers.spark, [order(12, 8), ...gone(5), order(13, 8), order(6, 8)]);
  await agree();
  await shared.lakeward([...gone(13), order(5, 9), order(6, 9)]);
  await agree();

  expect(await marksOf(table)).toEqual([undefined, '1', undefined, '2', undefined, '3']);
  const inspected = await pyiceberg.inspect(folderOf(table));
  await metadataHoldsTogether(inspected);
  const contents = inspected.snapshots.flatMap((s) =>
    s.manifests.flatMap((m) => m.entries.map((e) => e.content)),
  );
  expect(new Set(contents)).toEqual(new Set(['DATA', 'EQUALITY_DELETES', 'POSITION_DELETES']));
  // A checksum of Flink's beside a hint of ours would make Java refuse the hint.
  await expect(access(join(folderOf(table), 'metadata/.version-hint.text.crc'))).rejects.toThrow();
});

test('an empty table of Flink’s, which has no snapshot yet, gets its first one from us', async (context) => {
  const readers = await readersOrSkip(context);
  await using shared = await sharedTable();
  const { table } = shared;
  await readers.flink.sql(table.warehouse, [
    'CREATE DATABASE lake.db',
    `CREATE TABLE lake.db.orders (id BIGINT, qty INT, price DECIMAL(10,2), note STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('format-version'='2')`,
  ]);
  await shared.lakeward(orders([1, 2], 1));
  await everyReaderSees(readers, table, shared.expected());
  const [first] = await ownSnapshots(table);
  expect(first?.operation).toBe('append');
});

test('a merge-on-read table of Spark’s without a key goes on with us by ours, and later with Flink', async (context) => {
  const readers = await readersOrSkip(context);
  const pyiceberg = await judgeOrSkip('pyiceberg', context);
  await using shared = await sharedTable();
  const { table } = shared;
  const agree = (): Promise<void> => everyReaderSees(readers, table, shared.expected());
  const modes = ['delete', 'update', 'merge'].map((what) => `'write.${what}.mode'='merge-on-read'`);
  await readers.spark.sql(table.warehouse, [
    'CREATE NAMESPACE lake.db',
    `CREATE TABLE lake.db.orders (id BIGINT NOT NULL, qty INT, price DECIMAL(10,2), note STRING) USING iceberg TBLPROPERTIES ('format-version'='2', ${modes.join(', ')})`,
  ]);
  await shared.spark(readers.spark, orders([1, 2, 3, 4, 5, 6, 7, 8], 1));
  await shared.spark(readers.spark, [...gone(1, 2), order(3, 2), order(9, 2)]);
  await agree();
  await shared.lakeward([...gone(3), order(1, 3), order(4, 3), order(10, 3)]);
  await agree();
  await shared.spark(readers.spark, [...gone(1), order(4, 4), order(10, 4), order(3, 4)]);
  await agree();
  await shared.lakeward([order(1, 5), order(4, 5), ...gone(10)]);
  await agree();
  await readers.spark.sql(table.warehouse, ['ALTER TABLE lake.db.orders SET IDENTIFIER FIELDS id']);
  await shared.flink(readers.flink, [order(4, 6), order(4, 7), ...gone(1), order(11, 6)]);
  await agree();
  await shared.lakeward([order(11, 8), ...gone(4), order(1, 8)]);
  await agree();
  await metadataHoldsTogether(await pyiceberg.inspect(folderOf(table)));
});

test('a compaction between checkpoints loses no later change, and after an expiry no checkpoint is committed twice', async (context) => {
  const readers = await readersOrSkip(context);
  const pyiceberg = await judgeOrSkip('pyiceberg', context);
  await using shared = await sharedTable();
  const { table } = shared;
  const agree = (): Promise<void> => everyReaderSees(readers, table, shared.expected());
  const call = async (...procedures: readonly string[]): Promise<void> => {
    await readers.spark.sql(
      table.warehouse,
      procedures.map((text) => `CALL lake.system.${text}`),
    );
  };
  await shared.lakeward(orders([1, 2, 3, 4, 5, 6], 1));
  await shared.lakeward([order(1, 2), ...gone(2)]);
  await shared.lakeward([order(2, 3), ...gone(3)]);
  await call(`rewrite_data_files(table => 'db.orders', options => map('rewrite-all', 'true'))`);
  await agree();
  await shared.lakeward([order(1, 4), ...gone(4), order(3, 4)]);
  await agree();
  await call(
    `rewrite_manifests('db.orders')`,
    `rewrite_data_files(table => 'db.orders', options => map('rewrite-all', 'true', 'remove-dangling-deletes', 'true'))`,
  );
  await shared.lakeward([order(4, 5), ...gone(1)]);
  await agree();
  await metadataHoldsTogether(await pyiceberg.inspect(folderOf(table)));

  await call(
    `rewrite_data_files(table => 'db.orders', options => map('rewrite-all', 'true'))`,
    `expire_snapshots(table => 'db.orders', older_than => TIMESTAMP '9999-01-01 00:00:00', retain_last => 1)`,
  );
  const [left, ...others] = await ownSnapshots(table);
  expect([left?.operation, others]).toEqual(['replace', []]);
  // A run begins by committing its last checkpoint again. Its snapshot is gone, and still it is known to be done.
  const again = await shared.pipeline.run();
  expect([again.error, again.checkpoints]).toEqual([null, []]);
  expect((await ownSnapshots(table)).map((snapshot) => snapshot.id)).toEqual([left?.id]);
  await agree();
  await shared.lakeward([order(1, 6), ...gone(5)]);
  await agree();
  expect(await marksOf(table)).toEqual([undefined, '6']);
  await metadataHoldsTogether(await pyiceberg.inspect(folderOf(table)));
});

test('a checkpoint whose commit a crash prevented is committed on what a compaction and an expiry made of the table meanwhile', async (context) => {
  const readers = await readersOrSkip(context);
  await using shared = await sharedTable();
  const { table } = shared;
  await shared.lakeward(orders([1, 2, 3, 4], 1));
  await shared.lakeward([order(1, 2), ...gone(2)]);
  await shared.lakeward([order(1, 3), order(2, 3), ...gone(3)]);
  // As a crash between the saved intent and the commit leaves it: all files, but no version that names them.
  const metadata = join(folderOf(table), 'metadata');
  await rm(join(metadata, 'v4.metadata.json'));
  await writeFile(join(metadata, 'version-hint.text'), '3');
  expect(await marksOf(table)).toEqual(['1', '2']);
  await readers.spark.sql(table.warehouse, [
    `CALL lake.system.rewrite_data_files(table => 'db.orders', options => map('rewrite-all', 'true'))`,
    `CALL lake.system.expire_snapshots(table => 'db.orders', older_than => TIMESTAMP '9999-01-01 00:00:00', retain_last => 1)`,
  ]);
  expect((await shared.pipeline.run()).error).toBeNull();
  await everyReaderSees(readers, table, shared.expected());
  expect(await marksOf(table)).toEqual([undefined, '3']);
});

test('a key column that was renamed still deletes in every reader, and a pipeline with the old name is refused', async (context) => {
  const readers = await readersOrSkip(context);
  await using shared = await sharedTable();
  const { table } = shared;
  await shared.lakeward(orders([1, 2, 3], 1));
  await shared.lakeward([order(1, 2), ...gone(2)]);
  await readers.spark.sql(table.warehouse, [
    'ALTER TABLE lake.db.orders RENAME COLUMN id TO `order id`',
  ]);
  const { columns, rows } = shared.expected();
  await everyReaderSees(readers, table, { columns: ['order id', ...columns.slice(1)], rows });
  await shared.pipeline.feed('9.jsonl', [
    '{"op":"d","before":{"id":1},"after":null,"source":{"db":"db","table":"orders"}}',
  ]);
  expect((await shared.pipeline.run()).error).toMatchObject({ code: 'E_TARGET_MISMATCH' });
});

test('Java finds the newest version without a hint, and behind an old one', async (context) => {
  const { spark, flink } = await readersOrSkip(context);
  await using shared = await sharedTable();
  const { table } = shared;
  await shared.lakeward(orders([1, 2], 1));
  await shared.lakeward([order(1, 2)]);
  const hint = join(folderOf(table), 'metadata/version-hint.text');
  expect(await readFile(hint, 'utf8')).toBe('3');
  for (const spoil of [() => writeFile(hint, '1'), () => rm(hint)]) {
    await spoil();
    await sees('Lakeward', ownRows(table), shared.expected());
    await sees('Spark', spark.read(table.warehouse, 'db.orders'), shared.expected());
    await sees('Flink', flink.read(table.warehouse, 'db.orders'), shared.expected());
  }
  // The next writer, a foreign one, goes on from the newest version too.
  await shared.spark(spark, [order(2, 3)]);
  await sees('Lakeward', ownRows(table), shared.expected());
});

test('no file of a live table is an orphan to Spark, whatever form of the path it was found by', async (context) => {
  const spark = await judgeOrSkip('spark', context);
  await using shared = await sharedTable();
  const { table } = shared;
  await shared.lakeward(orders([1, 2, 3], 1));
  await shared.lakeward([order(1, 2), ...gone(2)]);
  const files = await readdir(folderOf(table), { recursive: true, withFileTypes: true });
  const paths = files.filter((f) => f.isFile()).map((f) => join(f.parentPath, f.name));
  // Spark leaves alone what is younger than a day.
  await Promise.all(
    [...paths, join(folderOf(table), 'data/stray.parquet')].map((path) => age(path)),
  );
  const [orphans] = await spark.sql(table.warehouse, [
    `CALL lake.system.remove_orphan_files(table => 'db.orders', dry_run => true)`,
  ]);
  expect(orphans?.rows.map(([path]) => path?.replace(/.*\//, ''))).toEqual(['stray.parquet']);
});

async function age(path: string): Promise<void> {
  const longAgo = new Date('2020-01-01T00:00:00Z');
  await writeFile(path, '', { flag: 'a' });
  await utimes(path, longAgo, longAgo);
}

test('columns that Spark added, moved, widened and dropped are written on by field id, and what was dropped stays gone', async (context) => {
  const readers = await readersOrSkip(context);
  const pyiceberg = await judgeOrSkip('pyiceberg', context);
  await using shared = await sharedTable();
  const { table } = shared;
  await shared.lakeward(orders([1, 2, 3], 1));
  await readers.spark.sql(
    table.warehouse,
    [
      'ADD COLUMN extra STRING FIRST',
      'ALTER COLUMN qty TYPE BIGINT',
      'ALTER COLUMN price TYPE DECIMAL(20,2)',
      'DROP COLUMN note',
    ].map((change) => `ALTER TABLE lake.db.orders ${change}`),
  );
  // The pipeline writes a column of this name, so it comes again, as a new one.
  await shared.lakeward([order(2, 2), ...gone(3)]);
  const note = order(2, 2).note;
  await everyReaderSees(readers, table, {
    columns: ['extra', 'id', 'qty', 'price', 'note'],
    rows: [
      [null, '1', '1', '1.01', null],
      [null, '2', '2', '2.02', note],
    ],
  });
  const { schema } = await pyiceberg.inspect(folderOf(table));
  expect(schema.fields.map((f) => [f.id, f.name, f.type])).toEqual([
    [5, 'extra', 'string'],
    [1, 'id', 'long'],
    [2, 'qty', 'long'],
    [3, 'price', 'decimal(20, 2)'],
    [6, 'note', 'string'],
  ]);
});

test('manifests that we merged, and metadata that we compressed, as the table’s properties ask, are read by all', async (context) => {
  const readers = await readersOrSkip(context);
  const pyiceberg = await judgeOrSkip('pyiceberg', context);
  await using shared = await sharedTable();
  const { table } = shared;
  await shared.flink(readers.flink, [...orders([1, 2, 3, 4], 1), order(1, 2)]);
  const set = (properties: string): Promise<unknown> =>
    readers.spark.sql(table.warehouse, [
      `ALTER TABLE lake.db.orders SET TBLPROPERTIES (${properties})`,
    ]);
  await set(`'commit.manifest.min-count-to-merge'='2'`);
  await shared.lakeward([order(1, 3), ...gone(2)]);
  await shared.lakeward([order(2, 4), ...gone(3)]);
  await shared.spark(readers.spark, [order(4, 5)]);
  await shared.lakeward([order(3, 6), ...gone(4)]);
  await everyReaderSees(readers, table, shared.expected());
  const inspected = await pyiceberg.inspect(folderOf(table));
  await metadataHoldsTogether(inspected);
  const [data, deletes, ...more] = inspected.snapshots.at(-1)?.manifests ?? [];
  expect([data?.content, deletes?.content, more]).toEqual(['DATA', 'DELETES', []]);
  expect(deletes?.entries.map((entry) => entry.status)).toContain('EXISTING');

  await set(`'write.metadata.compression-codec'='gzip'`);
  await shared.lakeward([order(4, 7)]);
  expect(await readdir(join(folderOf(table), 'metadata'))).toContain('v9.gz.metadata.json');
  await everyReaderSees({ ...readers, duckdb: null }, table, shared.expected());
  // DuckDB looks for compressed metadata only where it is told to.
  const scan = `iceberg_scan('${folderOf(table)}', metadata_compression_codec = 'gzip')`;
  await sees('DuckDB', readers.duckdb.query(`SELECT * FROM ${scan}`), shared.expected());
});

test('a table that another engine partitioned or upgraded is refused by name, and stays as it is', async (context) => {
  const { spark } = await readersOrSkip(context);
  for (const [change, refusal] of [
    ['ADD PARTITION FIELD bucket(4, id)', /partition/],
    [`SET TBLPROPERTIES ('format-version'='3')`, /format version 3/],
  ] as const) {
    await using shared = await sharedTable();
    const { table } = shared;
    await shared.lakeward(orders([1, 2], 1));
    await spark.sql(table.warehouse, [`ALTER TABLE lake.db.orders ${change}`]);
    const before = await readdir(join(folderOf(table), 'metadata'));
    const feed = '{"op":"d","before":{"id":1},"after":null,"source":{"db":"db","table":"orders"}}';
    await shared.pipeline.feed('9.jsonl', [feed]);
    const { error } = await shared.pipeline.run();
    expect([error?.code, error?.message]).toEqual([
      'E_CONFIG_UNSUPPORTED',
      expect.stringMatching(refusal),
    ]);
    expect(await readdir(join(folderOf(table), 'metadata'))).toEqual(before);
    const rows = await spark.read(table.warehouse, 'db.orders');
    sameRows(rows, shared.expected());
  }
});

test('a partitioned table of Flink’s with deletes in its partitions is read right by us', async (context) => {
  const readers = await readersOrSkip(context);
  await using folder = await tempDir({ inMemory: true });
  const table = { warehouse: folder.path, namespace: 'db', name: 'visits' };
  const columns = 'id BIGINT, site STRING, n INT, PRIMARY KEY (id, site) NOT ENFORCED';
  const row = (id: number, site: string, n: number): object => ({ id, site, n });
  for (const [i, lines] of [
    [
      create({ ...row(1, 'süd/1', 1) }, null),
      create({ ...row(1, '', 2) }, null),
      create({ ...row(2, 'süd/1', 3) }, null),
    ],
    [
      remove({ ...row(1, 'süd/1', 1) }, null),
      line('u', {
        before: { ...row(2, 'süd/1', 3) },
        after: { ...row(2, 'süd/1', 4) },
        source: null,
      }),
    ],
  ].entries()) {
    const feed = join(folder.path, `feed-${i}.json`);
    await writeFile(feed, `${lines.join('\n')}\n`);
    await readers.flink.sql(folder.path, [
      'CREATE DATABASE IF NOT EXISTS lake.db',
      `CREATE TABLE IF NOT EXISTS lake.db.visits (${columns}) PARTITIONED BY (site) WITH ('format-version'='2','write.upsert.enabled'='true')`,
      `CREATE TEMPORARY TABLE feed (${columns}) WITH ('connector'='filesystem','path'='file://${feed}','format'='debezium-json')`,
      'INSERT INTO lake.db.visits SELECT * FROM feed',
    ]);
  }
  await everyReaderSees(readers, table, {
    columns: ['id', 'site', 'n'],
    rows: [
      ['1', '', '2'],
      ['2', 'süd/1', '4'],
    ],
  });
});
