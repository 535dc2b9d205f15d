import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { PipelineBuilder, type PipelineConfig } from '../../src/index.ts';
import { Database } from '../../src/sql/database.ts';
import { raw, sql } from '../../src/sql/sql.ts';
import { create, line, remove, update, type SourceBlock } from './envelopes.ts';
import {
  mirrorOf,
  pipelineCase,
  ranCase,
  type PipelineCase,
  type PipelineKeys,
} from './pipeline-case.ts';

const one = (n: number, v = String(n)): string => create({ id: n, v });
const some = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => one(from + i));
const ids = async (made: PipelineCase, table = 'shop.t'): Promise<readonly string[]> =>
  (await made.rows(table)).map((row) => row['id'] ?? '');
const everyLine: PipelineKeys = { checkpoint: { max_bytes: 1 } };

describe('how many snapshots a run makes', () => {
  test('interval_ms 0: exactly one, whatever the number of files', async () => {
    await using made = await pipelineCase(mirrorOf());
    for (const name of ['a', 'b', 'c']) await made.feed(`${name}.jsonl`, [one(name.charCodeAt(0))]);
    const { checkpoints } = await made.run();
    expect(checkpoints).toEqual([1]);
    expect(await made.snapshots('shop.t')).toHaveLength(1);
  });

  test('interval_ms 0: exactly one also over a feed larger than what is read at once', async () => {
    await using made = await pipelineCase(mirrorOf());
    const filler = 'x'.repeat(2000);
    const block = Array.from({ length: 4000 }, (_, i) => one(i, filler));
    await made.feed('a.jsonl', block);
    await made.feed('b.jsonl.gz', gzipSync(`${some(5000, 5003).join('\n')}\n`));
    expect((await made.run()).checkpoints).toEqual([1]);
    expect(await made.snapshots('shop.t')).toHaveLength(1);
    expect(await made.rows('shop.t')).toHaveLength(4004);
  });

  test('max_bytes: one when so many bytes have been read', async () => {
    const bytes = Buffer.byteLength(one(1)) + 1;
    const pipeline = mirrorOf({}, { checkpoint: { max_bytes: 2 * bytes } });
    await using made = await ranCase(pipeline, some(1, 5));
    expect(made.outcome.checkpoints).toEqual([1, 2, 3]);
    const added = (await made.snapshots('shop.t')).map(({ summary }) => summary['added-records']);
    expect(added).toEqual(['2', '2', '1']);
  });

  test('one for each table that was touched, and none for the others', async () => {
    const tables = ['a', 'b'].map((name) => ({
      table: `shop.${name}`,
      primary_key: ['id'],
      columns: { id: 'long' },
    }));
    const of = (table: string, id: number): string => create({ id }, { db: 'shop', table });
    await using made = await ranCase({ source: { tables } }, [of('a', 1), of('b', 1)]);
    await made.append('a.jsonl', [of('b', 2)]);
    await made.run();
    expect(await made.snapshots('shop.a')).toHaveLength(1);
    expect(await made.snapshots('shop.b')).toHaveLength(2);
  });

  test.each([
    ['an empty feed', []],
    ['tombstones', ['', ' ', 'null']],
    ['messages', ['{"ts_ms":1}']],
    ['another table’s changes', [create({ id: 1 }, { db: 'shop', table: 'u' })]],
  ])('none for %s', async (_, lines) => {
    await using made = await ranCase(mirrorOf(), [one(1)]);
    await made.append('a.jsonl', lines);
    expect((await made.run()).error).toBeNull();
    expect(await made.snapshots('shop.t')).toHaveLength(1);
  });

  test('none for dead letters alone', async () => {
    await using made = await ranCase(mirrorOf(), ['{"broken']);
    expect(made.outcome.error).toBeNull();
    expect(await made.tables()).toEqual([]);
    expect(await made.deadLetters()).toHaveLength(1);
  });
});

