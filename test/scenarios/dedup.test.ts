import { describe, expect, test } from 'vitest';
import { line, type SourceBlock } from './envelopes.ts';
import { mirrorOf, ranCase, type PipelineCase, type PipelineKeys } from './pipeline-case.ts';

/** A change of key 1 to `v` at a place of its source. */
const change = (v: string, source: SourceBlock): string =>
  line('u', { after: { id: 1, v }, source: { db: 'shop', table: 't', ...source } });

const value = async (made: PipelineCase): Promise<string | null | undefined> =>
  (await made.rows('shop.t'))[0]?.['v'];

const mysql = (file: string, pos: number, row = 0, rest: SourceBlock = {}): SourceBlock => ({
  connector: 'mysql',
  file: `mysql-bin.${file}`,
  pos,
  row,
  server_id: 1,
  ts_ms: 5,
  ...rest,
});

const postgres = (lsn: number, rest: SourceBlock = {}): SourceBlock => ({
  connector: 'postgresql',
  schema: 'shop',
  lsn,
  ts_ms: 5,
  ...rest,
});

const sqlServer = (lsn: string, serial: number): SourceBlock => ({
  connector: 'sqlserver',
  schema: 'shop',
  change_lsn: lsn,
  commit_lsn: lsn,
  event_serial_no: serial,
  ts_ms: 5,
});

const clock = (tsMs: number): SourceBlock => ({ connector: 'oracle', ts_ms: tsMs });

describe('what is not newer than the key’s last change is dropped and counted', () => {
  const ORDERS: readonly (readonly [title: string, older: SourceBlock, newer: SourceBlock])[] = [
    ['MySQL: position in a file', mysql('000003', 400), mysql('000003', 500)],
    [
      'MySQL: position, where the texts order otherwise',
      mysql('000003', 900),
      mysql('000003', 1000),
    ],
    ['MySQL: file', mysql('000003', 500), mysql('000004', 4)],
    ['MySQL: file numbers that outgrow their digits', mysql('999999', 5), mysql('1000000', 4)],
    ['MySQL: row of one event', mysql('000003', 500, 0), mysql('000003', 500, 1)],
    ['MySQL: a position beyond 2^32', mysql('000003', 4294967296), mysql('000003', 4294967297)],
    [
      'MariaDB',
      { ...mysql('000003', 400), connector: 'mariadb' },
      { ...mysql('000003', 500), connector: 'mariadb' },
    ],
    ['PostgreSQL: lsn', postgres(100), postgres(101)],
    ['PostgreSQL: an lsn beyond 2^53', postgres(9007199254740992), postgres(9007199254740994)],
    [
      'SQL Server: lsn',
      sqlServer('00000027:00000758:0003', 1),
      sqlServer('00000027:00000758:000a', 1),
    ],
    [
      'SQL Server: serial number',
      sqlServer('00000027:00000758:0003', 1),
      sqlServer('00000027:00000758:0003', 2),
    ],
    ['the clock, where there is no position', clock(1000), clock(1001)],
  ];

  test.each(ORDERS)('%s', async (_, older, newer) => {
    await using made = await ranCase(mirrorOf(), [change('newer', newer), change('older', older)]);
    expect(await value(made)).toBe('newer');
    expect(made.outcome.counters).toMatchObject({ changes: 1, duplicates: 1 });
  });

  test.each(ORDERS)('%s: in order, nothing is dropped', async (_, older, newer) => {
    await using made = await ranCase(mirrorOf(), [change('older', older), change('newer', newer)]);
    expect(await value(made)).toBe('newer');
    expect(made.outcome.counters).toMatchObject({ changes: 2, duplicates: 0 });
  });

  test.each(ORDERS)('%s: across a restart', async (_, older, newer) => {
    await using made = await ranCase(mirrorOf(), [change('newer', newer)]);
    await made.append('a.jsonl', [change('older', older)]);
    const again = await made.run();
    expect(await value(made)).toBe('newer');
    expect(again.counters).toMatchObject({ changes: 0, duplicates: 1 });
  });
});

