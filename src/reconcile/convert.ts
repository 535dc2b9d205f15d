/**
 * From the text of a feed to the value a column must hold, as SQL over a VARCHAR expression. NULL where the text
 * has no exact meaning in the type: nothing is rounded, cut or guessed. Written from the types' definitions, apart
 * from the casts that the engine uses.
 */
import type { Conversion } from '../model/spec.ts';
import { decimalOf, type ColumnType, type Encoding } from '../model/types.ts';
import { join, raw, sql, type Sql } from '../sql/sql.ts';

const TRUE_WORDS = ['true', '1', 't', 'yes', 'y', 'on'];
const FALSE_WORDS = ['false', '0', 'f', 'no', 'n', 'off'];
const WHOLE = '[+-]?[0-9]+([.]0*)?';

export interface Meaning {
  readonly from?: Encoding | undefined;
  /** One of the mapping's, whose result has the type that is asked for. */
  readonly conversion?: Conversion | undefined;
  /** Type of the source column, where it is declared. */
  readonly sourceType?: ColumnType | undefined;
}

/** The value of `text` in `type`. */
export function convert(text: Sql, type: ColumnType, meaning: Meaning = {}): Sql {
  const { from, conversion, sourceType } = meaning;
  if (conversion === undefined) return plain(text, type, from);
  if (conversion === 'to_string')
    return sourceType === undefined ? text : textOf(plain(text, sourceType, from), sourceType);
  if (conversion === 'epoch_ms_to_datetime')
    return instant(text, from?.startsWith('epoch_') === true ? from : 'epoch_ms', true);
  const packed = from === 'base64' && sourceType !== undefined && decimalOf(sourceType) !== null;
  const number = packed ? textOf(plain(text, sourceType, from), sourceType) : text;
  return conversion === 'cents_to_dollars'
    ? centsToDollars(number)
    : plain(number, type, undefined);
}

/** The shortest text that reads back as the same value. */
function textOf(value: Sql, type: ColumnType): Sql {
  const plainText = sql`CAST(${value} AS VARCHAR)`;
  if (type === 'string') return value;
  if (type === 'double' || type === 'float') {
    return sql`CASE WHEN isnan(${value}) THEN 'NaN' WHEN isinf(${value}) THEN CASE WHEN ${value} > 0 THEN 'Infinity' ELSE '-Infinity' END ELSE ${plainText} END`;
  }
  if (type === 'binary' || type.startsWith('fixed[')) return sql`to_base64(${value})`;
  const decimal = decimalOf(type);
  if (decimal !== null && decimal.precision === decimal.scale)
    return sql`regexp_replace(${plainText}, '^(-?)[.]', ${'\\10.'})`;
  return shown(value, type);
}

function plain(text: Sql, type: ColumnType, from: Encoding | undefined): Sql {
  const decimal = decimalOf(type);
  if (decimal !== null) {
    return from === 'base64' ? base64Decimal(text, decimal) : textDecimal(text, decimal);
  }
  switch (type) {
    case 'string':
      return text;
    case 'boolean':
      return sql`CASE WHEN lower(${text}) IN (${join(TRUE_WORDS)}) THEN TRUE
        WHEN lower(${text}) IN (${join(FALSE_WORDS)}) THEN FALSE END`;
    case 'int':
      return whole(text, raw('INTEGER'));
    case 'long':
      return whole(text, raw('BIGINT'));
    case 'float':
      return finite(text, raw('FLOAT'));
    case 'double':
      return finite(text, raw('DOUBLE'));
    case 'date':
      return date(text, from);
    case 'time':
      return timeOfDay(text, from);
    case 'timestamp':
      return instant(text, from, false);
    case 'timestamptz':
      return instant(text, from, true);
    case 'uuid':
      return sql`TRY_CAST(${text} AS UUID)`;
    default:
      return bytes(text, type);
  }
}