describe('run again', () => {
  test('it does nothing twice', async () => {
    await using made = await ranCase(mirrorOf(), some(1, 3));
    const again = await made.run();
    expect(again).toMatchObject({ checkpoints: [], counters: { changes: 0, bytes: 0 } });
    expect(await made.snapshots('shop.t')).toHaveLength(1);
  });

  test('it reads the lines that were added', async () => {
    await using made = await ranCase(mirrorOf(), some(1, 2));
    await made.append('a.jsonl', [
      one(3),
      update({ id: 1 }, { id: 1, v: 'new' }),
      remove({ id: 2 }),
    ]);
    const again = await made.run();
    expect(again.counters.changes).toBe(3);
    expect(await made.rows('shop.t')).toEqual([
      { id: '1', v: 'new' },
      { id: '3', v: '3' },
    ]);
  });

  test('it reads new files, whatever their names', async () => {
    await using made = await pipelineCase(mirrorOf());
    await made.feed('m.jsonl', [one(1)]);
    await made.run();
    await made.feed('z.jsonl', [one(2)]);
    await made.run();
    await made.feed('a.jsonl', [one(3)]);
    await made.run();
    expect(await ids(made)).toEqual(['1', '2', '3']);
  });

  test('it reads a file that was empty before', async () => {
    await using made = await ranCase(mirrorOf(), []);
    await made.append('a.jsonl', [one(1)]);
    await made.run();
    expect(await ids(made)).toEqual(['1']);
  });

  test('it goes on without a file that was read to its end and is gone', async () => {
    await using made = await ranCase(mirrorOf(), [one(1)]);
    const { rm } = await import('node:fs/promises');
    await rm(made.path('feed', 'a.jsonl'));
    await made.feed('b.jsonl', [one(2)]);
    expect((await made.run()).error).toBeNull();
    expect(await ids(made)).toEqual(['1', '2']);
  });

  test('rows of an earlier run are updated and deleted by key', async () => {
    await using made = await ranCase(mirrorOf({}, everyLine), some(1, 4));
    await made.append('a.jsonl', [update({ id: 1 }, { id: 1, v: 'x' }), remove({ id: 2 })]);
    await made.run();
    await made.append('a.jsonl', [
      remove({ id: 1 }),
      one(2, 'back'),
      update({ id: 3 }, { id: 7, v: 'moved' }),
    ]);
    await made.run();
    expect(await made.rows('shop.t')).toEqual([
      { id: '2', v: 'back' },
      { id: '4', v: '4' },
      { id: '7', v: 'moved' },
    ]);
  });
});

describe('the last line', () => {
  test('is read without a newline at its end', async () => {
    await using made = await ranCase(mirrorOf(), Buffer.from(`${one(1)}\n${one(2)}`));
    expect(await ids(made)).toEqual(['1', '2']);
  });

  test('that was read without a newline is not read again when the newline comes', async () => {
    await using made = await ranCase(mirrorOf(), Buffer.from(one(1)));
    await made.append('a.jsonl', Buffer.from(`\n${one(2)}\n`));
    const again = await made.run();
    expect(again.counters).toMatchObject({ changes: 1, deadLetters: 0 });
    expect(await ids(made)).toEqual(['1', '2']);
  });

  test('that is cut is completed by a later run', async () => {
    const text = one(2);
    await using made = await ranCase(mirrorOf(), Buffer.from(`${one(1)}\n${text.slice(0, 30)}`));
    expect(await ids(made)).toEqual(['1']);
    await made.append('a.jsonl', Buffer.from(`${text.slice(30)}\n${one(3)}\n`));
    expect((await made.run()).error).toBeNull();
    expect(await ids(made)).toEqual(['1', '2', '3']);
  });

  test('that was cut and is whole now waits no longer among the dead letters', async () => {
    const text = one(2);
    await using made = await ranCase(mirrorOf(), Buffer.from(`${one(1)}\n${text.slice(0, 30)}`));
    await made.append('a.jsonl', Buffer.from(`${text.slice(30)}\n`));
    await made.run();
    expect(await made.deadLetters()).toEqual([]);
  });

  test('that stays cut is one dead letter, however often the pipeline runs', async () => {
    await using made = await ranCase(mirrorOf(), Buffer.from(`${one(1)}\n{"op":"c","aft`));
    await made.run();
    await made.run();
    expect(await made.deadLetters()).toHaveLength(1);
    expect(await made.snapshots('shop.t')).toHaveLength(1);
  });
});

