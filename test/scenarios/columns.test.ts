import { describe, expect, test } from 'vitest';
import { create, remove, update, wrapped, type FieldTypes } from './envelopes.ts';
import { mirrorOf, pipelineCase, ranCase, type PipelineKeys } from './pipeline-case.ts';

/** A table whose columns the feed tells. */
const told: PipelineKeys = { source: { tables: [{ table: 'shop.t', primary_key: ['id'] }] } };

describe('columns from the schema part', () => {
  const FIELDS: FieldTypes = { id: 'int64', v: 'string', n: 'int32' };

  test('stand in the schema’s order, the key required', async () => {
    await using made = await ranCase(told, [wrapped(FIELDS, create({ n: 5, id: 1, v: 'a' }))]);
    expect(Object.entries(await made.columns('shop.t'))).toEqual([
      ['id', 'long'],
      ['v', 'string'],
      ['n', 'int'],
    ]);
    const { metadata } = await made.table('shop.t');
    expect(metadata.schemas.at(-1)?.fields.map((f) => f.required)).toEqual([true, false, false]);
  });

  test('need no warning', async () => {
    await using made = await ranCase(told, [wrapped(FIELDS, create({ n: 5, id: 1, v: 'a' }))]);
    expect(made.outcome.warnings).toEqual([]);
  });

  test('are known from a delete that comes first', async () => {
    await using made = await ranCase(told, [
      wrapped(FIELDS, remove({ id: 1, v: 'a', n: 1 })),
      wrapped(FIELDS, create({ id: 2, v: 'b', n: 2 })),
    ]);
    expect(await made.rows('shop.t')).toEqual([{ id: '2', v: 'b', n: '2' }]);
  });

  test('give way to a columns block', async () => {
    await using made = await ranCase(mirrorOf({ columns: { id: 'int', n: 'string' } }), [
      wrapped(FIELDS, create({ id: 1, v: 'a', n: 5 })),
    ]);
    expect(await made.columns('shop.t')).toEqual({ id: 'int', n: 'string' });
    expect(await made.rows('shop.t')).toEqual([{ id: '1', n: '5' }]);
  });
});

describe('columns from a columns block', () => {
  test('what it leaves out is not mirrored, and a bad value there harms nobody', async () => {
    await using made = await ranCase(mirrorOf(), [create('{"id":1,"v":"a","secret":1e999}')]);
    expect(await made.rows('shop.t')).toEqual([{ id: '1', v: 'a' }]);
    expect(made.outcome.warnings).toEqual([]);
  });

  test('a column that the feed does not have is null', async () => {
    const columns = { id: 'long', w: 'decimal(10,2)', v: 'string' };
    await using made = await ranCase(mirrorOf({ columns }), [create({ id: 1, v: 'a' })]);
    expect(await made.rows('shop.t')).toEqual([{ id: '1', w: null, v: 'a' }]);
  });

  test('a type and its encoding', async () => {
    const columns = { id: 'long', at: { type: 'timestamptz', from: 'epoch_ms' } };
    await using made = await ranCase(mirrorOf({ columns }), [create({ id: 1, at: 1 })]);
    expect(await made.rows('shop.t')).toEqual([{ id: '1', at: '1970-01-01 00:00:00.001+00' }]);
  });
});

