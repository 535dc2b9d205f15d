import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { gzipSync } from 'node:zlib';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ColumnType, Encoding } from '../model/types.ts';
import { raw } from '../sql/sql.ts';
import type { ExpectedSource, ExpectedTable, ExpectedValue } from './expected-table.ts';
import { formatReconcile } from './format-reconcile.ts';
import { reconcile, type ReconcileInput, type ReconcileReport } from './reconcile.ts';

let connection: DuckDBConnection;
let folder: string;

beforeAll(async () => {
  connection = await (await DuckDBInstance.create(':memory:')).connect();
  folder = await mkdtemp(joinPath(tmpdir(), 'reconcile-'));
});

afterAll(async () => {
  connection.disconnectSync();
  await rm(folder, { recursive: true });
});

const value = (column: string, type: ColumnType | null, from?: Encoding): ExpectedValue => ({
  column,
  source: column,
  type,
  from,
  nullable: true,
});

const ORDERS: ExpectedSource = {
  table: 'public.orders',
  onlyTable: false,
  key: ['id'],
  columns: [],
  values: [value('id', 'long'), value('name', 'string'), value('amount', 'decimal(38,20)')],
};

const tableOf = (
  source: Partial<ExpectedSource> = {},
  table: Partial<ExpectedTable> = {},
): ExpectedTable => ({
  namespace: 'public',
  name: 'orders',
  key: ['id'],
  sources: [{ ...ORDERS, ...source }],
  trim: false,
  nullTokens: [],
  deduplicate: true,
  truncate: true,
  ...table,
});

let lsn = 100;
const pg = (at: number = (lsn += 10)): Record<string, unknown> => ({
  connector: 'postgresql',
  db: 'shop',
  schema: 'public',
  table: 'orders',
  lsn: at,
});

/** One feed line; `after` and `before` are JSON texts, so that numbers keep their digits. */
const line = (
  op: string,
  after: string | null,
  before: string | null = null,
  source: Record<string, unknown> = pg(),
): string =>
  `{"before":${before},"after":${after},"source":${JSON.stringify(source)},"op":"${op}","ts_ms":1}`;

let fileNumber = 0;
const feedFile = async (
  lines: readonly (string | Buffer)[],
  name = `feed-${++fileNumber}.json`,
): Promise<string> => {
  const path = joinPath(folder, name);
  const bytes = Buffer.concat(
    lines.flatMap((text) => [
      typeof text === 'string' ? Buffer.from(text) : text,
      Buffer.from('\n'),
    ]),
  );
  await writeFile(path, name.endsWith('.gz') ? gzipSync(bytes) : bytes);
  return path;
};

const ROWS = `SELECT * FROM (VALUES (1::BIGINT, 'a', 1.5::DECIMAL(38,20)), (2, 'b', 2.5)) t(id, name, amount)`;

const check = async (
  lines: readonly (string | Buffer)[],
  rows: string,
  expected: ExpectedTable = tableOf(),
  more: Partial<ReconcileInput['feed']> = {},
): Promise<ReconcileReport> => {
  const files = more.files ?? [await feedFile(lines)];
  return reconcile(connection, {
    feed: { ...more, files },
    table: 'public.orders',
    tableSql: raw(rows),
    expected,
    ranges: 8,
  });
};

const rowOf = (id: number, name: string, amount: string | number): string =>
  `{"id":${id},"name":"${name}","amount":${amount}}`;
const TWO = [line('c', rowOf(1, 'a', 1.5)), line('c', rowOf(2, 'b', 2.5))];