describe('compressed files', () => {
  const zstd = async (
    made: PipelineCase,
    name: string,
    lines: readonly string[],
  ): Promise<void> => {
    await using db = await Database.open();
    const texts = lines.map((text) => `('${text}')`).join(',');
    const options = raw(
      `(FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER '\x01', COMPRESSION zstd)`,
    );
    await db.run(
      sql`COPY (SELECT * FROM (VALUES ${raw(texts)})) TO ${made.path('feed', name)} ${options}`,
    );
  };

  test('gzip', async () => {
    await using made = await pipelineCase(mirrorOf());
    await made.feed('a.jsonl.gz', gzipSync(`${some(1, 3).join('\n')}\n`));
    await made.run();
    expect(await ids(made)).toEqual(['1', '2', '3']);
  });

  test('gzip of several members, as an appended file is', async () => {
    await using made = await pipelineCase(mirrorOf());
    const parts = [some(1, 2), some(3, 4)].map((lines) => gzipSync(`${lines.join('\n')}\n`));
    await made.feed('a.jsonl.gz', Buffer.concat(parts));
    await made.run();
    expect(await ids(made)).toEqual(['1', '2', '3', '4']);
  });

  test('gzip that grows by a member is read on', async () => {
    await using made = await pipelineCase(mirrorOf());
    await made.feed('a.jsonl.gz', gzipSync(`${some(1, 2).join('\n')}\n`));
    await made.run();
    await made.append('a.jsonl.gz', gzipSync(`${some(3, 4).join('\n')}\n`));
    const { error, counters } = await made.run();
    expect(error).toBeNull();
    expect(counters.changes).toBe(2);
    expect(await ids(made)).toEqual(['1', '2', '3', '4']);
  });

  test('zstd', async () => {
    await using made = await pipelineCase(mirrorOf());
    await zstd(made, 'a.jsonl.zst', some(1, 3));
    expect((await made.run()).error).toBeNull();
    expect(await ids(made)).toEqual(['1', '2', '3']);
  });

  test('plain and compressed files stand in one order', async () => {
    await using made = await pipelineCase(mirrorOf());
    await made.feed('1.jsonl', [one(1, 'first')]);
    await made.feed('2.jsonl.gz', gzipSync(`${update({ id: 1 }, { id: 1, v: 'second' })}\n`));
    await zstd(made, '3.jsonl.zst', [update({ id: 1 }, { id: 1, v: 'third' })]);
    await made.feed('4.jsonl', [update({ id: 1 }, { id: 1, v: 'fourth' })]);
    await made.run();
    expect(await made.rows('shop.t')).toEqual([{ id: '1', v: 'fourth' }]);
  });

  test('lines are counted in the text, not in the file', async () => {
    await using made = await pipelineCase(mirrorOf());
    await made.feed('a.jsonl.gz', gzipSync(`${one(1)}\n{"broken\n${one(2)}\n`));
    await made.run();
    const byte = Buffer.byteLength(one(1)) + 1;
    expect(await made.deadLetters()).toMatchObject([{ line: 2, byte }]);
    expect(await ids(made)).toEqual(['1', '2']);
  });

  test('one that is cut is an error of reading', async () => {
    await using made = await pipelineCase(mirrorOf());
    const whole = gzipSync(`${some(1, 50).join('\n')}\n`);
    await made.feed('a.jsonl.gz', whole.subarray(0, whole.length - 20));
    expect((await made.run()).error).toMatchObject({ code: 'E_SOURCE_READ', kind: 'unavailable' });
  });
});

describe('watch', () => {
  const watching = (rest: PipelineKeys = {}): PipelineConfig =>
    ({
      pipeline_id: 'case',
      ...mirrorOf({}, { source: { source_type: 'debezium_json', path: './feed', watch: true } }),
      checkpoint: { interval_ms: 1, min_pause_ms: 0 },
      ...rest,
    }) as unknown as PipelineConfig;

  /** Resolves once the table holds so many rows. */
  const holds = async (made: PipelineCase, rows: number): Promise<void> => {
    await expect
      .poll(() => ids(made).catch(() => []), { interval: 20, timeout: 15_000 })
      .toHaveLength(rows);
  };

  test('follows a growing file, a completed line and new files until it is stopped', async () => {
    await using made = await pipelineCase(mirrorOf());
    const [half, rest] = [one(2).slice(0, 30), one(2).slice(30)];
    await made.feed('a.jsonl', Buffer.from(`${one(1)}\n${half}`));
    await using pipeline = new PipelineBuilder(watching(), { baseDir: made.dir }).build();
    await pipeline.start();
    await holds(made, 1);
    await made.append('a.jsonl', Buffer.from(`${rest}\n`));
    await holds(made, 2);
    await made.feed('b.jsonl', [one(3)]);
    await holds(made, 3);
    const summary = await pipeline.stop();
    expect(summary?.counters).toMatchObject({ changes: 3, deadLetters: 0 });
    expect(pipeline.status().status).toBe('STOPPED');
  });

  test('what came before a quiet time is committed when its interval has passed', async () => {
    await using made = await pipelineCase(mirrorOf());
    await made.feed('a.jsonl', [one(1)]);
    const calm = watching({ checkpoint: { interval_ms: 400, min_pause_ms: 0 } });
    await using pipeline = new PipelineBuilder(calm, { baseDir: made.dir }).build();
    await pipeline.start();
    await holds(made, 1);
    expect(await made.snapshots('shop.t')).toHaveLength(1);
    await pipeline.stop();
  });

  test('stopped, the next start goes on where it was', async () => {
    await using made = await pipelineCase(mirrorOf());
    await made.feed('a.jsonl', [one(1)]);
    const builder = new PipelineBuilder(watching(), { baseDir: made.dir });
    await using first = builder.build();
    await first.start();
    await holds(made, 1);
    await first.stop();
    await made.append('a.jsonl', [one(2)]);
    await using second = builder.build();
    await second.start();
    await holds(made, 2);
    expect((await second.stop())?.counters.changes).toBe(1);
    expect(await made.snapshots('shop.t')).toHaveLength(2);
  });

  test('a stop takes what was read with it', async () => {
    await using made = await pipelineCase(mirrorOf());
    await made.feed('a.jsonl', [one(1)]);
    const slow = { checkpoint: { interval_ms: 3_600_000 } };
    await using pipeline = new PipelineBuilder(watching(slow), { baseDir: made.dir }).build();
    await pipeline.start();
    await expect.poll(() => pipeline.status().changes, { interval: 10, timeout: 15_000 }).toBe(1);
    await pipeline.stop();
    expect(await ids(made)).toEqual(['1']);
  });
});

