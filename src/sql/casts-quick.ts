/**
 * The usual forms of values, as small expressions: what most feeds consist of. A quick cast never takes a text for another
 * value than `castText` does, but it may give up on one that `castText` takes; such rows are cast again in full.
 */
import { decimalOf, type ColumnType, type Encoding } from '../model/types.ts';
import type { Cast } from './casts.ts';
import { sql, type Sql } from './sql.ts';

export interface QuickCast {
  /** NULL where the text is NULL or in no usual form. */
  readonly value: Sql;
  /** BOOLEAN: the text may not be the original one; null: it is, wherever there is a value. */
  readonly inexact: Sql | null;
}

/** A longer text of a decimal may have passed through a double. */
const EXACT_LENGTH = 16;
const WIDE_DIGITS = 18;

/** @param full what `castText` makes of the text; it stands in where there is no quicker way */
export function quickText(
  text: Sql,
  type: ColumnType,
  from: Encoding | undefined,
  full: Cast,
): QuickCast {
  const decimal = decimalOf(type);
  if (decimal !== null && from === undefined && decimal.precision <= WIDE_DIGITS)
    return quickDecimal(text, decimal.precision, decimal.scale);
  if (type === 'int' || type === 'long')
    return {
      value: wholeOf(text, type === 'int' ? 'INTEGER' : 'BIGINT', (whole) => whole),
      inexact: null,
    };
  if (type === 'boolean')
    return {
      value: sql`(CASE WHEN ${text} = 'true' THEN TRUE WHEN ${text} = 'false' THEN FALSE END)`,
      inexact: null,
    };
  if (type === 'string') return { value: text, inexact: mayBeNumber(text) };
  if (type === 'timestamptz' && from === 'epoch_ms')
    return { value: wholeOf(text, 'BIGINT', instantOf), inexact: null };
  return { value: full.value, inexact: full.inexact };
}

/** Whole cents as a `decimal(18,2)` of hundreds. */
export function quickCents(text: Sql): QuickCast {
  return {
    value: wholeOf(
      text,
      'BIGINT',
      (cents) =>
        sql`TRY_CAST(TRY_CAST(${cents} AS DECIMAL(18,0)) * CAST('0.01' AS DECIMAL(2,2)) AS DECIMAL(18,2))`,
    ),
    inexact: null,
  };
}

// The engine's own cast also takes 1.5, 0x10 and blanks: only what prints as it was read is taken from it.
function wholeOf(text: Sql, type: 'INTEGER' | 'BIGINT', body: (whole: Sql) => Sql): Sql {
  const whole =
    type === 'INTEGER' ? sql`TRY_CAST(${text} AS INTEGER)` : sql`TRY_CAST(${text} AS BIGINT)`;
  return sql`(CASE WHEN CAST(${whole} AS VARCHAR) = ${text} THEN ${body(whole)} END)`;
}

// Years 0001 to 9999.
const instantOf = (ms: Sql): Sql =>
  sql`CASE WHEN ${ms} BETWEEN -62135596800000 AND 253402300799999 THEN make_timestamptz(${ms} * 1000) END`;

function quickDecimal(text: Sql, precision: number, scale: number): QuickCast {
  const whole = precision === scale ? '0' : `[0-9]{1,${precision - scale}}`;
  const pattern = scale === 0 ? `-?${whole}` : String.raw`-?${whole}(?:\.[0-9]{1,${scale}})?`;
  const isUsual = sql`strlen(${text}) <= ${EXACT_LENGTH} AND regexp_full_match(${text}, ${pattern})`;
  return {
    value: sql`(CASE WHEN ${isUsual} THEN TRY_CAST(${text} AS DECIMAL(${precision},${scale})) END)`,
    inexact: null,
  };
}

// A real of the feed, or nested JSON, which may hold one, or a word that is no JSON unless it stood in quotes.
function mayBeNumber(text: Sql): Sql {
  const first = sql`ascii(${text})`;
  const pattern = String.raw`^(?:-?[0-9]+(?:\.|e)|\[|\{|-?Infinity$|NaN$)`;
  return sql`(CASE WHEN ${first} < 58 OR ${first} = 73 OR ${first} = 78 OR ${first} = 91 OR ${first} = 123 THEN regexp_matches(${text}, ${pattern}) ELSE FALSE END)`;
}
