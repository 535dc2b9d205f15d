/**
 * The schema part of a `{schema, payload}` line (Kafka Connect's JSON converter): which columns a row has, and how
 * their values are encoded in the payload.
 */
import { createHash } from 'node:crypto';
import type { Column, ColumnType, Encoding } from '../model/types.ts';

export interface EnvelopeSchema {
  /** In the order of the schema; from `after`, or from `before` where the schema has no `after`. */
  readonly columns: readonly Column[];
  /** The same for the same columns in the same order, across processes and versions of a connector. */
  readonly fingerprint: string;
  /** The envelope's own name, such as `server.inventory.orders.Envelope`. */
  readonly name: string | null;
}

/** A node of a Connect schema; what a foreign text holds is only known after {@link isNode}. */
interface SchemaNode {
  readonly type?: unknown;
  readonly name?: unknown;
  readonly field?: unknown;
  readonly optional?: unknown;
  readonly fields?: unknown;
  readonly parameters?: unknown;
}

interface Typed {
  readonly type: ColumnType;
  readonly from?: Encoding;
}

const PRECISION_MAX = 38;

/** Null where the text is not the schema of an envelope: no struct, or neither `after` nor `before` with fields. */
export function readEnvelopeSchema(schemaJson: string): EnvelopeSchema | null {
  const envelope = parse(schemaJson);
  if (envelope === null) return null;
  const images = nodes(envelope.fields);
  const image =
    images.find((node) => node.field === 'after') ?? images.find((node) => node.field === 'before');
  if (image === undefined || image.type !== 'struct' || !Array.isArray(image.fields)) return null;
  const columns = nodes(image.fields).flatMap((node) =>
    typeof node.field === 'string' ? [columnOf(node.field, node)] : [],
  );
  return {
    columns,
    fingerprint: fingerprintOf(columns),
    name: typeof envelope.name === 'string' ? envelope.name : null,
  };
}

/** The same for equal lists of columns, and for no others. */
export function fingerprintOf(columns: readonly Column[]): string {
  const list = columns.map((column) => [
    column.name,
    column.type,
    column.from ?? null,
    column.nullable,
  ]);
  return createHash('sha256').update(JSON.stringify(list)).digest('hex').slice(0, 16);
}

function columnOf(name: string, node: SchemaNode): Column {
  return { name, ...typeOf(node), nullable: node.optional === true };
}

const BASE64: Typed = { type: 'binary', from: 'base64' };

/** Connect's types. Nested values travel as JSON text. */
const PRIMITIVES: Readonly<Record<string, Typed>> = {
  boolean: { type: 'boolean' },
  int8: { type: 'int' },
  int16: { type: 'int' },
  int32: { type: 'int' },
  int64: { type: 'long' },
  float: { type: 'float' },
  float32: { type: 'float' },
  double: { type: 'double' },
  float64: { type: 'double' },
  string: { type: 'string' },
  bytes: BASE64,
};

/**
 * Logical names that change the meaning of their Connect type, by `type name` (Debezium, Data Types; Kafka Connect,
 * `org.apache.kafka.connect.data`). A name that is not listed leaves its type as it is: Year, Json, Xml, Enum, EnumSet,
 * Ltree, Interval, MicroDuration, Bits. VariableScaleDecimal, the geometries and the structured times are structs and
 * stay JSON text, since each of their values may have another scale or form.
 */
const LOGICAL: Readonly<Record<string, Typed>> = {
  'int32 io.debezium.time.Date': { type: 'date', from: 'epoch_day' },
  'int32 org.apache.kafka.connect.data.Date': { type: 'date', from: 'epoch_day' },
  'string io.debezium.time.IsoDate': { type: 'date', from: 'iso' },
  'int32 io.debezium.time.Time': { type: 'time', from: 'ms_of_day' },
  'int32 org.apache.kafka.connect.data.Time': { type: 'time', from: 'ms_of_day' },
  'int64 io.debezium.time.MicroTime': { type: 'time', from: 'us_of_day' },
  'int64 io.debezium.time.NanoTime': { type: 'time', from: 'ns_of_day' },
  'string io.debezium.time.IsoTime': { type: 'time', from: 'iso' },
  'string io.debezium.time.ZonedTime': { type: 'time', from: 'iso' },
  'int64 io.debezium.time.Timestamp': { type: 'timestamp', from: 'epoch_ms' },
  'int64 org.apache.kafka.connect.data.Timestamp': { type: 'timestamp', from: 'epoch_ms' },
  'int64 io.debezium.time.MicroTimestamp': { type: 'timestamp', from: 'epoch_us' },
  'int64 io.debezium.time.NanoTimestamp': { type: 'timestamp', from: 'epoch_ns' },
  'string io.debezium.time.IsoTimestamp': { type: 'timestamp', from: 'iso' },
  'string io.debezium.time.ZonedTimestamp': { type: 'timestamptz', from: 'iso' },
  'string io.debezium.data.Uuid': { type: 'uuid' },
};

function typeOf(node: SchemaNode): Typed {
  const type = String(node.type);
  if (type === 'bytes' && node.name === 'org.apache.kafka.connect.data.Decimal')
    return decimalType(node.parameters);
  const logical =
    typeof node.name === 'string' ? lookUp(LOGICAL, `${type} ${node.name}`) : undefined;
  return logical ?? lookUp(PRIMITIVES, type) ?? { type: 'string' };
}

// A source may allow more digits than the lake's 38: then each value that fits is kept, and any other is a data error.
// Bytes of a scale that no decimal column has stay bytes.
function decimalType(parameters: unknown): Typed {
  const known = isNode(parameters) ? (parameters as Readonly<Record<string, unknown>>) : {};
  const scale = wholeNumber(known['scale']);
  if (scale === null || scale > PRECISION_MAX) return BASE64;
  const precision = wholeNumber(known['connect.decimal.precision']) ?? PRECISION_MAX;
  return {
    type: `decimal(${Math.min(Math.max(precision, scale, 1), PRECISION_MAX)},${scale})`,
    from: 'base64',
  };
}

function wholeNumber(value: unknown): number | null {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && /^\d{1,4}$/.test(text) ? Number(text) : null;
}

function parse(json: string): SchemaNode | null {
  try {
    const value: unknown = JSON.parse(json);
    return isNode(value) ? value : null;
  } catch {
    // Broken JSON, or nesting that exhausts the stack: in either case not a schema.
    return null;
  }
}

function nodes(value: unknown): readonly SchemaNode[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}

function isNode(value: unknown): value is SchemaNode {
  return typeof value === 'object' && value !== null;
}

function lookUp(table: Readonly<Record<string, Typed>>, key: string): Typed | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