describe('what a snapshot says', () => {
  test('its summary carries pipeline, checkpoint, position and schema', async () => {
    await using made = await ranCase({ ...mirrorOf(), pipeline_id: 'my-pipe' }, some(1, 2));
    const [snapshot] = await made.snapshots('shop.t');
    expect(snapshot?.summary).toMatchObject({
      'lakeward.pipeline-id': 'my-pipe',
      'lakeward.checkpoint-id': '1',
      'lakeward.schema-id': '0',
    });
    const bytes = (await readFile(made.path('feed', 'a.jsonl'))).length;
    expect(JSON.parse(snapshot?.summary['lakeward.position'] ?? '')).toMatchObject({
      file: 'a.jsonl',
      byte: bytes,
    });
  });

  test('it counts what it added and what there is', async () => {
    await using made = await ranCase(mirrorOf(), some(1, 3));
    const [snapshot] = await made.snapshots('shop.t');
    expect(snapshot?.summary).toMatchObject({ 'added-records': '3', 'total-records': '3' });
  });

  const OPERATIONS: readonly (readonly [
    title: string,
    lines: readonly string[],
    operation: string,
  ])[] = [
    ['new rows', [one(5)], 'overwrite'],
    ['an update', [update({ id: 1 }, { id: 1, v: 'x' })], 'overwrite'],
    ['deletes alone', [remove({ id: 1 })], 'delete'],
    ['a delete of an unknown key', [remove({ id: 99 })], 'delete'],
    ['a row that came and went', [one(5), remove({ id: 5 })], 'delete'],
    ['a truncate alone', [line('t', {})], 'delete'],
    ['a truncate and new rows', [line('t', {}), one(5)], 'overwrite'],
  ];

  test.each(OPERATIONS)('%s: the operation is %s', async (_, lines, operation) => {
    await using made = await ranCase(mirrorOf(), some(1, 3));
    await made.append('a.jsonl', lines);
    await made.run();
    expect((await made.snapshots('shop.t')).map((snapshot) => snapshot.operation)).toEqual([
      'append',
      operation,
    ]);
  });

  test('rows into a new table are an append, also where some were updated and deleted on the way', async () => {
    await using made = await ranCase(mirrorOf(), [
      ...some(1, 3),
      update({ id: 1 }, { id: 1, v: 'x' }),
      remove({ id: 2 }),
    ]);
    const [snapshot] = await made.snapshots('shop.t');
    expect(snapshot?.operation).toBe('append');
    expect(snapshot?.summary['total-delete-files'] ?? '0').toBe('0');
  });

  test('deletes are equality deletes on the key', async () => {
    await using made = await ranCase(mirrorOf(), some(1, 3));
    await made.append('a.jsonl', [remove({ id: 1 }), remove({ id: 2 })]);
    await made.run();
    expect((await made.snapshots('shop.t'))[1]?.summary).toMatchObject({
      'added-equality-deletes': '2',
      'added-delete-files': '1',
    });
  });

  test('an earlier snapshot reads as it was', async () => {
    await using made = await ranCase(mirrorOf(), some(1, 2));
    await made.append('a.jsonl', [remove({ id: 1 })]);
    await made.run();
    const [first] = await made.snapshots('shop.t');
    const rows = await made.rows('shop.t', { snapshotId: first?.id ?? 0n });
    expect(rows.map((row) => row['id'])).toEqual(['1', '2']);
  });
});

