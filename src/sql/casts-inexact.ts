import { decimalOf, type ColumnType, type Encoding } from '../model/types.ts';
import { raw, sql, type Sql } from './sql.ts';

/**
 * TRUE where the engine's JSON reader, which passes reals through a double, may have altered a number before it was
 * landed as `text`, so that the line is to be read again exactly; never NULL. Null: cannot happen for the type.
 * `value` is what the text was cast to. A valid number that the reader altered is always either inexact or bad.
 */
export function isInexact(text: Sql, value: Sql, type: ColumnType, from?: Encoding): Sql | null {
  const decimal = decimalOf(type);
  if (decimal !== null)
    return from === 'base64' ? null : isInexactDecimal(text, decimal.precision, decimal.scale);
  if (type === 'string') return isInexactString(text);
  // A word for no finite number is JSON within quotes only, and the reader takes it without them too.
  if (type === 'float' || type === 'double') return sql`COALESCE(NOT isfinite(${value}), FALSE)`;
  if (type === 'long') return isInexactWhole(text, value, 1);
  return from === 'epoch_us' || from === 'epoch_ns'
    ? sql`COALESCE(${looksReal(text)}, FALSE)`
    : null;
}

/** A whole number may be altered only from 10^15 on, and then it looks like a real. `value` is its `unit`th part. */
export function isInexactWhole(text: Sql, value: Sql, unit: number): Sql {
  const exactMax = raw(String(999_999_999_999_999 / unit));
  // The value is looked at first: that costs a comparison, where the text costs two searches.
  return sql`CASE WHEN ${value} BETWEEN -${exactMax} AND ${exactMax} THEN FALSE ELSE COALESCE(${looksReal(text)}, FALSE) END`;
}

// The reader's reals have a point or a small e; a search for a letter costs a quarter of a pattern.
function looksReal(text: Sql): Sql {
  return sql`CASE WHEN contains(${text}, '.') THEN TRUE ELSE contains(${text}, 'e') END`;
}

// A double holds 15 digits of any decimal, and a number with at most `scale` digits after its point has more than 15
// only from 10^(15 - scale) on: below that the landed text of a valid number is the number.
function isInexactDecimal(text: Sql, precision: number, scale: number): Sql {
  const wholeDigits = Math.max(1, 16 - scale);
  const isLong = sql`regexp_matches(${text}, ${String.raw`^-?[0-9]{${wholeDigits},}\.`})`;
  const isLarge = sql`CASE WHEN strlen(${text}) >= ${wholeDigits + 2} THEN ${isLong} ELSE FALSE END`;
  // Exponents begin at 10^16 and below 10^-4.
  return precision - scale > 16 || scale > 19
    ? sql`CASE WHEN contains(${text}, 'e') THEN TRUE ELSE ${isLarge} END`
    : isLarge;
}

// What a real is landed as, and JSON text of the engine's own making, without blanks, that holds one.
const LANDED_REAL = String.raw`-?[0-9]+(?:\.[0-9]+(?:e[-+][0-9]+)?|e[-+][0-9]+)`;
const NESTED_REAL = String.raw`(?s)^(?:\[|[\[{].*[:,\[])(?:-?[0-9]+(?:\.[0-9]|e[-+])|-?Infinity|NaN)`;

// The reader prints a double's shortest form: a text in any other form was a string in the feed. It also takes NaN and
// Infinity, which are no JSON unless they stood in quotes. The first letter tells most texts from all of these.
function isInexactString(text: Sql): Sql {
  const isShortest = sql`COALESCE(CAST(TRY_CAST(${text} AS DOUBLE) AS VARCHAR) = ${text}, FALSE)`;
  const isReal = sql`CASE WHEN regexp_full_match(${text}, ${LANDED_REAL}) THEN ${isShortest} ELSE ${text} = '-Infinity' END`;
  const isNested = sql`regexp_matches(${text}, ${NESTED_REAL})`;
  const first = sql`ascii(${text})`;
  return sql`CASE WHEN ${first} < 58 THEN ${isReal} WHEN ${first} = 73 THEN ${text} = 'Infinity' WHEN ${first} = 78 THEN ${text} = 'NaN'
    WHEN ${first} = 91 THEN ${isNested} WHEN ${first} = 123 THEN ${isNested} ELSE FALSE END`;
}