describe('columns that nothing tells', () => {
  test('are inferred with a warning that names the table and the columns', async () => {
    await using made = await ranCase(told, [create({ id: 1, v: 'a', ok: true })]);
    expect(await made.columns('shop.t')).toEqual({ id: 'long', v: 'string', ok: 'boolean' });
    expect(made.outcome.warnings).toHaveLength(1);
    expect(made.outcome.warnings[0]).toContain('shop.t');
    expect(made.outcome.warnings[0]).toContain('ok boolean');
  });

  test('take in a column that comes up late in the first checkpoint', async () => {
    const lines = Array.from({ length: 500 }, (_, i) => create({ id: i, v: 'a' }));
    await using made = await ranCase(told, [...lines, create({ id: 500, v: 'a', late: 1 })]);
    expect((await made.rows('shop.t')).at(-1)).toEqual({ id: '500', v: 'a', late: '1' });
    expect(await made.snapshots('shop.t')).toHaveLength(1);
  });

  const GUESSES: readonly (readonly [title: string, value: string, text: string])[] = [
    ['epoch milliseconds', '1700000000123', '1700000000123'],
    ['epoch days', '19782', '19782'],
    ['base64', '"AxY="', 'AxY='],
    ['a date in text', '"2024-02-29"', '2024-02-29'],
    ['an instant in text', '"2024-02-29T12:34:56Z"', '2024-02-29T12:34:56Z'],
    ['a number in text', '"12.50"', '12.50'],
    ['true in text', '"true"', 'true'],
    ['an integer beyond 2^53', '9007199254740993', '9007199254740993'],
    ['an integer beyond 2^63', '18446744073709551615', '18446744073709551615'],
    ['an integer of 30 digits', '123456789012345678901234567890', '123456789012345678901234567890'],
    ['a decimal of 29 digits', '12345678901234567890.123456789', '12345678901234567890.123456789'],
    ['a nested value', '{"a":[1.10]}', '{"a":[1.10]}'],
  ];

  test.each(GUESSES)('%s is not taken for anything else', async (_, value, text) => {
    await using made = await ranCase(told, [create(`{"id":1,"v":${value}}`)]);
    const [row] = await made.rows('shop.t');
    const [letter] = await made.deadLetters();
    // What cannot be kept digit by digit has to be said, never altered.
    expect(letter === undefined ? row?.['v'] : letter.code).toBe(
      letter === undefined ? text : expect.stringContaining('E_VALUE_'),
    );
  });

  test('a column of numbers and texts is text, each as it was', async () => {
    await using made = await ranCase(told, [
      create('{"id":1,"v":1.10}'),
      create('{"id":2,"v":"x"}'),
      create('{"id":3,"v":true}'),
    ]);
    expect((await made.rows('shop.t')).map((row) => row['v'])).toEqual(['1.10', 'x', 'true']);
  });

  test('keep their types: a value that does not fit later is a data error', async () => {
    await using made = await ranCase(told, [create({ id: 1, v: 5 })]);
    await made.append('a.jsonl', [create({ id: 2, v: 'x' }), create({ id: 3, v: 7 })]);
    const { error } = await made.run();
    expect(error).toBeNull();
    expect((await made.rows('shop.t')).map((row) => row['id'])).toEqual(['1', '3']);
    expect((await made.deadLetters()).map(({ code }) => code)).toEqual(['E_VALUE_INTEGER']);
  });

  test('a column that is null at first takes any text later', async () => {
    await using made = await ranCase(told, [create({ id: 1, v: null })]);
    await made.append('a.jsonl', [create({ id: 2, v: 'x' })]);
    await made.run();
    expect((await made.rows('shop.t')).map((row) => row['v'])).toEqual([null, 'x']);
  });

  test('a new column in a later run is added, and old rows read null', async () => {
    await using made = await ranCase(told, [create({ id: 1, v: 'a' })]);
    await made.append('a.jsonl', [create({ id: 2, v: 'b', w: 7 })]);
    const { error } = await made.run();
    expect(error).toBeNull();
    expect(await made.columns('shop.t')).toEqual({ id: 'long', v: 'string', w: 'long' });
    expect(await made.rows('shop.t')).toEqual([
      { id: '1', v: 'a', w: null },
      { id: '2', v: 'b', w: '7' },
    ]);
  });

  test('a key column that no line has is refused', async () => {
    await using made = await ranCase(told, [create({ ident: 1 })]);
    expect(made.outcome.error).toMatchObject({ code: 'E_COLUMN_UNKNOWN' });
    expect(await made.tables()).toEqual([]);
  });

  test('a key that looks like a real is refused', async () => {
    await using made = await ranCase(told, [create('{"id":1.5}')]);
    expect(made.outcome.error).toMatchObject({ code: 'E_KEY_TYPE', kind: 'config' });
  });
});

