/** Every column type at its edges, written by a pipeline and read by all. */
import { expect, test } from 'vitest';
import { judgeOrSkip } from '../kit/judges/judge-or-skip.ts';
import type { Rows } from '../kit/judges/wire.ts';
import { create, remove, update } from '../scenarios/envelopes.ts';
import { pipelineCase } from '../scenarios/pipeline-case.ts';
import {
  everyReaderSees,
  everyReaderSeesEach,
  folderOf,
  ownRows,
  readersOrSkip,
  sees,
} from './readers.ts';
import { metadataHoldsTogether } from './manifests.ts';

const base64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64');

/** Name, type as a pipeline file says it, largest and smallest value as JSON and as the readers' text. */
const TYPES = [
  ['b', 'boolean', 'true', 'true', 'false', 'false'],
  ['i', 'int', '2147483647', '2147483647', '-2147483648', '-2147483648'],
  [
    'l',
    'long',
    '9223372036854775807',
    '9223372036854775807',
    '-9223372036854775808',
    '-9223372036854775808',
  ],
  ['f', 'float', '3.4028234663852886e38', '3.4028235e+38', '-1.17549435e-38', '-1.1754944e-38'],
  ['d', 'double', '1.7976931348623157e308', '1.7976931348623157e+308', '-5e-324', '-5e-324'],
  ['n9', 'decimal(9,2)', '9999999.99', '9999999.99', '-9999999.99', '-9999999.99'],
  [
    'n18',
    'decimal(18,6)',
    '"999999999999.999999"',
    '999999999999.999999',
    '"-0.000001"',
    '-0.000001',
  ],
  [
    'n20',
    'decimal(20,0)',
    '99999999999999999999',
    '99999999999999999999',
    '-9223372036854775809',
    '-9223372036854775809',
  ],
  [
    'n38',
    'decimal(38,10)',
    '9999999999999999999999999999.9999999999',
    '9999999999999999999999999999.9999999999',
    '-9999999999999999999999999999.9999999999',
    '-9999999999999999999999999999.9999999999',
  ],
  ['day', 'date', '"9999-12-31"', '9999-12-31', '"0001-01-01"', '0001-01-01'],
  [
    'ts',
    'timestamp',
    '"9999-12-31T23:59:59.999999"',
    '9999-12-31T23:59:59.999999',
    '"0001-01-01T00:00:00"',
    '0001-01-01T00:00:00',
  ],
  [
    'tz',
    'timestamptz',
    '"9999-12-31T23:59:59.999999Z"',
    '9999-12-31T23:59:59.999999Z',
    '"0001-01-01T01:00:00.000001+01:00"',
    '0001-01-01T00:00:00.000001Z',
  ],
  ['s', 'string', `"\u{10ffff}${'😀'.repeat(20)}"`, `\u{10ffff}${'😀'.repeat(20)}`, '""', ''],
  [
    'u',
    'uuid',
    '"ffffffff-ffff-ffff-ffff-ffffffffffff"',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    '"00000000-0000-0000-0000-000000000000"',
    '00000000-0000-0000-0000-000000000000',
  ],
  [
    'x',
    { type: 'binary', from: 'base64' },
    `"${base64('ff'.repeat(20))}"`,
    `0x${'ff'.repeat(20)}`,
    '""',
    '0x',
  ],
] as const;

const NAMES = ['id', ...TYPES.map(([name]) => name)];
const image = (id: number, which: 'largest' | 'smallest'): string => {
  const cells = TYPES.map(
    ([name, , largest, , smallest]) => `"${name}":${which === 'largest' ? largest : smallest}`,
  );
  return `{"id":${id},${cells.join(',')}}`;
};
const LARGEST = TYPES.map(([, , , text]) => text);
const SMALLEST = TYPES.map(([, , , , , text]) => text);
const NULLS = TYPES.map(() => null);
/** What JSON has no word for, and the zero that is not the other one. */
const ODD_REALS = { f: 'NaN', d: '-Infinity' };
const odd = (f: string, d: string): (string | null)[] =>
  NAMES.slice(1).map((name) => (name === 'f' ? f : name === 'd' ? d : null));

test('every type at its edges is the same in every reader, before and after deletes', async (context) => {
  const readers = await readersOrSkip(context);
  const pyiceberg = await judgeOrSkip('pyiceberg', context);
  const columns = Object.fromEntries([
    ['id', 'long'],
    ...TYPES.map(([name, type]) => [name, type]),
  ]);
  await using shop = await pipelineCase({
    source: { tables: [{ table: 'shop.types', primary_key: ['id'], columns }] },
  });
  const table = { warehouse: shop.path('warehouse'), namespace: 'shop', name: 'types' };
  const source = { db: 'shop', table: 'types' };

  await shop.feed('1.jsonl', [
    create(image(1, 'largest'), source),
    create(image(2, 'smallest'), source),
    create({ id: 3 }, source),
    create({ id: 4, ...ODD_REALS }, source),
    create('{"id":5,"f":-0.0,"d":-0.0}', source),
  ]);
  expect((await shop.run()).error).toBeNull();
  const first: Rows = {
    columns: NAMES,
    rows: [
      ['1', ...LARGEST],
      ['2', ...SMALLEST],
      ['3', ...NULLS],
      ['4', ...odd('NaN', '-Infinity')],
      ['5', ...odd('-0', '-0')],
    ],
  };
  await everyReaderSees(readers, table, first);
  await sees('PyIceberg', pyiceberg.scan(folderOf(table)), first);

  await shop.feed('2.jsonl', [
    update({ id: 1 }, image(1, 'smallest'), source),
    remove({ id: 2 }, source),
    update({ id: 3 }, image(3, 'largest'), source),
  ]);
  expect((await shop.run()).error).toBeNull();
  await everyReaderSees(readers, table, {
    columns: NAMES,
    rows: [['1', ...SMALLEST], ['3', ...LARGEST], ...first.rows.slice(3)],
  });

  const inspected = await pyiceberg.inspect(folderOf(table));
  await metadataHoldsTogether(inspected);
  const types = TYPES.map(([, type]) =>
    (typeof type === 'string' ? type : type.type).replace(',', ', '),
  );
  expect(inspected.schema.fields.map((field) => field.type)).toEqual(['long', ...types]);
  expect(inspected.schema.fields.map((field) => field.required)).toEqual([
    true,
    ...types.map(() => false),
  ]);
  expect(inspected.schema.identifierFieldIds).toEqual([1]);
  await expect(pyiceberg.scan(folderOf(table))).rejects.toThrow(/equality deletes/);
});

