import type { Encoding } from '../model/types.ts';
import { ofWhole } from './casts-number.ts';
import type { TypedCast } from './casts-shape.ts';
import { raw, sql, type Sql } from './sql.ts';

const DAY = String.raw`(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])-[01][0-9]-[0-3][0-9]`;
/** Digits beyond the microsecond may only be zeros. */
const CLOCK = String.raw`(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6}0{0,3})?`;
const ZONE = '(?:Z|[+-](?:0[0-9]|1[0-8])(?::[0-5][0-9])?)';

const DATE_CODE = sql`'E_VALUE_DATE'`;
const TIME_CODE = sql`'E_VALUE_TIME'`;
const TIMESTAMP_CODE = sql`'E_VALUE_TIMESTAMP'`;

/** `2024-02-29`; with `iso` also `2024-02-29Z` (`io.debezium.time.IsoDate`). */
export function castDate(text: Sql, from: Encoding | undefined): TypedCast {
  const day =
    from === 'iso'
      ? sql`CASE WHEN ends_with(${text}, 'Z') THEN left(${text}, -1) ELSE ${text} END`
      : text;
  const guess = sql`TRY_CAST(${day} AS DATE)`;
  // What prints as it was read is a date; ten bytes keep out the years after 9999.
  return {
    value: sql`(CASE WHEN strlen(${day}) = 10 THEN CASE WHEN CAST(${guess} AS VARCHAR) = ${day} THEN ${guess} END END)`,
    code: DATE_CODE,
  };
}

/** Days since 1970-01-01. */
export function castDayCount(text: Sql): TypedCast {
  const value = ofWhole(
    text,
    'int',
    (days) =>
      sql`CASE WHEN ${days} BETWEEN -719162 AND 2932896 THEN DATE '1970-01-01' + ${days} END`,
  );
  return { value, code: DATE_CODE };
}

/** `10:15:30.5`; with `iso` also with a zone, taken to UTC (`io.debezium.time.ZonedTime`). */
export function castTime(text: Sql, from: Encoding | undefined): TypedCast {
  const local = sql`WHEN regexp_full_match(${text}, ${CLOCK}) THEN TRY_CAST(${text} AS TIME)`;
  const instant = sql`TRY_CAST('1970-01-02 ' || ${text} AS TIMESTAMPTZ)`;
  const zoned = sql`WHEN regexp_full_match(${text}, ${CLOCK + ZONE}) THEN CAST(make_timestamp(epoch_us(${instant})) AS TIME)`;
  return { value: sql`(CASE ${local} ${from === 'iso' ? zoned : raw('')} END)`, code: TIME_CODE };
}

/** A count of units since midnight, within one day. */
export function castTimeCount(text: Sql, from: Encoding): TypedCast {
  const value = ofMicros(
    text,
    from,
    MICROS_OF_DAY,
    (us) => sql`CAST(make_timestamp(${us}) AS TIME)`,
  );
  return { value, code: TIME_CODE };
}

/**
 * ISO 8601 with `T` or a blank. A `timestamptz` names its zone, `Z` or an offset; a `timestamp` has none, but for the
 * `Z` of `iso` (`io.debezium.time.IsoTimestamp`), which says nothing there.
 */
export function castTimestamp(
  text: Sql,
  type: 'timestamp' | 'timestamptz',
  from: Encoding | undefined,
): TypedCast {
  const suffix = type === 'timestamptz' ? ZONE : from === 'iso' ? 'Z?' : '';
  const guess = sql`TRY_CAST(${text} AS ${raw(type)})`;
  const first = sql`TIMESTAMPTZ '0001-01-01 00:00:00+00'`;
  const last = sql`TIMESTAMPTZ '9999-12-31 23:59:59.999999+00'`;
  // An offset may lead out of the years that a text without one can name.
  const inYears = sql`CASE WHEN ends_with(${text}, 'Z') THEN ${guess} WHEN ${guess} BETWEEN ${first} AND ${last} THEN ${guess} END`;
  const value = type === 'timestamp' ? guess : inYears;
  return {
    value: sql`(CASE WHEN regexp_full_match(${text}, ${`${DAY}[T ]${CLOCK}${suffix}`}) THEN ${value} END)`,
    code: TIMESTAMP_CODE,
  };
}

/** A count of units since 1970-01-01T00:00:00, in UTC for a `timestamptz`. */
export function castEpoch(text: Sql, type: 'timestamp' | 'timestamptz', from: Encoding): TypedCast {
  const make = raw(type === 'timestamp' ? 'make_timestamp' : 'make_timestamptz');
  return {
    value: ofMicros(text, from, MICROS_OF_YEARS, (us) => sql`${make}(${us})`),
    code: TIMESTAMP_CODE,
  };
}

/** Nanoseconds are missing: there is no whole number of microseconds in one. */
const UNIT_US: Partial<Record<Encoding, bigint>> = {
  epoch_s: 1_000_000n,
  epoch_ms: 1_000n,
  epoch_us: 1n,
  ms_of_day: 1_000n,
  us_of_day: 1n,
};
const LONG_MAX = 2n ** 63n - 1n;
const MICROS_OF_DAY = [0n, 86_399_999_999n] as const;
const MICROS_OF_YEARS = [-62_135_596_800_000_000n, 253_402_300_799_999_999n] as const;

// `body` over the microseconds that a whole number of units makes, where these lie within both bounds.
function ofMicros(
  text: Sql,
  from: Encoding,
  [first, last]: readonly [bigint, bigint],
  body: (us: Sql) => Sql,
): Sql {
  const unitUs = UNIT_US[from];
  return ofWhole(text, 'long', (count) => {
    if (unitUs === undefined) {
      const inUs = body(sql`${count} // 1000`);
      // All nanoseconds that a long can hold lie within the years 1677 to 2262.
      const inDay = sql`CASE WHEN ${count} BETWEEN ${first} AND ${last * 1000n} THEN ${inUs} END`;
      return sql`CASE WHEN ${count} % 1000 = 0 THEN ${last < LONG_MAX / 1000n ? inDay : inUs} END`;
    }
    return sql`CASE WHEN ${count} BETWEEN ${first / unitUs} AND ${last / unitUs} THEN ${body(sql`${count} * ${unitUs}`)} END`;
  });
}