describe('a table that is as its feed says', () => {
  test('is equal, for bare envelopes and ones with a schema part, with tombstones between them', async () => {
    const wrapped = (text: string): string => `{"schema":null,"payload":${text}}`;
    const report = await check(
      [
        line('r', rowOf(1, 'a', 1.5)),
        '',
        'null',
        line('c', rowOf(2, 'x', 9)),
        wrapped(line('u', rowOf(2, 'b', 2.5), '{"id":2}')),
        line('c', rowOf(3, 'c', 1)),
        line('d', null, '{"id":3}'),
      ],
      ROWS,
    );
    expect(report).toMatchObject({
      equal: true,
      rows: { expected: 2, actual: 2 },
      differences: [],
      schema: [],
    });
    expect(report.feed).toMatchObject({ lines: 6, changes: 5, refused: 0 });
  });

  test('is equal when rows of other tables lie between', async () => {
    expect(
      (await check([...TWO, line('c', rowOf(7, 'z', 1), null, { ...pg(), table: 'other' })], ROWS))
        .equal,
    ).toBe(true);
  });

  test('is equal when the feed lies in several files, one of them gzip, whatever their names', async () => {
    await feedFile([TWO[0] ?? '', line('c', rowOf(9, 'another file', 9))], "one 1 it's!.json");
    const files = [
      await feedFile([TWO[0] ?? ''], "one [1]* it's?.json"),
      await feedFile([TWO[1] ?? ''], 'two.json.gz'),
    ];
    expect(await check([], ROWS, tableOf(), { files })).toMatchObject({
      equal: true,
      feed: { lines: 2 },
    });
  });

  test('is equal although the file begins with a byte order mark and holds spoilt lines, the last of which runs on into a good one', async () => {
    const report = await check(
      [`\ufeff${TWO[0]}`, Buffer.from([0x7b, 0xff, 0x7d]), '{"op":"c","after":', TWO[1] ?? ''],
      ROWS,
    );
    expect(report).toMatchObject({ equal: true, differences: [] });
  });
});

describe('a fault of the table is found', () => {
  test('a wrong value, with its column', async () => {
    const report = await check(TWO, ROWS.replace('2.5', '2.6'));
    expect(report).toMatchObject({ equal: false, different: 1, missing: 0, extra: 0 });
    expect(report.differences).toEqual([
      {
        kind: 'different',
        key: { id: '2' },
        cells: [
          {
            column: 'amount',
            expected: '2.50000000000000000000',
            actual: '2.60000000000000000000',
          },
        ],
      },
    ]);
  });

  test('a null in place of a value', async () => {
    expect((await check(TWO, ROWS.replace(`'b'`, 'NULL'))).differences).toEqual([
      {
        kind: 'different',
        key: { id: '2' },
        cells: [{ column: 'name', expected: 'b', actual: null }],
      },
    ]);
  });

  test('a missing row', async () => {
    const report = await check([...TWO, line('c', rowOf(3, 'c', 3))], ROWS);
    expect(report).toMatchObject({ equal: false, missing: 1, extra: 0, different: 0 });
    expect(report.differences[0]).toMatchObject({ kind: 'missing', key: { id: '3' } });
  });

  test('an extra row: a delete that was not applied', async () => {
    const report = await check([...TWO, line('d', null, '{"id":2}')], ROWS);
    expect(report).toMatchObject({ equal: false, missing: 0, extra: 1, different: 0 });
    expect(report.differences[0]).toMatchObject({ kind: 'extra', key: { id: '2' } });
  });

  test('a stale row: an update that was not applied', async () => {
    const report = await check([...TWO, line('u', rowOf(2, 'newer', 2.5))], ROWS);
    expect(report.differences).toEqual([
      {
        kind: 'different',
        key: { id: '2' },
        cells: [{ column: 'name', expected: 'newer', actual: 'b' }],
      },
    ]);
  });

  test('a row that is there twice', async () => {
    const report = await check(TWO, `${ROWS} UNION ALL SELECT 2, 'b', 2.5`);
    expect(report).toMatchObject({ equal: false, missing: 0, extra: 1, different: 0 });
    expect(report.differences).toMatchObject([{ kind: 'extra', key: { id: '2' } }]);
  });

  test('values that changed places between two rows', async () => {
    const swapped = `SELECT * FROM (VALUES (1::BIGINT, 'b', 1.5::DECIMAL(38,20)), (2, 'a', 2.5)) t(id, name, amount)`;
    expect(await check(TWO, swapped)).toMatchObject({ equal: false, different: 2 });
  });

  test('a column that is missing or of another type', async () => {
    const rows = `SELECT id, name::VARCHAR AS name, amount::DOUBLE AS amount, 1 AS more FROM (${ROWS})`;
    expect((await check(TWO, rows)).schema).toEqual([
      { column: 'amount', expected: 'decimal(38,20)', actual: 'double' },
      { column: 'more', expected: null, actual: 'int' },
    ]);
    expect(await check(TWO, `SELECT id, name FROM (${ROWS})`)).toMatchObject({
      equal: false,
      schema: [{ column: 'amount', expected: 'decimal(38,20)', actual: null }],
    });
  });

  test('an empty table of a feed that has rows, and rows of a feed that has none', async () => {
    expect(await check(TWO, `${ROWS} WHERE false`)).toMatchObject({ equal: false, missing: 2 });
    expect(await check([], ROWS)).toMatchObject({ equal: false, extra: 2 });
  });

  test('a row whose key is null', async () => {
    expect(await check(TWO, `${ROWS} UNION ALL SELECT NULL, 'n', 1`)).toMatchObject({
      equal: false,
      extra: 1,
    });
  });
});

