import { describe, expect, test } from 'vitest';
import type { Column } from '../model/types.ts';
import { fingerprintOf, readEnvelopeSchema } from './debezium-schema.ts';

type Node = Record<string, unknown>;

const field = (name: string, type: string, rest: Node = {}): Node => ({
  type,
  optional: true,
  field: name,
  ...rest,
});
const envelope = (fields: Node[], images = ['before', 'after']): string =>
  JSON.stringify({
    type: 'struct',
    fields: [
      ...images.map((image) => ({
        type: 'struct',
        fields,
        optional: true,
        name: 'plant.inventory.pumps.Value',
        field: image,
      })),
      {
        type: 'struct',
        fields: [field('version', 'string')],
        optional: false,
        name: 'io.debezium.connector.mysql.Source',
        field: 'source',
      },
      { type: 'string', optional: false, field: 'op' },
      { type: 'int64', optional: true, field: 'ts_ms' },
    ],
    optional: false,
    name: 'plant.inventory.pumps.Envelope',
    version: 2,
  });

function columnOf(node: Node): Omit<Column, 'name' | 'nullable'> | undefined {
  const column = readEnvelopeSchema(envelope([{ field: 'v', optional: true, ...node }]))
    ?.columns[0];
  if (column === undefined) return undefined;
  const { name: _, nullable: __, ...typed } = column;
  return typed;
}

const debezium = (type: string, name: string): Node => ({
  type,
  name: `io.debezium.${name}`,
  version: 1,
});
const connect = (type: string, name: string): Node => ({
  type,
  name: `org.apache.kafka.connect.data.${name}`,
  version: 1,
});
const decimal = (scale: string, precision?: string): Node => ({
  ...connect('bytes', 'Decimal'),
  parameters: { scale, ...(precision !== undefined && { 'connect.decimal.precision': precision }) },
});

describe('types', () => {
  test.each([
    [{ type: 'int8' }, 'int', undefined],
    [{ type: 'int16' }, 'int', undefined],
    [{ type: 'int32' }, 'int', undefined],
    [{ type: 'int64' }, 'long', undefined],
    [{ type: 'float' }, 'float', undefined],
    [{ type: 'double' }, 'double', undefined],
    [{ type: 'boolean' }, 'boolean', undefined],
    [{ type: 'string' }, 'string', undefined],
    [{ type: 'bytes' }, 'binary', 'base64'],
    [{ type: 'array', items: { type: 'int32', optional: true } }, 'string', undefined],
    [{ type: 'map', keys: { type: 'string' }, values: { type: 'string' } }, 'string', undefined],
    [{ type: 'struct', fields: [field('x', 'double')] }, 'string', undefined],
    [decimal('2', '10'), 'decimal(10,2)', 'base64'],
    [decimal('0', '20'), 'decimal(20,0)', 'base64'],
    [decimal('4'), 'decimal(38,4)', 'base64'],
    [decimal('5', '3'), 'decimal(5,5)', 'base64'],
    [decimal('30', '65'), 'decimal(38,30)', 'base64'],
    [decimal('-2', '10'), 'binary', 'base64'],
    [decimal('40', '65'), 'binary', 'base64'],
    [connect('bytes', 'Decimal'), 'binary', 'base64'],
    [debezium('struct', 'data.VariableScaleDecimal'), 'string', undefined],
    [debezium('int32', 'time.Date'), 'date', 'epoch_day'],
    [connect('int32', 'Date'), 'date', 'epoch_day'],
    [debezium('string', 'time.IsoDate'), 'date', 'iso'],
    [debezium('int32', 'time.Time'), 'time', 'ms_of_day'],
    [connect('int32', 'Time'), 'time', 'ms_of_day'],
    [debezium('int64', 'time.MicroTime'), 'time', 'us_of_day'],
    [debezium('int64', 'time.NanoTime'), 'time', 'ns_of_day'],
    [debezium('string', 'time.IsoTime'), 'time', 'iso'],
    [debezium('string', 'time.ZonedTime'), 'time', 'iso'],
    [debezium('int64', 'time.Timestamp'), 'timestamp', 'epoch_ms'],
    [connect('int64', 'Timestamp'), 'timestamp', 'epoch_ms'],
    [debezium('int64', 'time.MicroTimestamp'), 'timestamp', 'epoch_us'],
    [debezium('int64', 'time.NanoTimestamp'), 'timestamp', 'epoch_ns'],
    [debezium('string', 'time.IsoTimestamp'), 'timestamp', 'iso'],
    [debezium('string', 'time.ZonedTimestamp'), 'timestamptz', 'iso'],
    [debezium('int32', 'time.Year'), 'int', undefined],
    [debezium('int64', 'time.MicroDuration'), 'long', undefined],
    [debezium('string', 'time.Interval'), 'string', undefined],
    [debezium('struct', 'time.StructuredTimestamp'), 'string', undefined],
    [debezium('string', 'data.Json'), 'string', undefined],
    [debezium('string', 'data.Xml'), 'string', undefined],
    [{ ...debezium('string', 'data.Enum'), parameters: { allowed: 'a,b' } }, 'string', undefined],
    [debezium('string', 'data.EnumSet'), 'string', undefined],
    [debezium('string', 'data.Uuid'), 'uuid', undefined],
    [{ ...debezium('bytes', 'data.Bits'), parameters: { length: '8' } }, 'binary', 'base64'],
    [debezium('struct', 'data.geometry.Point'), 'string', undefined],
    [debezium('array', 'data.FloatVector'), 'string', undefined],
    [{ type: 'int64', name: 'com.example.Money' }, 'long', undefined],
    [{ type: 'int64', name: 'io.debezium.time.Date' }, 'long', undefined],
    [{ type: 'constructor' }, 'string', undefined],
    [{ type: 'hologram' }, 'string', undefined],
  ])('%j', (node, type, from) => {
    expect(columnOf(node)).toEqual(from === undefined ? { type } : { type, from });
  });
});