describe('a schema that changes in the middle of a wrapped feed', () => {
  const A: FieldTypes = { id: 'int32', v: 'string' };
  const a = (i: number, v: unknown): string => wrapped(A, create({ id: i, v }));
  const under = (fields: FieldTypes, i: number, rest: object): string =>
    wrapped(fields, create({ id: i, ...rest }));

  const ADDED: FieldTypes = { id: 'int32', w: 'int64', v: 'string' };

  test('an added column: old rows read null, no data file is rewritten', async () => {
    await using made = await ranCase(told, [a(1, 'a'), under(ADDED, 2, { v: 'b', w: 5 })]);
    expect(await made.rows('shop.t')).toEqual([
      { id: '1', v: 'a', w: null },
      { id: '2', v: 'b', w: '5' },
    ]);
    expect(Object.keys(await made.columns('shop.t'))).toEqual(['id', 'v', 'w']);
    const snapshots = await made.snapshots('shop.t');
    // A create may be one of a key that exists, so that a table with rows takes deletes, too.
    expect(snapshots.map(({ operation }) => operation)).toEqual(['append', 'overwrite']);
    expect(snapshots.map(({ summary }) => summary['deleted-data-files'])).toEqual([
      undefined,
      undefined,
    ]);
    expect(await made.dataFiles('shop.t')).toHaveLength(2);
  });

  test('the checkpoint is cut where it changes, under each schema’s id', async () => {
    await using made = await ranCase(told, [
      a(1, 'a'),
      a(2, 'b'),
      under(ADDED, 3, { v: 'c', w: 5 }),
      under(ADDED, 4, { v: 'd', w: 6 }),
    ]);
    const snapshots = await made.snapshots('shop.t');
    expect(made.outcome.checkpoints).toEqual([1, 2]);
    expect(snapshots.map(({ summary }) => summary['added-records'])).toEqual(['2', '2']);
    expect(snapshots.map(({ summary }) => summary['lakeward.schema-id'])).toEqual(['0', '1']);
  });

  test('the first snapshot still reads as it was', async () => {
    await using made = await ranCase(told, [a(1, 'a'), under(ADDED, 2, { v: 'b', w: 5 })]);
    const [first] = await made.snapshots('shop.t');
    expect(await made.rows('shop.t', { snapshotId: first?.id ?? 0n })).toEqual([
      { id: '1', v: 'a' },
    ]);
  });

  test('a row that came before the change is updated after it', async () => {
    await using made = await ranCase(told, [
      a(1, 'a'),
      wrapped(ADDED, update({ id: 1, v: 'a', w: null }, { id: 1, v: 'a', w: 7 })),
    ]);
    expect(await made.rows('shop.t')).toEqual([{ id: '1', v: 'a', w: '7' }]);
  });

  const WIDENINGS: readonly (readonly [
    from: FieldTypes[string],
    to: FieldTypes[string],
    type: string,
  ])[] = [
    ['int32', 'int64', 'long'],
    ['float', 'double', 'double'],
    [decimal('10'), decimal('20'), 'decimal(20,2)'],
  ];

  test.each(WIDENINGS)('%j grows to %j', async (from, to, type) => {
    const value = typeof from === 'string' ? 1 : 'AxY=';
    const text = typeof from === 'string' ? (type === 'long' ? '1' : '1.0') : '7.90';
    await using made = await ranCase(told, [
      under({ id: 'int32', n: from }, 1, { n: value }),
      under({ id: 'int32', n: to }, 2, { n: value }),
    ]);
    expect((await made.columns('shop.t'))['n']).toBe(type);
    expect((await made.rows('shop.t')).map((row) => row['n'])).toEqual([text, text]);
    expect((await made.snapshots('shop.t')).map(({ operation }) => operation)).toEqual([
      'append',
      'overwrite',
    ]);
  });

  test('a key that grows from int32 to int64 still finds its rows', async () => {
    const wide: FieldTypes = { id: 'int64', v: 'string' };
    await using made = await ranCase(told, [
      a(1, 'a'),
      a(2, 'b'),
      wrapped(wide, update({ id: 1, v: 'a' }, { id: 1, v: 'a2' })),
      wrapped(wide, remove({ id: 2 })),
      wrapped(wide, create({ id: 3_000_000_000, v: 'c' })),
    ]);
    expect(await made.rows('shop.t')).toEqual([
      { id: '1', v: 'a2' },
      { id: '3000000000', v: 'c' },
    ]);
  });

  test('a narrower type leaves the wider one in place', async () => {
    await using made = await ranCase(told, [
      under({ id: 'int32', n: 'int64' }, 1, { n: 5 }),
      under({ id: 'int32', n: 'int32' }, 2, { n: 6 }),
    ]);
    expect(await made.columns('shop.t')).toEqual({ id: 'int', n: 'long' });
    expect(made.outcome.error).toBeNull();
    expect(await made.rows('shop.t')).toHaveLength(2);
  });

  test('a dropped column stays, and new rows read null', async () => {
    await using made = await ranCase(told, [a(1, 'a'), under({ id: 'int32' }, 2, {})]);
    expect(await made.rows('shop.t')).toEqual([
      { id: '1', v: 'a' },
      { id: '2', v: null },
    ]);
  });

  test('a column that was dropped and comes back goes on', async () => {
    await using made = await ranCase(told, [a(1, 'a'), under({ id: 'int32' }, 2, {}), a(3, 'c')]);
    expect((await made.rows('shop.t')).map((row) => row['v'])).toEqual(['a', null, 'c']);
  });

  test('schemas that alternate apply their changes in feed order', async () => {
    await using made = await ranCase(told, [
      a(1, 'a1'),
      wrapped(ADDED, update({ id: 1, v: 'a1' }, { id: 1, v: 'a2', w: 1 })),
      wrapped(A, update({ id: 1, v: 'a2' }, { id: 1, v: 'a3' })),
      wrapped(ADDED, remove({ id: 1 })),
      a(1, 'a4'),
    ]);
    expect(await made.rows('shop.t')).toEqual([{ id: '1', v: 'a4', w: null }]);
  });

  test('an incompatible type stops with everything before it committed', async () => {
    await using made = await ranCase(told, [
      a(1, 'a'),
      a(2, 'b'),
      under({ id: 'int32', v: 'int64' }, 3, { v: 5 }),
      a(4, 'd'),
    ]);
    expect(made.outcome.error).toMatchObject({
      code: 'E_TARGET_MISMATCH',
      subject: { column: 'v' },
    });
    expect((await made.rows('shop.t')).map((row) => row['id'])).toEqual(['1', '2']);
  });

  test('run again, it stops at the same place and has written nothing twice', async () => {
    await using made = await ranCase(told, [
      a(1, 'a'),
      under({ id: 'int32', v: 'int64' }, 2, { v: 5 }),
    ]);
    const again = await made.run();
    expect(again.error).toMatchObject({ code: 'E_TARGET_MISMATCH' });
    expect(await made.snapshots('shop.t')).toHaveLength(1);
  });

  test('another table of the feed keeps its columns', async () => {
    const tables = ['t', 'u'].map((name) => ({ table: `shop.${name}`, primary_key: ['id'] }));
    const u = (i: number): string =>
      wrapped(A, create({ id: i, v: 'u' }, { db: 'shop', table: 'u' }));
    await using made = await ranCase({ source: { tables } }, [
      a(1, 'a'),
      u(1),
      under(ADDED, 2, { v: 'b', w: 5 }),
      u(2),
    ]);
    expect(await made.columns('shop.u')).toEqual({ id: 'int', v: 'string' });
    expect(await made.rows('shop.u')).toHaveLength(2);
  });

  test('the change survives a restart between the two schemas', async () => {
    await using made = await ranCase(told, [a(1, 'a')]);
    await made.append('a.jsonl', [under(ADDED, 2, { v: 'b', w: 5 })]);
    expect((await made.run()).error).toBeNull();
    expect(await made.rows('shop.t')).toEqual([
      { id: '1', v: 'a', w: null },
      { id: '2', v: 'b', w: '5' },
    ]);
  });

  test('a column that a mapping does not name changes nothing', async () => {
    const schema_mapping = {
      'shop.t': {
        target_object_type_rid: 'ri.type.T',
        primary_key_field: 'id',
        field_mappings: { v: {} },
      },
    };
    await using made = await ranCase({ processing: { schema_mapping } }, [
      a(1, 'a'),
      under(ADDED, 2, { v: 'b', w: 5 }),
    ]);
    expect(made.outcome.checkpoints).toEqual([1]);
    expect(await made.columns('shop.t')).toEqual({ rid: 'string', v: 'string' });
  });
});

