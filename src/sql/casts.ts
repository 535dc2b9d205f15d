/**
 * The one table of casts: text, as it was landed from a feed, to a value of a column type. Every source, conversion
 * and replay goes through it, so that one text never becomes two values.
 *
 * The text of a JSON value is: null → NULL, a string → its characters, a number → its digits, true and false → `true`
 * and `false`, an object or array → JSON text. A text denotes a value of a type exactly, or it is a data error: nothing
 * is rounded, cut or guessed. Numbers follow JSON's grammar, leading zeros allowed; instants follow ISO 8601; years
 * are 0001 to 9999.
 *
 * There is no AND and no OR in a cast: the engine's planner compares each with each, which took 3 s of 1,000 columns.
 */
import { PipelineError, assert } from '../model/errors.ts';
import { decimalOf, type ColumnType, type Encoding } from '../model/types.ts';
import { castBase64Decimal, castBinary } from './casts-bytes.ts';
import { castDecimal, castFloating, castInteger } from './casts-number.ts';
import {
  castDate,
  castDayCount,
  castEpoch,
  castTime,
  castTimeCount,
  castTimestamp,
} from './casts-time.ts';
import { isInexact } from './casts-inexact.ts';
import type { TypedCast } from './casts-shape.ts';
import { sql, type Sql } from './sql.ts';

export { duckdbType } from './casts-shape.ts';

/** How one text is cast. The text is spliced in many times, so it should be a plain column. */
export interface Cast extends TypedCast {
  /** TRUE where the text is not NULL and denotes no value of the type; never NULL. Always `isBad(text, value)`. */
  readonly bad: Sql;
  /** {@link isInexact} over the same text; null where the type has no such case. */
  readonly inexact: Sql | null;
  readonly type: ColumnType;
}

/** {@link Cast.bad} over a value that is already at hand, which costs next to nothing. */
export function isBad(text: Sql, value: Sql): Sql {
  return sql`((${value} IS NULL) <> (${text} IS NULL))`;
}

const EPOCHS = ['epoch_s', 'epoch_ms', 'epoch_us', 'epoch_ns'] as const;
const ENCODINGS: Readonly<Record<string, readonly Encoding[]>> = {
  date: ['iso', 'epoch_day'],
  time: ['iso', 'ms_of_day', 'us_of_day', 'ns_of_day'],
  timestamp: ['iso', ...EPOCHS],
  timestamptz: ['iso', ...EPOCHS],
  decimal: ['base64'],
  binary: ['base64'],
  fixed: ['base64'],
};

/** The encodings that a column of the type may be given as `from`. Without one: plain text, or base64 for bytes. */
export function encodingsOf(type: ColumnType): readonly Encoding[] {
  return ENCODINGS[type.replace(/[([].*$/, '')] ?? [];
}

/** @throws E_CONFIG_VALUE where the type cannot have that encoding ({@link encodingsOf}). */
export function castText(text: Sql, type: ColumnType, from?: Encoding): Cast {
  if (from !== undefined && !encodingsOf(type).includes(from)) {
    throw new PipelineError(
      'E_CONFIG_VALUE',
      `A column of type ${type} cannot be read from ${from}.`,
    );
  }
  return completeCast(text, typedCast(text, type, from), type, from);
}

/** @throws nothing; adds to a cast what follows from its value. */
export function completeCast(text: Sql, cast: TypedCast, type: ColumnType, from?: Encoding): Cast {
  return {
    ...cast,
    bad: isBad(text, cast.value),
    inexact: isInexact(text, cast.value, type, from),
    type,
  };
}

function typedCast(text: Sql, type: ColumnType, from: Encoding | undefined): TypedCast {
  const decimal = decimalOf(type);
  if (decimal !== null) {
    const cast = from === 'base64' ? castBase64Decimal : castDecimal;
    return cast(text, decimal.precision, decimal.scale);
  }
  switch (type) {
    case 'boolean':
      return castBoolean(text, PLAIN_WORDS);
    case 'int':
    case 'long':
      return castInteger(text, type);
    case 'float':
    case 'double':
      return castFloating(text, type);
    case 'date':
      return from === 'epoch_day' ? castDayCount(text) : castDate(text, from);
    case 'time':
      return from === undefined || from === 'iso'
        ? castTime(text, from)
        : castTimeCount(text, from);
    case 'timestamp':
    case 'timestamptz':
      return from === undefined || from === 'iso'
        ? castTimestamp(text, type, from)
        : castEpoch(text, type, from);
    case 'string':
      return { value: text, code: sql`'E_VALUE_BINARY'` };
    case 'uuid':
      return castUuid(text);
    default:
      return castBinary(text, fixedLength(type));
  }
}

const PLAIN_WORDS = { yes: 'true|t|1', no: 'false|f|0' } as const;
const ALL_WORDS = { yes: 'true|t|1|yes|y|on', no: 'false|f|0|no|n|off' } as const;

/** The words of `to_boolean`, in any case: 1, true, yes, t, y, on and 0, false, no, f, n, off. */
export function castBooleanWords(text: Sql): Cast {
  return completeCast(text, castBoolean(text, ALL_WORDS), 'boolean');
}

// Patterns, because the engine turns longer IN lists into joins.
function castBoolean(text: Sql, words: { readonly yes: string; readonly no: string }): TypedCast {
  const isWord = (pattern: string): Sql => sql`regexp_full_match(${text}, ${`(?i)${pattern}`})`;
  const other = sql`CASE WHEN ${isWord(words.yes)} THEN TRUE WHEN ${isWord(words.no)} THEN FALSE END`;
  return {
    value: sql`(CASE WHEN ${text} = 'true' THEN TRUE WHEN ${text} = 'false' THEN FALSE ELSE ${other} END)`,
    code: sql`'E_VALUE_BOOLEAN'`,
  };
}

const UUID = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';

function castUuid(text: Sql): TypedCast {
  return {
    value: sql`(CASE WHEN regexp_full_match(${text}, ${UUID}) THEN TRY_CAST(${text} AS UUID) END)`,
    code: sql`'E_VALUE_UUID'`,
  };
}

function fixedLength(type: ColumnType): number | null {
  const match = /^fixed\[(\d+)\]$/.exec(type);
  assert(match !== null || type === 'binary', `no cast for ${type}`);
  return match === null ? null : Number(match[1]);
}
