import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { create, remove, update, wrapped, type FieldTypes } from './envelopes.ts';
import { pipelineCase, ranCase, type PipelineCase, type PipelineKeys } from './pipeline-case.ts';

type Line = readonly [json: string, gives: string | null];

const bad = (code: string, ...texts: readonly string[]): readonly Line[] =>
  texts.map((text) => [text, code]);

interface Conversion {
  readonly title: string;
  readonly field: PipelineKeys;
  readonly type: string;
  readonly lines: readonly Line[];
}

const CONVERSIONS: readonly Conversion[] = [
  {
    title: 'to_int',
    field: { type_conversion: 'to_int' },
    type: 'long',
    lines: [
      ['"42"', '42'],
      ['42', '42'],
      ['9007199254740993', '9007199254740993'],
      ['"9223372036854775807"', '9223372036854775807'],
      ['null', null],
      ...bad('E_VALUE_INTEGER', '"42.9"', '""', '42.9', '" 42"', '"x"', 'true'),
      ...bad('E_VALUE_RANGE', '9223372036854775808'),
    ],
  },
  {
    title: 'to_float',
    field: { type_conversion: 'to_float' },
    type: 'double',
    lines: [
      ['"42.5"', '42.5'],
      ['1', '1.0'],
      ['0.1', '0.1'],
      ...bad('E_VALUE_NUMBER', '""', '"x"', 'true'),
      ...bad('E_VALUE_RANGE', '1e999'),
    ],
  },
  {
    title: 'to_boolean',
    field: { type_conversion: 'to_boolean' },
    type: 'boolean',
    lines: [
      ...['true', '1', '"TRUE"', '"yes"', '"t"', '"Y"', '"On"', '"1"'].map((t): Line => [
        t,
        'true',
      ]),
      ...['false', '0', '"False"', '"NO"', '"f"', '"n"', '"off"', '"0"'].map((t): Line => [
        t,
        'false',
      ]),
      ['null', null],
      ...bad('E_VALUE_BOOLEAN', '2', '""', '"maybe"', '-1', '1.5', '[true]'),
    ],
  },
  {
    title: 'to_string',
    field: { type_conversion: 'to_string' },
    type: 'string',
    lines: [
      ['true', 'true'],
      ['1.10', '1.10'],
      ['12345678901234567890.123456789', '12345678901234567890.123456789'],
      ['"x"', 'x'],
      ['""', ''],
      ['null', null],
    ],
  },
  {
    title: 'epoch_ms_to_datetime',
    field: { type_conversion: 'epoch_ms_to_datetime' },
    type: 'timestamptz',
    lines: [
      ['1700000000123', '2023-11-14 22:13:20.123+00'],
      ['"1700000000123"', '2023-11-14 22:13:20.123+00'],
      ['0', '1970-01-01 00:00:00+00'],
      ['-1', '1969-12-31 23:59:59.999+00'],
      ['null', null],
      ...bad('E_VALUE_TIMESTAMP', '1.5', '""', '"2024-01-01T00:00:00Z"', '9223372036854775807'),
    ],
  },
  {
    title: 'cents_to_dollars',
    field: { type_conversion: 'cents_to_dollars' },
    type: 'decimal(18,2)',
    lines: [
      ['0', '0.00'],
      ['12345', '123.45'],
      ['"12345"', '123.45'],
      ['-5', '-0.05'],
      ['999999999999999999', '9999999999999999.99'],
      ['null', null],
      ...bad('E_VALUE_DECIMAL', '12.5', '"0.1"', '1.00000000000000000001'),
      ...bad('E_VALUE_RANGE', '1000000000000000000'),
      ...bad('E_VALUE_NUMBER', '""', '"abc"', 'true'),
    ],
  },
  {
    title: 'a default, which comes before the conversion',
    field: { type_conversion: 'to_int', default_value: '7' },
    type: 'long',
    lines: [
      ['null', '7'],
      ['42', '42'],
      ['""', 'E_VALUE_INTEGER'],
    ],
  },
  {
    title: 'a default in cents',
    field: { type_conversion: 'cents_to_dollars', default_value: 0 },
    type: 'decimal(18,2)',
    lines: [
      ['null', '0.00'],
      ['150', '1.50'],
    ],
  },
  {
    title: 'nullable: false',
    field: { type_conversion: 'to_int', nullable: false },
    type: 'long',
    lines: [
      ['1', '1'],
      ['null', 'E_NULL_NOT_ALLOWED'],
    ],
  },
  {
    title: 'nullable: false with a default',
    field: { type_conversion: 'to_int', nullable: false, default_value: '0' },
    type: 'long',
    lines: [['null', '0']],
  },
];