function decimal(precision: string): FieldTypes[string] {
  return [
    'bytes',
    'org.apache.kafka.connect.data.Decimal',
    { scale: '2', 'connect.decimal.precision': precision },
  ];
}

const ODD_NAMES = [
  'with space',
  `it's "quoted"`,
  'emoji 😀',
  `"; DROP TABLE t; --`,
  `') FROM t; --`,
  'a.b',
  'select',
  'Ünïcode',
  'back\\slash',
  'tab\tand\nline',
  '$1 ${x} {pk}',
  '%s',
  '--',
  '/* x */',
  ' leading and trailing ',
  'x'.repeat(200),
];

/** A text of the pipeline file that stands for itself: `${` would begin a reference. */
const literal = (name: string): string => name.replaceAll('${', () => '$${');

/** Names that an engine may use for itself. */
const INNER_NAMES = [
  ...[
    'op',
    'ord',
    'kind',
    'seq',
    'gone',
    'flag',
    'rowid',
    'ts',
    'tbl',
    'origin',
    'moved',
    'absent',
  ],
  ...['before', 'after', 'source', 'payload', 'schema', 'file', 'filename', 'line', 'byte', 'key'],
  ...[
    'a0',
    'b0',
    'c0',
    't0',
    'o0',
    'd0',
    'f1',
    'k0',
    'has_before',
    'has_after',
    'is_odd',
    'is_own',
  ],
  ...['rows', 'data', 'files', 'location', 'row_number', 'file_row_number', 'text', 'value', 'v'],
];