function whole(text: Sql, type: Sql): Sql {
  // Most numbers are written the shortest way, and for those no pattern needs to run.
  return sql`CASE WHEN CAST(TRY_CAST(${text} AS ${type}) AS VARCHAR) = ${text} THEN TRY_CAST(${text} AS ${type})
    WHEN regexp_full_match(${text}, ${WHOLE}) THEN TRY_CAST(split_part(${text}, '.', 1) AS ${type}) END`;
}

/** An overflow to infinity is refused; the words NaN and Infinity are values of the type. */
function finite(text: Sql, type: Sql): Sql {
  return sql`CASE WHEN NOT isinf(TRY_CAST(${text} AS ${type})) OR regexp_full_match(lower(${text}), '[+-]?inf(inity)?')
    THEN TRY_CAST(${text} AS ${type}) END`;
}

function textDecimal(text: Sql, decimal: { precision: number; scale: number }): Sql {
  const target = raw(`DECIMAL(${decimal.precision},${decimal.scale})`);
  const exact = `[+-]?[0-9]*([.][0-9]{0,${decimal.scale}}0*)?`;
  // A power of ten stands in the text only where at most 15 digits matter, and there doubles tell a rounding apart.
  return sql`CASE WHEN regexp_full_match(${text}, ${exact}) THEN TRY_CAST(${text} AS ${target})
    WHEN regexp_full_match(${text}, '[+-]?[0-9.]+[eE][+-]?[0-9]+')
      AND TRY_CAST(TRY_CAST(${text} AS ${target}) AS DOUBLE) = TRY_CAST(${text} AS DOUBLE) THEN TRY_CAST(${text} AS ${target}) END`;
}

/** Kafka Connect's Decimal: the unscaled value, big-endian, two's complement. */
function base64Decimal(text: Sql, decimal: { precision: number; scale: number }): Sql {
  const hex = sql`hex(TRY(from_base64(${text})))`;
  const digits = sql`list_transform(range(1, length(${hex}) + 1), lambda i: (strpos('0123456789ABCDEF', substr(${hex}, i, 1)) - 1)::HUGEINT)`;
  // Each digit of a negative number is counted from 15 downwards, so that no step leaves the range of HUGEINT.
  const negative = sql`substr(${hex}, 1, 1) >= '8'`;
  const magnitude = sql`list_reduce(list_transform(${digits}, lambda d: CASE WHEN ${negative} THEN 15 - d ELSE d END), lambda a, b: a * 16 + b)`;
  const unscaled = sql`TRY(CASE WHEN ${negative} THEN -1 - ${magnitude} ELSE ${magnitude} END)::VARCHAR`;
  return textDecimal(shifted(unscaled, decimal.scale), decimal);
}

/** The decimal point put `places` before the end of a whole number's text. */
function shifted(unscaled: Sql, places: number): Sql {
  if (places === 0) return unscaled;
  const digits = sql`lpad(ltrim(${unscaled}, '+-'), greatest(length(ltrim(${unscaled}, '+-')), ${places + 1})::INTEGER, '0')`;
  return sql`CASE WHEN ${unscaled} LIKE '-%' THEN '-' ELSE '' END || ${digits}[:-${places + 1}] || '.' || ${digits}[-${places}:]`;
}

function centsToDollars(text: Sql): Sql {
  const cents = sql`CASE WHEN regexp_full_match(${text}, ${WHOLE}) THEN split_part(${text}, '.', 1) END`;
  return sql`TRY_CAST(${shifted(sql`(${cents})`, 2)} AS DECIMAL(18,2))`;
}

function date(text: Sql, from: Encoding | undefined): Sql {
  if (from === 'epoch_day') return sql`TRY(DATE '1970-01-01' + ${whole(text, raw('INTEGER'))})`;
  return sql`CASE WHEN regexp_full_match(${text}, '[0-9]{4}-[0-9]{2}-[0-9]{2}') THEN TRY_CAST(${text} AS DATE) END`;
}

const PER_DAY_US = 86_400_000_000n;

