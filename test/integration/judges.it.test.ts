/**
 * Proves the judges themselves, with tables that none of them shares a writer with the product: what they say about
 * our tables is worth as much as this file.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runFlinkScript } from '../kit/judges/flink-process.ts';
import type { FlinkJudge } from '../kit/judges/flink-judge.ts';
import { JudgeError } from '../kit/judges/judge-process.ts';
import { judgeOrSkip } from '../kit/judges/judge-or-skip.ts';
import { sameRows, type Rows } from '../kit/judges/wire.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'judges-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const ORDERS: Rows = {
  columns: ['id', 'customer', 'amount', 'at'],
  rows: [
    ['9007199254740993', 'Åsa', '12.30', '2024-02-29T10:00:00.5'],
    ['2', null, '-0.01', '2024-03-01T00:00:00'],
  ],
};

const envelope = (op: string, before: object | null, after: string | null): string =>
  `{"op":"${op}","before":${JSON.stringify(before)},"after":${after}}\n`;

/** Four changes of three keys; two are left. Longs beyond 2^53 are written by hand. */
const FEED = [
  envelope(
    'c',
    null,
    '{"id":9007199254740993,"customer":"x","amount":"1.00","at":"2024-01-01 00:00:00"}',
  ),
  envelope('c', null, '{"id":3,"customer":"gone","amount":"5.00","at":"2024-01-01 00:00:00"}'),
  envelope('c', null, '{"id":2,"customer":null,"amount":"-0.01","at":"2024-03-01 00:00:00"}'),
].join('');
const LATER = [
  `{"op":"u","before":{"id":9007199254740993},"after":{"id":9007199254740993,"customer":"Åsa","amount":"12.30","at":"2024-02-29 10:00:00.5"}}\n`,
  envelope('d', { id: 3 }, null),
].join('');

const COLUMNS =
  'id BIGINT, customer STRING, amount DECIMAL(10,2), `at` TIMESTAMP(6), PRIMARY KEY (id) NOT ENFORCED';

async function upsert(
  flink: FlinkJudge,
  warehouse: string,
  feeds: readonly string[],
): Promise<void> {
  for (const [i, feed] of feeds.entries()) {
    const file = join(folder, `feed-${i}.json`);
    await writeFile(file, feed);
    await flink.sql(warehouse, [
      'CREATE DATABASE IF NOT EXISTS lake.db',
      `CREATE TABLE IF NOT EXISTS lake.db.orders (${COLUMNS}) WITH ('format-version'='2','write.upsert.enabled'='true')`,
      `CREATE TEMPORARY TABLE feed (${COLUMNS}) WITH ('connector'='filesystem','path'='file://${file}','format'='debezium-json')`,
      'INSERT INTO lake.db.orders SELECT * FROM feed',
    ]);
  }
}

test('every reader sees the same rows in a table that Flink upserted in two jobs', async (context) => {
  const flink = await judgeOrSkip('flink', context);
  const spark = await judgeOrSkip('spark', context);
  const duckdb = await judgeOrSkip('duckdb', context);
  const warehouse = join(folder, 'upsert');
  await upsert(flink, warehouse, [FEED, LATER]);

  sameRows(await flink.read(warehouse, 'db.orders'), ORDERS);
  sameRows(await spark.read(warehouse, 'db.orders'), ORDERS);
  sameRows(await duckdb.read(join(warehouse, 'db/orders')), ORDERS);
  expect((await duckdb.snapshots(join(warehouse, 'db/orders'))).rows).toHaveLength(2);
});