describe.each([
  ['odd names', ODD_NAMES],
  ['names that the engine uses itself', INNER_NAMES],
])('%s', (_, names) => {
  const row = (i: number, suffix: string): Record<string, unknown> => ({
    id: i,
    ...Object.fromEntries(names.map((name) => [name, `${name}${suffix}`])),
  });
  const expected = (i: number, suffix: string): Record<string, string> => ({
    id: String(i),
    ...Object.fromEntries(names.map((name) => [name, `${name}${suffix}`])),
  });
  const changes = (wrap: (text: string) => string): readonly string[] => [
    wrap(create(row(1, '-1'))),
    wrap(create(row(2, '-2'))),
    wrap(update(row(1, '-1'), row(1, '-3'))),
    wrap(remove(row(2, '-2'))),
  ];

  test('declared in a columns block', async () => {
    const columns = { id: 'long', ...Object.fromEntries(names.map((name) => [name, 'string'])) };
    await using made = await ranCase(mirrorOf({ columns }), changes(String));
    expect(made.outcome.error).toBeNull();
    expect(await made.rows('shop.t')).toEqual([expected(1, '-3')]);
  });

  test('told by the schema part', async () => {
    const fields: FieldTypes = {
      id: 'int64',
      ...Object.fromEntries(names.map((name) => [name, 'string'])),
    };
    await using made = await ranCase(
      told,
      changes((text) => wrapped(fields, text)),
    );
    expect(made.outcome.error).toBeNull();
    expect(await made.rows('shop.t')).toEqual([expected(1, '-3')]);
  });

  test('inferred', async () => {
    await using made = await ranCase(told, changes(String));
    expect(made.outcome.error).toBeNull();
    expect(await made.rows('shop.t')).toEqual([expected(1, '-3')]);
  });

  test('read again exactly beside a line that cannot be read', async () => {
    await using made = await ranCase(told, [...changes(String), '{"op":"c","after":{"id":']);
    expect(await made.rows('shop.t')).toEqual([expected(1, '-3')]);
  });

  test('each as a key', async () => {
    const columns = Object.fromEntries(names.map((name) => [name, 'string']));
    await using made = await ranCase(
      mirrorOf({ primary_key: names.map(literal), columns: { ...columns, id: 'long' } }),
      changes(String),
    );
    expect(made.outcome.error).toBeNull();
    // Every name is part of the key, so the update moves the row.
    expect(await made.rows('shop.t')).toEqual([expected(1, '-3')]);
  });

  test('as properties with events and a filter', async () => {
    const fields = Object.fromEntries(names.map((name) => [name, {}]));
    const schema_mapping = {
      'shop.t': {
        target_object_type_rid: 'ri.type.T',
        primary_key_field: 'id',
        field_mappings: fields,
      },
    };
    const filter = names
      .map((name) => `"${literal(name).replaceAll('"', '""')}" IS NOT NULL`)
      .join(' AND ');
    const sink = { event_bus_enabled: true };
    await using made = await ranCase(
      { processing: { schema_mapping, filter }, sink },
      changes(String),
    );
    expect(made.outcome.error).toBeNull();
    const { id: _id, ...properties } = expected(1, '-3');
    expect(await made.rows('shop.t')).toEqual([{ rid: 'ri.T.main.1', ...properties }]);
    expect((await made.events())[2]?.data['properties']).toEqual(properties);
  });
});

describe('many columns', () => {
  const names = Array.from({ length: 1000 }, (_, i) => `column_${i}`);
  const row = (i: number): Record<string, number> => ({
    id: i,
    ...Object.fromEntries(names.map((name, n) => [name, n + i])),
  });

  test('a table of 1,000 columns is mirrored', async () => {
    await using made = await pipelineCase(told);
    await made.feed('a.jsonl', [create(row(1)), update(row(1), { ...row(1), column_999: -1 })]);
    expect((await made.run()).error).toBeNull();
    const [read] = await made.rows('shop.t');
    expect(Object.keys(read ?? {})).toHaveLength(1001);
    expect(read).toMatchObject({ id: '1', column_0: '1', column_500: '501', column_999: '-1' });
  });
});

describe('names that differ in case only', () => {
  test('are refused, since no reader could tell them apart', async () => {
    await using made = await ranCase(told, [create('{"id":1,"v":"a","V":"b"}')]);
    expect(made.outcome.error).toMatchObject({ code: 'E_TARGET_MISMATCH', kind: 'config' });
    expect(await made.tables()).toEqual([]);
  });

  test('do no harm where the columns block takes one of them', async () => {
    await using made = await ranCase(mirrorOf(), [create('{"ID":7,"V":"b","id":1,"v":"a"}')]);
    expect(await made.rows('shop.t')).toEqual([{ id: '1', v: 'a' }]);
  });
});