const mappingOf = (fields: PipelineKeys, rest: PipelineKeys = {}): PipelineKeys => ({
  target_object_type_rid: 'ri.type.PumpStation',
  primary_key_field: 'id',
  field_mappings: fields,
  ...rest,
});

const mapped = (fields: PipelineKeys, rest: PipelineKeys = {}): PipelineKeys => ({
  processing: { schema_mapping: { 'shop.t': mappingOf(fields, rest) } },
});

describe.each(CONVERSIONS)('$title', ({ field, type, lines }) => {
  let made: PipelineCase;
  const rows = new Map<string, string | null>();
  const codes = new Map<string, string>();
  beforeAll(async () => {
    const feed = lines.map(([json], i) => create(`{"id":${i + 1},"v":${json}}`));
    const fields = { id: { type_conversion: 'to_int' }, v: field };
    const typed = {
      source: { tables: [{ table: 'shop.t', columns: { id: 'long', v: 'string' } }] },
    };
    made = await ranCase({ ...typed, ...mapped(fields) }, feed);
    for (const row of await made.rows('shop.pump_station'))
      rows.set(String(row['id']), row['v'] ?? null);
    for (const letter of await made.deadLetters()) codes.set(String(letter.key), letter.code);
  });
  afterAll(() => made[Symbol.asyncDispose]());

  test.each(lines.map(([json, gives], i) => ({ json, gives, key: String(i + 1) })))(
    '$json gives $gives',
    ({ gives, key }) => {
      expect(codes.get(key) ?? rows.get(key)).toBe(gives);
    },
  );

  test('the property has its type', async () => {
    expect((await made.columns('shop.pump_station'))['v']).toBe(type);
  });
});

describe('defaults and nulls', () => {
  const fields = { id: {}, v: { default_value: 'unknown' }, n: { nullable: false } };
  const typed = (columns: PipelineKeys): PipelineKeys => ({
    source: { tables: [{ table: 'shop.t', columns }] },
  });
  const pipeline = { ...typed({ id: 'long', v: 'string', n: 'long' }), ...mapped(fields) };

  test('a default stands for a column that is absent', async () => {
    await using made = await ranCase(pipeline, [create('{"id":1,"n":1}')]);
    expect((await made.rows('shop.pump_station'))[0]).toMatchObject({ v: 'unknown' });
  });

  test('a default stands for a null on an update, too', async () => {
    await using made = await ranCase(pipeline, [
      create('{"id":1,"v":"a","n":1}'),
      update('{"id":1,"v":"a","n":1}', '{"id":1,"v":null,"n":1}'),
    ]);
    expect((await made.rows('shop.pump_station'))[0]).toMatchObject({ v: 'unknown' });
  });

  test('a default does not stand for an empty text', async () => {
    await using made = await ranCase(pipeline, [create('{"id":1,"v":"","n":1}')]);
    expect((await made.rows('shop.pump_station'))[0]).toMatchObject({ v: '' });
  });

  test('a null for nullable: false keeps the row that was there', async () => {
    await using made = await ranCase(pipeline, [
      create('{"id":1,"v":"a","n":1}'),
      update('{"id":1,"v":"a","n":1}', '{"id":1,"v":"b"}'),
    ]);
    expect(await made.rows('shop.pump_station')).toEqual([
      { rid: 'ri.PumpStation.main.1', id: '1', v: 'a', n: '1' },
    ]);
    expect((await made.deadLetters()).map(({ code, line }) => [code, line])).toEqual([
      ['E_NULL_NOT_ALLOWED', 2],
    ]);
  });

  test('nullable: false asks nothing of a delete', async () => {
    await using made = await ranCase(pipeline, [
      create('{"id":1,"v":"a","n":1}'),
      remove('{"id":1}'),
    ]);
    expect(await made.rows('shop.pump_station')).toEqual([]);
    expect(await made.deadLetters()).toEqual([]);
  });
});