describe('what is not newer than the last change of its key does not count', () => {
  const versions = (
    sources: readonly [Record<string, unknown>, Record<string, unknown>],
  ): string[] => [
    line('c', rowOf(1, 'old', 1), null, sources[0]),
    line('u', rowOf(1, 'a', 1.5), null, sources[1]),
    line('c', rowOf(1, 'old', 1), null, sources[0]),
  ];
  const one = `${ROWS} WHERE id = 1`;

  test.each([
    ['a PostgreSQL log number', { lsn: 99 }, { lsn: 100 }],
    [
      'a MySQL position',
      { file: 'bin.000001', pos: 900, row: 0 },
      { file: 'bin.000001', pos: 1000, row: 0 },
    ],
    [
      'a MySQL row of one event',
      { file: 'bin.000001', pos: 900, row: 9 },
      { file: 'bin.000001', pos: 900, row: 10 },
    ],
    [
      'a MySQL file with a longer number',
      { file: 'bin.999999', pos: 900, row: 0 },
      { file: 'bin.1000000', pos: 4, row: 0 },
    ],
    [
      'a SQL Server serial',
      { commit_lsn: '0000:01', change_lsn: '0000:01', event_serial_no: 9 },
      { commit_lsn: '0000:01', change_lsn: '0000:01', event_serial_no: 10 },
    ],
    [
      'a SQL Server commit',
      { commit_lsn: '0000:01', change_lsn: null },
      { commit_lsn: '0000:02', change_lsn: '0000:00' },
    ],
    [
      'a SQL Server commit, though the change of it began earlier',
      { commit_lsn: '0000:01', change_lsn: '0000:09' },
      { commit_lsn: '0000:02', change_lsn: '0000:03' },
    ],
    [
      'an Oracle change number',
      { scn: '99', rs_id: ' 0x1.2.3 ', ssn: 0 },
      { scn: '100', rs_id: ' 0x1.2.0 ', ssn: 0 },
    ],
    ['the clock', { ts_ms: 5 }, { ts_ms: 6 }],
  ])('by %s', async (_, older, newer) => {
    const own = { schema: 'public', table: 'orders' };
    expect(
      await check(
        versions([
          { ...own, ...older },
          { ...own, ...newer },
        ]),
        one,
      ),
    ).toMatchObject({ equal: true });
  });

  test('positions of two servers do not compare: what the new one sends counts', async () => {
    const at = (server_id: number, pos: number) => ({
      db: 'public',
      table: 'orders',
      file: 'bin.000001',
      pos,
      row: 0,
      server_id,
    });
    const lines = [
      line('c', rowOf(1, 'old', 1), null, at(1, 900)),
      line('u', rowOf(1, 'a', 1.5), null, at(2, 4)),
      line('c', rowOf(1, 'old', 1), null, at(1, 900)),
    ];
    expect(await check(lines, one)).toMatchObject({ equal: true });
  });

  test('a change without a position is judged by the clock of all changes', async () => {
    const own = { db: 'public', table: 'orders' };
    const lines = [
      line('c', rowOf(1, 'a', 1.5), null, { ...own, lsn: 5, ts_ms: 9 }),
      line('u', rowOf(1, 'old', 1), null, { ...own, ts_ms: 5 }),
    ];
    expect(await check(lines, one)).toMatchObject({ equal: true });
    expect(await check([lines[1] ?? '', lines[0] ?? ''], one)).toMatchObject({ equal: true });
  });

  test('the clock is that of the envelope where the source block has none', async () => {
    const own = { db: 'public', table: 'orders' };
    const late = line('u', rowOf(1, 'old', 1), null, own).replace('"ts_ms":1}', '"ts_ms":0}');
    expect(await check([line('c', rowOf(1, 'a', 1.5), null, own), late], one)).toMatchObject({
      equal: true,
    });
  });

  test('a deleted key stays deleted when its create is sent again', async () => {
    const create = line('c', rowOf(3, 'c', 3));
    expect(await check([...TWO, create, line('d', null, '{"id":3}'), create], ROWS)).toMatchObject({
      equal: true,
    });
  });

  test('an equal Oracle change number is no duplicate where the records have no numbers', async () => {
    const at = { schema: 'public', table: 'orders', scn: '7' };
    const lines = [
      line('c', rowOf(1, 'old', 1), null, at),
      line('u', rowOf(1, 'a', 1.5), null, at),
    ];
    expect(await check(lines, one)).toMatchObject({ equal: true });
  });

  test('an equal clock is no duplicate', async () => {
    const at = { schema: 'public', table: 'orders', ts_ms: 5 };
    expect(
      await check(
        [line('c', rowOf(1, 'old', 1), null, at), line('u', rowOf(1, 'a', 1.5), null, at)],
        one,
      ),
    ).toMatchObject({ equal: true });
  });

  test('unless deduplication is off', async () => {
    const again = [...TWO, line('u', rowOf(1, 'sent late', 1.5), null, pg(1))];
    expect(await check(again, ROWS)).toMatchObject({ equal: true });
    expect(await check(again, ROWS, tableOf({}, { deduplicate: false }))).toMatchObject({
      equal: false,
      different: 1,
    });
  });
});