test('PyIceberg shows the metadata of that table and refuses its equality deletes', async (context) => {
  const flink = await judgeOrSkip('flink', context);
  const pyiceberg = await judgeOrSkip('pyiceberg', context);
  const warehouse = join(folder, 'metadata');
  await upsert(flink, warehouse, [FEED, LATER]);
  const table = join(warehouse, 'db/orders');

  const shown = await pyiceberg.inspect(table);
  expect(shown.formatVersion).toBe(2);
  expect(shown.schema.fields.map((f) => f.type)).toEqual([
    'long',
    'string',
    'decimal(10, 2)',
    'timestamp',
  ]);
  expect(shown.schema.identifierFieldIds).toEqual([1]);
  expect(shown.snapshots.map((s) => s.operation)).toEqual(['overwrite', 'overwrite']);
  expect(shown.currentSnapshotId).toBe(shown.snapshots[1]?.snapshotId);
  const deletes = shown.snapshots[1]?.manifests.filter((m) => m.content === 'DELETES') ?? [];
  const entries = deletes.flatMap((m) => m.entries.filter((e) => e.content === 'EQUALITY_DELETES'));
  expect(entries.map((e) => e.equalityIds)).toEqual([[1], [1]]);
  await expect(pyiceberg.scan(table)).rejects.toThrow(/equality deletes/);
});

test('every reader sees the same rows in a merge-on-read table of Spark with position deletes', async (context) => {
  const spark = await judgeOrSkip('spark', context);
  const duckdb = await judgeOrSkip('duckdb', context);
  const flink = await judgeOrSkip('flink', context);
  const pyiceberg = await judgeOrSkip('pyiceberg', context);
  const warehouse = join(folder, 'merge-on-read');
  const properties = `'format-version'='2','write.delete.mode'='merge-on-read','write.update.mode'='merge-on-read'`;
  const results = await spark.sql(warehouse, [
    'CREATE NAMESPACE lake.db',
    `CREATE TABLE lake.db.t (id BIGINT, v STRING) USING iceberg TBLPROPERTIES (${properties})`,
    `INSERT INTO lake.db.t SELECT /*+ COALESCE(1) */ id, concat('v', id) FROM range(1, 6)`,
    'DELETE FROM lake.db.t WHERE id = 2',
    `UPDATE lake.db.t SET v = 'changed' WHERE id = 4`,
    `SELECT count(*) AS n FROM lake.db.t.position_deletes`,
  ]);
  expect(results.at(-1)?.rows).toEqual([['2']]);

  const expected = {
    columns: ['id', 'v'],
    rows: [
      ['1', 'v1'],
      ['3', 'v3'],
      ['4', 'changed'],
      ['5', 'v5'],
    ],
  };
  const table = join(warehouse, 'db/t');
  sameRows(await spark.read(warehouse, 'db.t'), expected);
  sameRows(await duckdb.read(table), expected);
  sameRows(await flink.read(warehouse, 'db.t'), expected);
  sameRows(await pyiceberg.scan(table), expected);
});

test('every type of Iceberg has the same text in every reader', async (context) => {
  const spark = await judgeOrSkip('spark', context);
  const duckdb = await judgeOrSkip('duckdb', context);
  const flink = await judgeOrSkip('flink', context);
  const pyiceberg = await judgeOrSkip('pyiceberg', context);
  const warehouse = join(folder, 'types');
  await spark.sql(warehouse, [
    'CREATE NAMESPACE lake.db',
    `CREATE TABLE lake.db.t (b BOOLEAN, i INT, l BIGINT, f FLOAT, d DOUBLE, n DECIMAL(38,10), day DATE,
      ts TIMESTAMP_NTZ, tz TIMESTAMP, s STRING, x BINARY, a ARRAY<FLOAT>, o STRUCT<k: STRING, v: BIGINT>,
      m MAP<STRING, DECIMAL(5,2)>) USING iceberg`,
    `INSERT INTO lake.db.t VALUES (true, -2147483648, 9223372036854775807, float('0.1'), 1e300,
      12345678901234567890123456.7890123456BD, DATE'1582-10-15', TIMESTAMP_NTZ'2024-01-01 00:00:00.000001',
      TIMESTAMP'1969-12-31 23:59:59.999999Z', 'ä😀"\\n', X'00ff', array(float('0.1'), null),
      named_struct('k', null, 'v', 9007199254740993L), map('b', 1.50BD, 'a', 0BD))`,
    `INSERT INTO lake.db.t VALUES (null, 0, 0, float('NaN'), double('-Infinity'), -0.0000000001BD, DATE'9999-12-31',
      TIMESTAMP_NTZ'9999-12-31 23:59:59.5', TIMESTAMP'0001-01-01 00:00:00Z', '', X'', array(), null, map())`,
  ]);
  const expected = {
    columns: ['b', 'i', 'l', 'f', 'd', 'n', 'day', 'ts', 'tz', 's', 'x', 'a', 'o', 'm'],
    rows: [
      [
        'true',
        '-2147483648',
        '9223372036854775807',
        '0.1',
        '1e+300',
        '12345678901234567890123456.7890123456',
        '1582-10-15',
        '2024-01-01T00:00:00.000001',
        '1969-12-31T23:59:59.999999Z',
        'ä😀"\n',
        '0x00ff',
        '[0.1,null]',
        '(null,9007199254740993)',
        '{a:0.00,b:1.50}',
      ],
      [
        null,
        '0',
        '0',
        'NaN',
        '-Infinity',
        '-0.0000000001',
        '9999-12-31',
        '9999-12-31T23:59:59.5',
        '0001-01-01T00:00:00Z',
        '',
        '0x',
        '[]',
        null,
        '{}',
      ],
    ],
  };
  sameRows(await spark.read(warehouse, 'db.t'), expected);
  sameRows(await duckdb.read(join(warehouse, 'db/t')), expected);
  sameRows(await flink.read(warehouse, 'db.t'), expected);
  sameRows(await pyiceberg.scan(join(warehouse, 'db/t')), expected);
});