describe('names', () => {
  const typed: PipelineKeys = {
    source: { tables: [{ table: 'shop.t', columns: { id: 'long', v: 'string' } }] },
  };
  const line = [create('{"id":1,"v":"a"}')];
  const v = { v: {} };

  test.each([
    ['ri.type.PumpStation', 'shop.pump_station'],
    ['ri.type.HTTPPump2', 'shop.http_pump2'],
    ['Equipment', 'shop.equipment'],
    ['ri.type.pump-station', 'shop.pump_station'],
  ])('the object type %s goes to %s', async (rid, table) => {
    await using made = await ranCase(
      { ...typed, ...mapped(v, { target_object_type_rid: rid }) },
      line,
    );
    expect(await made.tables()).toEqual([table]);
  });

  test.each([
    ['pumps', 'shop.pumps'],
    ['assets.pumps', 'assets.pumps'],
  ])('target_table %s is %s', async (target, table) => {
    await using made = await ranCase({ ...typed, ...mapped(v, { target_table: target }) }, line);
    expect(await made.tables()).toEqual([table]);
  });

  test('the sink’s namespace takes the place of the source’s', async () => {
    const sink = { sink: { iceberg: { namespace: 'lake' } } };
    await using made = await ranCase({ ...typed, ...mapped(v), ...sink }, line);
    expect(await made.tables()).toEqual(['lake.pump_station']);
  });

  test('a mapped table has rid, then the properties in the file’s order', async () => {
    const fields = {
      v: { target_property: 'display_name' },
      ident: { source_column: 'id', target_property: 'number' },
    };
    await using made = await ranCase({ ...typed, ...mapped(fields) }, line);
    expect(Object.entries(await made.columns('shop.pump_station'))).toEqual([
      ['rid', 'string'],
      ['display_name', 'string'],
      ['number', 'long'],
    ]);
    expect(await made.rows('shop.pump_station')).toEqual([
      { rid: 'ri.PumpStation.main.1', display_name: 'a', number: '1' },
    ]);
  });

  test('the rid is the key of the table', async () => {
    await using made = await ranCase({ ...typed, ...mapped(v) }, line);
    const { metadata } = await made.table('shop.pump_station');
    const schema = metadata.schemas.at(-1);
    expect(schema?.fields.filter(({ id }) => schema['identifier-field-ids']?.includes(id))).toEqual(
      [{ id: 1, name: 'rid', required: true, type: 'string' }],
    );
  });

  test('a rid template puts the object type and the key where it says', async () => {
    const rid_template = '{pk}@{object_type}/{pk}';
    await using made = await ranCase({ ...typed, ...mapped(v, { rid_template }) }, line);
    expect((await made.rows('shop.pump_station'))[0]).toMatchObject({ rid: '1@PumpStation/1' });
  });

  test('a key of digits beyond 2^53 stands in the rid in full', async () => {
    await using made = await ranCase({ ...typed, ...mapped(v) }, [
      create('{"id":9007199254740993}'),
    ]);
    expect((await made.rows('shop.pump_station'))[0]).toMatchObject({
      rid: 'ri.PumpStation.main.9007199254740993',
    });
  });

  test('a text key stands in the rid as it is, quotes and braces included', async () => {
    const columns = { id: 'string', v: 'string' };
    const text = { source: { tables: [{ table: 'shop.t', columns }] } };
    await using made = await ranCase({ ...text, ...mapped(v) }, [create({ id: `{pk}'"x` })]);
    expect((await made.rows('shop.pump_station'))[0]).toMatchObject({
      rid: `ri.PumpStation.main.{pk}'"x`,
    });
  });
});

describe('types of properties without a conversion', () => {
  const fields = { id: {}, v: {} };
  const FIELDS: FieldTypes = {
    id: 'int64',
    v: [
      'bytes',
      'org.apache.kafka.connect.data.Decimal',
      { scale: '2', 'connect.decimal.precision': '10' },
    ],
  };

  test('come from the schema part', async () => {
    await using made = await ranCase(mapped(fields), [
      wrapped(FIELDS, create('{"id":1,"v":"AxY="}')),
    ]);
    expect(await made.columns('shop.pump_station')).toEqual({
      rid: 'string',
      id: 'long',
      v: 'decimal(10,2)',
    });
    expect((await made.rows('shop.pump_station'))[0]).toMatchObject({ v: '7.90' });
  });

  test('come from the columns block, where there is one', async () => {
    const columns = { id: 'long', v: { type: 'timestamptz', from: 'epoch_ms' } };
    const source = { source: { tables: [{ table: 'shop.t', columns }] } };
    await using made = await ranCase({ ...source, ...mapped(fields) }, [create('{"id":1,"v":0}')]);
    expect((await made.columns('shop.pump_station'))['v']).toBe('timestamptz');
  });

  test('are inferred with a warning, where nothing tells them', async () => {
    await using made = await ranCase(mapped(fields), [
      create('{"id":1,"v":1.5}'),
      create('{"id":2,"v":2}'),
    ]);
    expect(await made.columns('shop.pump_station')).toMatchObject({ id: 'long', v: 'double' });
    expect(made.outcome.warnings.join('\n')).toContain('shop.t');
  });

  test('to_string of a double is its shortest form', async () => {
    const strings = { id: {}, v: { type_conversion: 'to_string' } };
    const columns = { id: 'long', v: 'double' };
    const source = { source: { tables: [{ table: 'shop.t', columns }] } };
    await using made = await ranCase({ ...source, ...mapped(strings) }, [
      create('{"id":1,"v":1.10}'),
    ]);
    expect((await made.rows('shop.pump_station'))[0]).toMatchObject({ v: '1.1' });
  });
});