describe('the whole of the envelope is understood', () => {
  test('a change of key takes the old row away', async () => {
    const lines = [
      line('c', rowOf(1, 'a', 1.5)),
      line('c', rowOf(9, 'b', 2.5)),
      line('u', rowOf(2, 'b', 2.5), '{"id":9}'),
    ];
    expect(await check(lines, ROWS)).toMatchObject({ equal: true });
  });

  test('a truncation empties the table, once, and only where it is applied', async () => {
    const truncate = line('t', null, null);
    const lines = [line('c', rowOf(5, 'gone', 1)), truncate, ...TWO, truncate];
    expect(await check(lines, ROWS)).toMatchObject({ equal: true, feed: { truncates: 2 } });
    expect(await check(lines, ROWS, tableOf({}, { truncate: false }))).toMatchObject({
      equal: false,
      missing: 1,
    });
  });

  test('lines without a source block belong to the only table', async () => {
    const bare = TWO.map((text) => text.replace(/"source":\{.*?\},/, ''));
    expect(await check(bare, ROWS)).toMatchObject({ equal: false, missing: 0, extra: 2 });
    expect(await check(bare, ROWS, tableOf({ onlyTable: true }))).toMatchObject({ equal: true });
  });

  test('a key of two columns', async () => {
    const source = { key: ['id', 'name'] };
    const lines = [...TWO, line('c', rowOf(1, 'z', 3)), line('d', null, '{"id":1,"name":"z"}')];
    expect(await check(lines, ROWS, tableOf(source, { key: ['id', 'name'] }))).toMatchObject({
      equal: true,
    });
  });

  test('columns whose names differ in case only', async () => {
    const source = { values: [value('id', 'long'), value('x', 'string')], key: ['id'] };
    const expected = tableOf({
      ...source,
      values: [
        value('id', 'long'),
        { ...value('x', 'string'), source: 'Name' },
        { ...value('y', 'string'), source: 'name' },
      ],
    });
    const feed = [line('c', '{"id":1,"Name":"upper","name":"lower"}')];
    expect(
      await check(feed, `SELECT 1::BIGINT AS id, 'upper' AS x, 'lower' AS y`, expected),
    ).toMatchObject({ equal: true });
    expect(
      await check(feed, `SELECT 1::BIGINT AS id, 'lower' AS x, 'lower' AS y`, expected),
    ).toMatchObject({ equal: false });
  });

  test('encodings that the schema part declares', async () => {
    const after = {
      id: 1,
      amount: Buffer.from([0xfe, 0xd4]).toString('base64'),
      at: 1_700_000_000_123_456,
    };
    const fields = [
      { field: 'id', type: 'int64' },
      { field: 'amount', type: 'bytes', name: 'org.apache.kafka.connect.data.Decimal' },
      { field: 'at', type: 'int64', name: 'io.debezium.time.MicroTimestamp' },
    ];
    const schema = { type: 'struct', fields: [{ field: 'after', type: 'struct', fields }] };
    const feed = [JSON.stringify({ schema, payload: { op: 'c', after, source: pg() } })];
    const rows = (amount: string): string =>
      `SELECT 1::BIGINT AS id, ${amount}::DECIMAL(10,2) AS amount, TIMESTAMP '2023-11-14 22:13:20.123456' AS at`;
    expect(await check(feed, rows('-3.00'), tableOf({ values: null }))).toMatchObject({
      equal: true,
    });
    expect(await check(feed, rows('-3.01'), tableOf({ values: null }))).toMatchObject({
      equal: false,
    });
  });
});