describe('position goes before the clock', () => {
  test('a later position with an earlier clock is newer', async () => {
    await using made = await ranCase(mirrorOf(), [
      change('first', mysql('000003', 400, 0, { ts_ms: 2000 })),
      change('second', mysql('000003', 500, 0, { ts_ms: 1000 })),
    ]);
    expect(await value(made)).toBe('second');
  });

  test('two changes of one millisecond are two changes', async () => {
    await using made = await ranCase(mirrorOf(), [
      change('first', mysql('000003', 400)),
      change('second', mysql('000003', 500)),
    ]);
    expect(made.outcome.counters).toMatchObject({ changes: 2, duplicates: 0 });
  });

  test('equal clocks without a position are no duplicate', async () => {
    await using made = await ranCase(mirrorOf(), [
      change('first', clock(5)),
      change('second', clock(5)),
    ]);
    expect(await value(made)).toBe('second');
    expect(made.outcome.counters).toMatchObject({ changes: 2, duplicates: 0 });
  });

  test('changes with neither position nor clock are never dropped', async () => {
    await using made = await ranCase(mirrorOf(), [change('first', {}), change('second', {})]);
    expect(await value(made)).toBe('second');
    expect(made.outcome.counters.duplicates).toBe(0);
  });
});

describe('a part of the feed that is delivered again', () => {
  const lines = [400, 500, 600].map((pos, i) => change(`v${i}`, mysql('000003', pos)));

  test('changes nothing within a checkpoint', async () => {
    await using made = await ranCase(mirrorOf(), [...lines, ...lines]);
    expect(await value(made)).toBe('v2');
    expect(made.outcome.counters).toMatchObject({ changes: 3, duplicates: 3 });
  });

  test('changes nothing across checkpoints', async () => {
    const small = mirrorOf({}, { checkpoint: { max_bytes: 1 } });
    await using made = await ranCase(small, [...lines, ...lines]);
    expect(await value(made)).toBe('v2');
    expect(made.outcome.counters).toMatchObject({ changes: 3, duplicates: 3 });
  });

  test('makes no snapshot in a run of its own', async () => {
    await using made = await ranCase(mirrorOf(), lines);
    await made.feed('b.jsonl', lines);
    const again = await made.run();
    expect(again.counters).toMatchObject({ changes: 0, duplicates: 3 });
    expect(await made.snapshots('shop.t')).toHaveLength(1);
  });

  test('brings back no row that was deleted', async () => {
    const gone = line('d', {
      before: { id: 1, v: 'v2' },
      after: null,
      source: { db: 'shop', table: 't', ...mysql('000003', 700) },
    });
    await using made = await ranCase(mirrorOf(), [...lines, gone]);
    await made.feed('b.jsonl', lines);
    await made.run();
    expect(await made.rows('shop.t')).toEqual([]);
  });

  test('a truncate that is delivered again takes no later row away', async () => {
    const at = (lsn: number): SourceBlock => ({ db: 'shop', table: 't', ...postgres(lsn) });
    const empty = line('t', { source: at(5) });
    const row = line('c', { before: null, after: { id: 1, v: 'a' }, source: at(10) });
    await using made = await ranCase(mirrorOf(), [empty, row, empty, row]);
    expect(await value(made)).toBe('a');
  });
});