describe('envelopes', () => {
  const fields = [
    field('id', 'int64', { optional: false }),
    field('Größe "m"', 'double'),
    field('at', 'int64', debezium('int64', 'time.MicroTimestamp')),
  ];

  test('columns keep their order and names, and are nullable where they are optional', () => {
    expect(readEnvelopeSchema(envelope(fields))).toMatchObject({
      name: 'plant.inventory.pumps.Envelope',
      columns: [
        { name: 'id', type: 'long', nullable: false },
        { name: 'Größe "m"', type: 'double', nullable: true },
        { name: 'at', type: 'timestamp', from: 'epoch_us', nullable: true },
      ],
    });
  });

  test('a field that does not say whether it is optional is not', () => {
    expect(readEnvelopeSchema(envelope([{ type: 'int32', field: 'v' }]))?.columns).toEqual([
      { name: 'v', type: 'int', nullable: false },
    ]);
  });

  test('before stands in for a missing after', () => {
    expect(readEnvelopeSchema(envelope(fields, ['before']))?.columns).toHaveLength(3);
  });

  test('the fingerprint tells column lists apart by name, type, encoding, nullability and order, and by nothing else', () => {
    const of = (list: Node[]): string | undefined =>
      readEnvelopeSchema(envelope(list))?.fingerprint;
    const [id = {}, size = {}, at = {}] = fields;
    expect(of(fields)).toMatch(/^[0-9a-f]{16}$/);
    expect(of(fields.map((f) => ({ ...f, default: 1, doc: 'x', version: 9 })))).toBe(of(fields));
    expect(fingerprintOf(readEnvelopeSchema(envelope(fields))?.columns ?? [])).toBe(of(fields));
    const others = [
      [size, id, at],
      [id, size],
      [{ ...id, optional: true }, size, at],
      [{ ...id, type: 'int32' }, size, at],
      [{ ...id, field: 'ID' }, size, at],
      [id, size, { ...at, name: 'io.debezium.time.Timestamp' }],
    ];
    expect(new Set([fields, ...others].map(of)).size).toBe(7);
  });

  test.each([
    'null',
    '5',
    '[]',
    '{}',
    '{"type":"struct"}',
    '{"type":"struct","fields":{}}',
    '{"type":"struct","fields":[{"type":"string","field":"after"}]}',
    '{"type":"struct","fields":[{"type":"struct","field":"source","fields":[]}]}',
    '{"type":"struct","fields":[null,5]}',
    '{"type":"struct","fields":[{"type":"struct","field":"after","fields":5}]}',
    '{"type":',
    '',
    `${'['.repeat(200_000)}`,
  ])('no envelope: %j', (text) => {
    expect(readEnvelopeSchema(text)).toBeNull();
  });
});