describe('numbers are compared digit for digit', () => {
  const rows = (amount: string): string =>
    `SELECT 1::BIGINT AS id, 'a' AS name, '${amount}'::DECIMAL(38,20) AS amount`;

  test.each([
    ['123456789012345678.01234567890123456789', '123456789012345678.01234567890123456788'],
    ['0.10000000000000000001', '0.1'],
    ['1234567890123.45678', '1234567890123.4568'],
    ['-1e-20', '0'],
    ['12e3', '12'],
  ])('%s is not %s', async (right, wrong) => {
    const feed = [line('c', rowOf(1, 'a', right))];
    const plain =
      right === '-1e-20' ? '-0.00000000000000000001' : right === '12e3' ? '12000' : right;
    expect(await check(feed, rows(plain))).toMatchObject({ equal: true });
    expect(await check(feed, rows(wrong))).toMatchObject({ equal: false, different: 1 });
  });

  test('integers beyond a double', async () => {
    const feed = [line('c', '{"id":9007199254740993,"name":"a","amount":1}')];
    const row = (id: string): string =>
      `SELECT ${id}::BIGINT AS id, 'a' AS name, 1::DECIMAL(38,20) AS amount`;
    expect(await check(feed, row('9007199254740993'))).toMatchObject({ equal: true });
    expect(await check(feed, row('9007199254740992'))).toMatchObject({ equal: false });
  });

  test('an integer that is written as a power of ten', async () => {
    const feed = [line('c', '{"id":1e18,"name":"a","amount":1}')];
    const row = `SELECT 1000000000000000000::BIGINT AS id, 'a' AS name, 1::DECIMAL(38,20) AS amount`;
    expect(await check(feed, row)).toMatchObject({ equal: true });
  });

  test('in every file of the feed', async () => {
    const files = [
      await feedFile(['', TWO[0] ?? '']),
      await feedFile(['', line('c', rowOf(2, 'b', '0.10000000000000000001'))]),
    ];
    const rowsOf = (amount: string): string => ROWS.replace('2.5', amount);
    expect(await check([], rowsOf('0.10000000000000000001'), tableOf(), { files })).toMatchObject({
      equal: true,
    });
    expect(await check([], rowsOf('0.1'), tableOf(), { files })).toMatchObject({ different: 1 });
  });

  test('a number that a text column holds is its text', async () => {
    const row = (text: string): string =>
      `SELECT 1::BIGINT AS id, '${text}' AS name, 1::DECIMAL(38,20) AS amount`;
    for (const text of ['1.10', '1e3', '-0.0', '123456789012345678.5']) {
      const feed = [line('c', `{"id":1,"name":${text},"amount":1}`)];
      expect(await check(feed, row(text))).toMatchObject({ equal: true });
      expect(await check(feed, row(String(Number(text))))).toMatchObject({ equal: false });
    }
  });

  test('a number within a nested value that a text column holds', async () => {
    const feed = [line('c', '{"id":1,"name":{"x": 0.10000000000000000001},"amount":1}')];
    const row = (text: string): string =>
      `SELECT 1::BIGINT AS id, '${text}' AS name, 1::DECIMAL(38,20) AS amount`;
    expect(await check(feed, row('{"x":0.10000000000000000001}'))).toMatchObject({ equal: true });
    expect(await check(feed, row('{"x":0.1}'))).toMatchObject({ equal: false });
  });
});