function timeOfDay(text: Sql, from: Encoding | undefined): Sql {
  const us = from === undefined ? null : microseconds(text, from);
  if (us !== null) {
    return sql`CASE WHEN ${us} BETWEEN 0 AND ${PER_DAY_US - 1n} THEN CAST(TIMESTAMP '1970-01-01' + to_microseconds(${us}) AS TIME) END`;
  }
  return sql`CASE WHEN regexp_full_match(${text}, '([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6}0*)?)?') THEN TRY_CAST(${text} AS TIME) END`;
}

const MOMENT = '[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6}0*)?)?';
const OFFSET = '([zZ]|[+-][0-9]{2}(:?[0-9]{2})?)';

function instant(text: Sql, from: Encoding | undefined, zoned: boolean): Sql {
  const us = from === undefined ? null : microseconds(text, from);
  if (us !== null) return zoned ? sql`make_timestamptz(${us})` : sql`make_timestamp(${us})`;
  const type = raw(zoned ? 'TIMESTAMPTZ' : 'TIMESTAMP');
  return sql`CASE WHEN regexp_full_match(${text}, ${zoned ? MOMENT + OFFSET : MOMENT}) THEN TRY_CAST(${text} AS ${type}) END`;
}

/** Microseconds of an encoded number; NULL where the number is finer than that; null for encodings that are no number. */
function microseconds(text: Sql, from: Encoding): Sql | null {
  const n = whole(text, raw('BIGINT'));
  switch (from) {
    case 'epoch_s':
      return sql`TRY((${n}) * 1000000)`;
    case 'epoch_ms':
    case 'ms_of_day':
      return sql`TRY((${n}) * 1000)`;
    case 'epoch_us':
    case 'us_of_day':
      return sql`(${n})`;
    case 'epoch_ns':
    case 'ns_of_day':
      return sql`CASE WHEN (${n}) % 1000 = 0 THEN (${n}) // 1000 END`;
    case 'epoch_day':
      return sql`TRY((${n}) * ${PER_DAY_US})`;
    default:
      return null;
  }
}

function bytes(text: Sql, type: ColumnType): Sql {
  const value = sql`TRY(from_base64(${text}))`;
  const size = /^fixed\[(\d+)\]$/.exec(type)?.[1];
  return size === undefined
    ? value
    : sql`CASE WHEN octet_length(${value}) = ${Number(size)} THEN ${value} END`;
}

/** One text for equal values and different ones for different values, whatever the connection's settings. */
export function canonical(value: Sql, type: ColumnType): Sql {
  if (type === 'timestamp' || type === 'timestamptz')
    return sql`CAST(epoch_us(${value}) AS VARCHAR)`;
  if (type === 'binary' || type.startsWith('fixed[')) return sql`hex(${value})`;
  return type === 'string' ? value : sql`CAST(${value} AS VARCHAR)`;
}

/** As {@link canonical}, for reading. */
export function shown(value: Sql, type: ColumnType): Sql {
  if (type === 'timestamp') return sql`strftime(${value}, '%Y-%m-%dT%H:%M:%S.%f')`;
  if (type === 'timestamptz')
    return sql`strftime(${value} AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ')`;
  return canonical(value, type);
}

/** The column type of a DuckDB type name; null for types that no mirrored table has. */
export function columnTypeOf(engineType: string): ColumnType | null {
  const decimal = decimalOf(engineType.toLowerCase());
  if (decimal !== null) return `decimal(${decimal.precision},${decimal.scale})`;
  return ENGINE_TYPES[engineType] ?? null;
}

const ENGINE_TYPES: Readonly<Record<string, ColumnType>> = {
  BOOLEAN: 'boolean',
  INTEGER: 'int',
  BIGINT: 'long',
  FLOAT: 'float',
  DOUBLE: 'double',
  DATE: 'date',
  TIME: 'time',
  TIMESTAMP: 'timestamp',
  'TIMESTAMP WITH TIME ZONE': 'timestamptz',
  VARCHAR: 'string',
  UUID: 'uuid',
  BLOB: 'binary',
};