describe('which tables are mapped', () => {
  const columns = { id: 'long', v: 'string' };
  const tables = ['a', 'b', 'c'].map((name) => ({ table: `shop.${name}`, columns }));
  const rid = (name: string): PipelineKeys => ({ target_object_type_rid: `ri.type.${name}` });
  const lines = ['a', 'b', 'c'].map((table, i) =>
    create({ id: i, v: table }, { db: 'shop', table }),
  );

  test('a table without a mapping is skipped and counted', async () => {
    const processing = { schema_mapping: { 'shop.a': mappingOf({ v: {} }, rid('A')) } };
    await using made = await ranCase({ source: { tables }, processing }, lines);
    expect(await made.tables()).toEqual(['shop.a']);
    expect(made.outcome.counters).toMatchObject({ changes: 1, unmapped: 2, deadLetters: 0 });
  });

  test('several mappings share a table whose columns agree', async () => {
    const shared = { target_table: 'assets.all' };
    const processing = {
      schema_mapping: {
        'shop.a': mappingOf({ v: {} }, { ...rid('A'), ...shared }),
        'shop.b': mappingOf({ v: {} }, { ...rid('B'), ...shared }),
      },
    };
    await using made = await ranCase({ source: { tables }, processing }, lines);
    expect(await made.rows('assets.all')).toEqual([
      { rid: 'ri.A.main.0', v: 'a' },
      { rid: 'ri.B.main.1', v: 'b' },
    ]);
    expect(await made.snapshots('assets.all')).toHaveLength(1);
  });

  test('mappings that share a table with other columns are refused before anything is written', async () => {
    const shared = { target_table: 'assets.all' };
    const processing = {
      schema_mapping: {
        'shop.a': mappingOf({ v: {} }, { ...rid('A'), ...shared }),
        'shop.b': mappingOf({ id: {} }, { ...rid('B'), ...shared }),
      },
    };
    await expect(pipelineCase({ source: { tables }, processing })).rejects.toMatchObject({
      code: 'E_TARGET_MISMATCH',
    });
  });

  test('a mapping’s pattern takes every table that fits', async () => {
    const processing = {
      schema_mapping: { 'shop.*': mappingOf({ v: {} }, { rid_template: '{object_type}-{pk}' }) },
    };
    await using made = await ranCase({ source: { tables }, processing }, lines);
    expect((await made.rows('shop.pump_station')).map((row) => row['v'])).toEqual(['a', 'b', 'c']);
  });

  test('the mapping that names a table goes before one whose pattern fits', async () => {
    const processing = {
      schema_mapping: {
        'shop.*': mappingOf({ v: {} }, { target_table: 'rest' }),
        'shop.b': mappingOf({ v: {} }, { ...rid('B'), target_table: 'own' }),
      },
    };
    await using made = await ranCase({ source: { tables }, processing }, lines);
    expect((await made.rows('shop.own')).map((row) => row['v'])).toEqual(['b']);
    expect((await made.rows('shop.rest')).map((row) => row['v'])).toEqual(['a', 'c']);
  });
});

describe('what is wrong with a mapping stops before anything is written', () => {
  const typed: PipelineKeys = {
    source: { tables: [{ table: 'shop.t', columns: { id: 'long', v: 'string' } }] },
  };

  test('a column that the columns block does not have', async () => {
    const attempt = ranCase({ ...typed, ...mapped({ w: {} }) }, [create('{"id":1}')]);
    await expect(attempt.then((made) => made.outcome.error ?? made)).rejects.toMatchObject({
      code: 'E_COLUMN_UNKNOWN',
    });
  });
});