describe('a mapping is given its meaning', () => {
  const mapped = (
    over: Partial<ExpectedSource> = {},
    table: Partial<ExpectedTable> = {},
  ): ExpectedTable =>
    tableOf(
      {
        key: ['id'],
        rid: { template: 'ri.{object_type}.main.{pk}', objectType: 'Order', column: 'id' },
        values: [
          { ...value('name', 'string'), defaultValue: 'nobody' },
          { ...value('price', 'decimal(18,2)'), source: 'cents', conversion: 'cents_to_dollars' },
          { ...value('placed', 'timestamptz'), source: 'at', conversion: 'epoch_ms_to_datetime' },
          { ...value('paid', 'boolean'), conversion: 'to_boolean', nullable: false },
        ],
        ...over,
      },
      { key: ['rid'], ...table },
    );
  const row = (price: string, paid = 'TRUE'): string =>
    `SELECT 'ri.Order.main.7' AS rid, 'nobody' AS name, ${price}::DECIMAL(18,2) AS price, TIMESTAMPTZ '2023-11-14 22:13:20.123Z' AS placed, ${paid} AS paid`;
  const after = (cents: string, paid = '"Yes"'): string =>
    `{"id":7,"cents":${cents},"at":1700000000123,"paid":${paid}}`;

  test('rid, defaults and conversions', async () => {
    expect(await check([line('c', after('-5'))], row('-0.05'), mapped())).toMatchObject({
      equal: true,
    });
    expect(await check([line('c', after('0'))], row('0.00'), mapped())).toMatchObject({
      equal: true,
    });
    expect(await check([line('c', after('12345'))], row('123.46'), mapped())).toMatchObject({
      equal: false,
      different: 1,
    });
  });

  test('a change that cannot be represented is named and does not count', async () => {
    const lines = [
      '',
      line('c', after('5')),
      line('u', after('5.5')),
      line('u', after('6', 'null')),
      line('u', after('6', '"perhaps"')),
    ];
    const report = await check(lines, row('0.05'), mapped());
    expect(report).toMatchObject({ equal: true, feed: { refused: 3 } });
    expect(report.feed.refusedAt.map((place) => place.line)).toEqual([3, 4, 5]);
  });

  test('what the source left out as unavailable is never a value', async () => {
    const lines = [
      line('c', after('5')),
      line(
        'u',
        '{"id":7,"cents":5,"at":1700000000123,"paid":1,"name":"__debezium_unavailable_value"}',
      ),
    ];
    expect(await check(lines, row('0.05'), mapped())).toMatchObject({
      equal: true,
      feed: { refused: 1 },
    });
  });

  test('white space and null tokens where the file asks for cleansing', async () => {
    const lines = [line('c', '{"id":7,"cents":" 5 ","at":1700000000123,"paid":1,"name":"N/A"}')];
    expect(
      await check(lines, row('0.05'), mapped({}, { trim: true, nullTokens: ['N/A'] })),
    ).toMatchObject({ equal: true });
    expect(await check(lines, row('0.05'), mapped())).toMatchObject({
      equal: false,
      feed: { refused: 1 },
    });
  });

  test('two sources of one table: the later change of a row wins', async () => {
    const expected = mapped();
    const second = { ...(expected.sources[0] as ExpectedSource), table: 'public.archive' };
    const lines = [
      line('c', after('5')),
      line('c', after('6'), null, { ...pg(), table: 'archive' }),
    ];
    expect(
      await check(lines, row('0.06'), { ...expected, sources: [...expected.sources, second] }),
    ).toMatchObject({ equal: true });
  });
});