test('each type that can be a key deletes by it in every reader', async (context) => {
  const readers = await readersOrSkip(context);
  const keys = TYPES.filter(([, type]) => type !== 'float' && type !== 'double');
  const tables = keys.map(([name, type]) => ({
    table: `shop.by_${name}`,
    primary_key: [name],
    columns: { [name]: type, v: 'int' },
  }));
  await using shop = await pipelineCase({ source: { tables } });
  type Key = (typeof keys)[number];
  const each = (line: (key: Key, source: { db: string; table: string }) => string): string[] =>
    keys.map((key) => line(key, { db: 'shop', table: `by_${key[0]}` }));
  const largest = ([name, , json]: Key, v: number): string => `{"${name}":${json},"v":${v}}`;
  const smallest = ([name, , , , json]: Key, v: number): string => `{"${name}":${json},"v":${v}}`;
  const checkpoints = [
    [
      ...each((key, source) => create(largest(key, 1), source)),
      ...each((key, source) => create(smallest(key, 2), source)),
    ],
    [
      ...each((key, source) => update(null, largest(key, 3), source)),
      ...each((key, source) => remove(smallest(key, 2), source)),
    ],
    [
      ...each((key, source) => remove(largest(key, 3), source)),
      ...each((key, source) => create(smallest(key, 4), source)),
    ],
  ];
  for (const [i, lines] of checkpoints.entries()) {
    await shop.feed(`${i}.jsonl`, lines);
    expect((await shop.run()).error).toBeNull();
  }
  const left = keys.map(([name, , , , , text]) => ({
    table: { warehouse: shop.path('warehouse'), namespace: 'shop', name: `by_${name}` },
    expected: { columns: [name, 'v'], rows: [[text, '4']] },
  }));
  await everyReaderSeesEach(readers, left);
});

test('time and fixed are read where readers have them: Spark has no time, Flink no microseconds of one, PyIceberg wants fixed bytes annotated', async (context) => {
  const { spark, flink, duckdb } = await readersOrSkip(context);
  const pyiceberg = await judgeOrSkip('pyiceberg', context);
  await using shop = await pipelineCase({
    source: {
      tables: [
        { table: 'shop.clock', primary_key: ['id'], columns: { id: 'int', at: 'time' } },
        {
          table: 'shop.code',
          primary_key: ['id'],
          columns: { id: 'int', x: { type: 'fixed[5]', from: 'base64' } },
        },
      ],
    },
  });
  const clock = { warehouse: shop.path('warehouse'), namespace: 'shop', name: 'clock' };
  const code = { ...clock, name: 'code' };
  const [ofClock, ofCode] = [
    { db: 'shop', table: 'clock' },
    { db: 'shop', table: 'code' },
  ];
  await shop.feed('1.jsonl', [
    create({ id: 1, at: '23:59:59.999999' }, ofClock),
    create({ id: 2, at: '00:00:00' }, ofClock),
    create({ id: 3, at: '10:00:00.5' }, ofClock),
    create({ id: 4 }, ofClock),
    create({ id: 1, x: base64('00000000ff') }, ofCode),
    create({ id: 2, x: base64('ffffffffff') }, ofCode),
    create({ id: 3 }, ofCode),
  ]);
  expect((await shop.run()).error).toBeNull();

  const times: Rows = {
    columns: ['id', 'at'],
    rows: [
      ['1', '23:59:59.999999'],
      ['2', '00:00:00'],
      ['3', '10:00:00.5'],
      ['4', null],
    ],
  };
  await sees('Lakeward', ownRows(clock), times);
  await sees('DuckDB', duckdb.read(folderOf(clock)), times);
  await sees('PyIceberg', pyiceberg.scan(folderOf(clock)), times);
  const inMillis = times.rows.map(([id, at]) => [id ?? null, at?.replace('999999', '999') ?? null]);
  await sees('Flink', flink.read(clock.warehouse, 'shop.clock'), { ...times, rows: inMillis });
  await expect(spark.read(clock.warehouse, 'shop.clock')).rejects.toThrow(/does not support time/);

  const codes: Rows = {
    columns: ['id', 'x'],
    rows: [
      ['1', '0x00000000ff'],
      ['2', '0xffffffffff'],
      ['3', null],
    ],
  };
  await everyReaderSees({ spark, flink, duckdb }, code, codes);
  await expect(pyiceberg.scan(folderOf(code))).rejects.toThrow(/binary to fixed/);
});