test('a refused statement names the statement and every cause', async (context) => {
  const flink = await judgeOrSkip('flink', context);
  const file = join(folder, 'bad.json');
  await writeFile(file, '{"op":"x"}\n');
  const failure = await flink
    .sql(join(folder, 'refused'), [
      `CREATE TEMPORARY TABLE feed (${COLUMNS}) WITH ('connector'='filesystem','path'='file://${file}','format'='debezium-json')`,
      `CREATE TEMPORARY TABLE hole (${COLUMNS}) WITH ('connector'='blackhole')`,
      'INSERT INTO hole SELECT * FROM feed',
    ])
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(JudgeError);
  expect((failure as JudgeError).statement).toMatch(/^INSERT/);
  expect((failure as JudgeError).chain.at(-1)).toMatch(/Unknown "op" value "x"/);
});

test('a job that does not end is cancelled, and gives its slot back', async (context) => {
  const flink = await judgeOrSkip('flink', context);
  const warehouse = join(folder, 'endless');
  const statements = [
    `CREATE TEMPORARY TABLE ticks (id BIGINT) WITH ('connector'='datagen','rows-per-second'='1')`,
    `CREATE TEMPORARY TABLE hole (id BIGINT) WITH ('connector'='blackhole')`,
    'INSERT INTO hole SELECT * FROM ticks',
  ];
  const slots = 4;
  for (let i = 0; i < slots; i += 1) {
    const endless = flink.sql(warehouse, statements, { timeoutMs: 200 });
    await expect(endless).rejects.toThrow(/did not end within 200 ms/);
  }
  const [one] = await flink.sql(warehouse, ['SELECT 1 AS x'], { mode: 'batch' });
  expect(one).toEqual({ columns: ['x'], rows: [['1']] });
}, 60_000);

test('a script of Flink runs as a process of its own, and its failure is one', async (context) => {
  const duckdb = await judgeOrSkip('duckdb', context);
  await judgeOrSkip('flink', context); // only to know that Flink is there
  const warehouse = join(folder, 'script');
  const run = await runFlinkScript([
    `CREATE CATALOG lake WITH ('type'='iceberg','catalog-type'='hadoop','warehouse'='file://${warehouse}')`,
    'CREATE DATABASE lake.db',
    'CREATE TABLE lake.db.t (\n  id BIGINT,\n  v STRING\n)',
    `INSERT INTO lake.db.t VALUES (1, 'a;b')`,
  ]);
  expect(run.peakRssBytes).toBeGreaterThan(100 * 1024 * 1024);
  sameRows(await duckdb.read(join(warehouse, 'db/t')), {
    columns: ['id', 'v'],
    rows: [['1', 'a;b']],
  });
  await expect(runFlinkScript(['INSERT INTO nowhere VALUES (1)'])).rejects.toThrow(
    /^flink: \[ERROR\] Could not execute SQL statement[^]*Cannot find table/,
  );
});