describe('filters and routes', () => {
  const lines = [...TWO, line('c', rowOf(3, 'c', 3)), line('u', rowOf(3, 'c', 100))];

  test('a row that leaves the filter is not expected', async () => {
    expect(
      await check(
        lines,
        ROWS,
        tableOf({
          filter: raw('amount < 50'),
          columns: [
            { name: 'id', type: 'long' },
            { name: 'amount', type: 'decimal(10,2)' },
          ],
        }),
      ),
    ).toMatchObject({ equal: true });
    expect(await check(lines, ROWS, tableOf())).toMatchObject({ equal: false, missing: 1 });
  });

  test('a row outside the filter need not be representable', async () => {
    const bad = [...TWO, line('c', rowOf(3, 'c', 3)), line('u', rowOf(3, 'out', '"no number"'))];
    const source = {
      filter: raw(`name <> 'out'`),
      columns: [{ name: 'name', type: 'string' as const }],
    };
    expect(await check(bad, ROWS, tableOf(source))).toMatchObject({
      equal: true,
      feed: { refused: 0 },
    });
  });

  test('a row that is routed elsewhere is not expected', async () => {
    expect(await check(lines, ROWS, tableOf({ include: raw(`name IN ('a', 'b')`) }))).toMatchObject(
      { equal: true },
    );
  });

  test('a predicate over a column without a declared type sees numbers as numbers', async () => {
    const source = { filter: raw('size > 9'), columns: [{ name: 'size', type: null }] };
    const sized = [
      line('c', '{"id":1,"name":"a","amount":1.5,"size":10}'),
      line('c', '{"id":2,"name":"b","amount":2.5,"size":9}'),
    ];
    expect(await check(sized, `${ROWS} WHERE id = 1`, tableOf(source))).toMatchObject({
      equal: true,
    });
  });

  test('a predicate that cannot be run is refused', async () => {
    await expect(check(lines, ROWS, tableOf({ filter: raw('nothing > 1') }))).rejects.toMatchObject(
      { code: 'E_CONFIG_SQL' },
    );
  });
});

describe('a part of the feed', () => {
  test('dead letters are left out by file and line, blank lines counted', async () => {
    const lines = [TWO[0] ?? '', '', line('u', rowOf(1, 'dead', 1)), TWO[1] ?? ''];
    const file = await feedFile(lines);
    expect(await check([], ROWS, tableOf(), { files: [file] })).toMatchObject({ equal: false });
    expect(
      await check([], ROWS, tableOf(), { files: [file], leaveOut: [{ file, line: 3 }] }),
    ).toMatchObject({
      equal: true,
      feed: { leftOut: 1 },
    });
  });

  test('lines behind the last one read do not count', async () => {
    const file = await feedFile([...TWO, line('d', null, '{"id":1}')]);
    const next = await feedFile([line('d', null, '{"id":2}')]);
    const until = { file, line: 2 };
    expect(await check([], ROWS, tableOf(), { files: [file, next], until })).toMatchObject({
      equal: true,
      feed: { lines: 2 },
    });
  });

  test('a file that cannot be read is named', async () => {
    await expect(
      check([], ROWS, tableOf(), { files: [joinPath(folder, 'absent.json')] }),
    ).rejects.toMatchObject({ code: 'E_SOURCE_READ' });
  });
});

test('the text for people says the verdict, the counts and the rows', async () => {
  expect(formatReconcile(await check(TWO, ROWS))).toMatch(
    /^public\.orders: equal to its feed\n[^]*8 of 8 with equal checksums$/,
  );
  const text = formatReconcile(
    await check([...TWO, line('c', rowOf(3, 'c', 3))], ROWS.replace(`'b'`, `'x'`)),
  );
  expect(text).toContain('public.orders: DIFFERS from its feed');
  expect(text).toContain('1 missing, 0 extra, 1 with other values');
  expect(text).toContain('different  id="2"  name: expected "b", is "x"');
  expect(text).toContain('missing    id="3"');
});

test('nothing is left on the connection', async () => {
  await check(TWO, ROWS);
  const left = await connection.runAndReadAll(
    `SELECT count(*) FROM duckdb_tables() WHERE table_name LIKE 'reconcile%'`,
  );
  expect(left.getRows()).toEqual([[0n]]);
});