describe('a truncate', () => {
  const truncating = (policy: string | undefined, rest: PipelineKeys = {}): PipelineKeys =>
    mirrorOf({}, { source: policy === undefined ? {} : { on_truncate: policy }, ...rest });
  const feed = [one(1), one(2), line('t', {}), one(3)];

  test.each([undefined, 'apply'])('%s: empties the table', async (policy) => {
    await using made = await ranCase(truncating(policy), feed);
    expect(await ids(made)).toEqual(['3']);
    expect(made.outcome.error).toBeNull();
  });

  test('apply: empties it of rows of earlier checkpoints, too', async () => {
    await using made = await ranCase(truncating('apply'), some(1, 3));
    await made.append('a.jsonl', [one(4), line('t', {}), one(2, 'again')]);
    await made.run();
    expect(await made.rows('shop.t')).toEqual([{ id: '2', v: 'again' }]);
  });

  test('apply: of a table that is not there yet, does no harm', async () => {
    await using made = await ranCase(truncating('apply'), [line('t', {}), one(1)]);
    expect(await ids(made)).toEqual(['1']);
  });

  test('apply: twice, with rows between', async () => {
    await using made = await ranCase(truncating('apply', everyLine), [
      one(1),
      line('t', {}),
      one(2),
      line('t', {}),
      one(3),
    ]);
    expect(await ids(made)).toEqual(['3']);
  });

  test('ignore: changes nothing', async () => {
    await using made = await ranCase(truncating('ignore'), feed);
    expect(await ids(made)).toEqual(['1', '2', '3']);
    expect(await made.deadLetters()).toEqual([]);
  });

  test('dead_letter: keeps the record and goes on', async () => {
    await using made = await ranCase(truncating('dead_letter'), feed);
    expect(await ids(made)).toEqual(['1', '2', '3']);
    expect(await made.deadLetters()).toMatchObject([
      { code: 'E_TRUNCATE', line: 3, table: 'shop.t' },
    ]);
  });

  test('stop: stops before it, with everything before it committed', async () => {
    await using made = await ranCase(truncating('stop'), feed);
    expect(made.outcome.error).toMatchObject({
      code: 'E_SOURCE_TRUNCATED_TABLE',
      subject: { line: 3 },
    });
    expect(await ids(made)).toEqual(['1', '2']);
    expect(await made.deadLetters()).toEqual([]);
  });

  test('stop: with apply set, the next run begins at it', async () => {
    await using made = await ranCase(truncating('stop'), feed);
    made.use(truncating('apply'));
    expect((await made.run()).error).toBeNull();
    expect(await ids(made)).toEqual(['3']);
  });

  const shared = (policy: string): PipelineKeys => ({
    source: {
      on_truncate: policy,
      tables: ['a', 'b'].map((name) => ({
        table: `shop.${name}`,
        primary_key: ['id'],
        columns: { id: 'long', v: 'string' },
      })),
    },
    processing: { routes: [{ source_table: 'shop.*', target_table: 'all' }] },
  });
  const at = (table: string): SourceBlock => ({ db: 'shop', table });

  test('of one source of a shared target is never applied to the others’ rows', async () => {
    await using made = await ranCase(shared('apply'), [
      create({ id: 1, v: 'a' }, at('a')),
      create({ id: 2, v: 'b' }, at('b')),
    ]);
    await made.append('a.jsonl', [
      line('t', { source: at('a') }),
      create({ id: 3, v: 'a' }, at('a')),
    ]);
    await made.run();
    expect(await ids(made, 'shop.all')).toEqual(['1', '2', '3']);
    expect(await made.deadLetters()).toMatchObject([{ code: 'E_TRUNCATE_SHARED', line: 3 }]);
  });

  test('of one table leaves the tables beside it alone', async () => {
    const { processing: _, ...apart } = shared('apply');
    await using made = await ranCase(apart, [
      create({ id: 1, v: 'a' }, at('a')),
      create({ id: 2, v: 'b' }, at('b')),
      line('t', { source: at('a') }),
    ]);
    expect(await made.rows('shop.a')).toEqual([]);
    expect(await ids(made, 'shop.b')).toEqual(['2']);
  });
});