describe('keys and tables', () => {
  test('each key has its own last change', async () => {
    const of = (id: number, pos: number): string =>
      line('c', {
        after: { id, v: 'x' },
        source: { db: 'shop', table: 't', ...mysql('000003', pos) },
      });
    await using made = await ranCase(mirrorOf(), [of(1, 500), of(2, 400)]);
    expect(made.outcome.counters).toMatchObject({ changes: 2, duplicates: 0 });
  });

  test('each table has its own', async () => {
    const tables = ['a', 'b'].map((name) => ({
      table: `shop.${name}`,
      primary_key: ['id'],
      columns: { id: 'long', v: 'string' },
    }));
    const of = (table: string, pos: number): string =>
      line('c', {
        after: { id: 1, v: table },
        source: { db: 'shop', table, ...mysql('000003', pos) },
      });
    await using made = await ranCase({ source: { tables } }, [of('a', 500), of('b', 400)]);
    expect(await made.rows('shop.b')).toHaveLength(1);
  });

  test('positions of two servers are not compared', async () => {
    await using made = await ranCase(mirrorOf(), [
      change('one', mysql('000009', 900, 0, { server_id: 1, ts_ms: 5 })),
      change('two', mysql('000001', 100, 0, { server_id: 2, ts_ms: 6 })),
    ]);
    expect(await value(made)).toBe('two');
  });

  test('the delete of a key counts as its last change', async () => {
    const gone = line('d', {
      before: { id: 1 },
      after: null,
      source: { db: 'shop', table: 't', ...mysql('000003', 500) },
    });
    await using made = await ranCase(mirrorOf(), [gone, change('old', mysql('000003', 400))]);
    expect(made.outcome.counters.duplicates).toBe(1);
    expect(
      await made.tables().then((names) => (names.length === 0 ? [] : made.rows('shop.t'))),
    ).toEqual([]);
  });

  test('a key that moved away counts under its old name', async () => {
    const moved = line('u', {
      before: { id: 1, v: 'a' },
      after: { id: 2, v: 'a' },
      source: { db: 'shop', table: 't', ...mysql('000003', 500) },
    });
    await using made = await ranCase(mirrorOf(), [
      change('a', mysql('000003', 300)),
      moved,
      change('late', mysql('000003', 400)),
    ]);
    expect((await made.rows('shop.t')).map(({ id }) => id)).toEqual(['2']);
  });
});

describe('window', () => {
  const windowed = (window: PipelineKeys): PipelineKeys =>
    mirrorOf({}, { processing: { deduplication: window } });
  const at = (pos: number, tsMs: number): SourceBlock => mysql('000003', pos, 0, { ts_ms: tsMs });
  const other = (pos: number, tsMs: number): string =>
    line('c', { after: { id: 2, v: 'x' }, source: { db: 'shop', table: 't', ...at(pos, tsMs) } });

  test('a key is forgotten once the source’s clock has left the window', async () => {
    await using made = await ranCase(windowed({ window_ms: 1000 }), [
      change('new', at(500, 10_000)),
    ]);
    await made.append('a.jsonl', [other(600, 20_000)]);
    await made.run();
    await made.append('a.jsonl', [change('old', at(400, 9_000))]);
    const { counters } = await made.run();
    expect(counters.duplicates).toBe(0);
  });

  test('within it a key is remembered over other keys’ checkpoints', async () => {
    await using made = await ranCase(windowed({ window_ms: 60_000 }), [
      change('new', at(500, 10_000)),
    ]);
    await made.append('a.jsonl', [other(600, 20_000)]);
    await made.run();
    await made.append('a.jsonl', [change('old', at(400, 9_000))]);
    const { counters } = await made.run();
    expect(counters.duplicates).toBe(1);
    expect(await value(made)).toBe('new');
  });

  test('the seed’s spelling of the window is taken', async () => {
    await using made = await ranCase(windowed({ dedup_window_ms: 1000 }), []);
    expect(made.spec.processing.deduplication.window_ms).toBe(1000);
  });

  test('switched off, everything is applied as it comes', async () => {
    await using made = await ranCase(windowed({ enabled: false }), [
      change('newer', at(500, 5)),
      change('older', at(400, 4)),
    ]);
    expect(await value(made)).toBe('older');
    expect(made.outcome.counters).toMatchObject({ changes: 2, duplicates: 0 });
  });
});
