/** The type words and encodings of a `columns` block, and what people write instead of them. */
import type { ColumnType, Encoding } from '../model/types.ts';
import { decimalOf } from '../model/types.ts';
import { nearest } from './did-you-mean.ts';

/** As shown to a reader; `decimal` and `fixed` take figures. */
export const TYPE_WORDS = [
  'boolean',
  'int',
  'long',
  'float',
  'double',
  'decimal(18,2)',
  'date',
  'time',
  'timestamp',
  'timestamptz',
  'string',
  'uuid',
  'binary',
  'fixed[16]',
] as const;

export const ENCODINGS = [
  'epoch_s',
  'epoch_ms',
  'epoch_us',
  'epoch_ns',
  'epoch_day',
  'ms_of_day',
  'us_of_day',
  'ns_of_day',
  'iso',
  'base64',
] as const satisfies readonly Encoding[];

/** Words of SQL dialects and other formats for the same types. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  bigint: 'long',
  int2: 'int',
  int4: 'int',
  int8: 'long',
  int32: 'int',
  int64: 'long',
  integer: 'int',
  smallint: 'int',
  tinyint: 'int',
  real: 'float',
  numeric: 'decimal(18,2)',
  number: 'decimal(18,2)',
  decimal: 'decimal(18,2)',
  money: 'decimal(18,2)',
  text: 'string',
  varchar: 'string',
  char: 'string',
  json: 'string',
  jsonb: 'string',
  bytes: 'binary',
  bytea: 'binary',
  blob: 'binary',
  fixed: 'fixed[16]',
  datetime: 'timestamp',
  timestamp_tz: 'timestamptz',
  timestampz: 'timestamptz',
};

/** What the pattern alone can say; `typeProblem` says the rest. */
export const TYPE_PATTERN =
  /^(boolean|int|long|float|double|date|time|timestamp|timestamptz|string|uuid|binary|decimal\(\s*\d+\s*,\s*\d+\s*\)|fixed\[\s*\d+\s*\])$/u;

const FIXED = /^fixed\[\s*(\d+)\s*\]$/u;

/** The word without inner blanks. Only for words that match `TYPE_PATTERN`. */
export function normalType(word: string): ColumnType {
  return word.replaceAll(/\s/gu, '') as ColumnType;
}

/** Why the figures of a type word are not allowed; null when they are. Iceberg spec, Primitive Types. */
export function typeProblem(word: string): string | null {
  const decimal = decimalOf(word);
  if (decimal !== null) {
    if (decimal.precision < 1 || decimal.precision > 38)
      return 'a decimal has a precision of 1 to 38';
    if (decimal.scale > decimal.precision) return 'the scale of a decimal is at most its precision';
  }
  const fixed = FIXED.exec(word);
  if (fixed !== null && !(Number(fixed[1]) >= 1 && Number(fixed[1]) <= 2_147_483_647))
    return 'fixed[n] has a length of at least 1';
  return null;
}

/** The type word that was most likely meant. */
export function nearestType(word: string): string | undefined {
  const bare = word
    .toLowerCase()
    .replace(/[([<].*$/u, '')
    .trim();
  const figures = /\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)/u.exec(word);
  const other = OTHER_WORDS[bare];
  if (other?.startsWith('decimal') && figures !== null)
    return `decimal(${figures[1]},${figures[2] ?? '0'})`;
  return (
    other ??
    nearest(
      bare,
      TYPE_WORDS.map((known) => known.replace(/[([].*$/u, '')),
    )
  );
}

const BY_FAMILY: Readonly<Record<string, readonly Encoding[]>> = {
  date: ['epoch_day', 'iso'],
  time: ['ms_of_day', 'us_of_day', 'ns_of_day', 'iso'],
  timestamp: ['epoch_s', 'epoch_ms', 'epoch_us', 'epoch_ns', 'iso'],
  timestamptz: ['epoch_s', 'epoch_ms', 'epoch_us', 'epoch_ns', 'iso'],
  decimal: ['base64'],
  binary: ['base64'],
  fixed: ['base64'],
};

/** The encodings that `from` may name for a type; empty for types that have one JSON form only. */
export function encodingsOf(type: string): readonly Encoding[] {
  return BY_FAMILY[type.replace(/[([].*$/u, '')] ?? [];
}
