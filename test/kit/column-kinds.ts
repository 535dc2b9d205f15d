/**
 * Every column type in every encoding that a feed can have, with values by chance and at the edges. A value is kept
 * as one canonical text, made here with BigInt and strings only: numbers in full digits at their scale, instants and
 * times of day as microseconds, bytes as hex. The engine under test has no part in it.
 */
import type { ColumnType, Encoding } from '../../src/model/types.ts';
import type { Cell } from '../../src/sql/database.ts';
import { raw, sql, type Sql } from '../../src/sql/sql.ts';
import type { Rng } from './rng.ts';

export interface ColumnKind {
  readonly type: ColumnType;
  readonly from?: Encoding;
  /** Type, name and parameters of the column in a schema part; absent: no schema part can say it. */
  readonly connect?: {
    readonly type: string;
    readonly name?: string;
    readonly parameters?: Readonly<Record<string, string>>;
  };
  /** Whether it can be a column of a key. */
  readonly isKey: boolean;
  value(random: Rng): KindValue;
}

export interface KindValue {
  /** JSON text, as it stands in the feed. */
  readonly json: string;
  readonly canonical: string;
}

const pad = (value: number | bigint, digits: number): string => String(value).padStart(digits, '0');
const text = (json: string, canonical: string): KindValue => ({
  json: JSON.stringify(json),
  canonical,
});
const plain = (digits: string): KindValue => ({ json: digits, canonical: digits });

/** A number of up to `bits` bits, often one of `edges`. */
function wholeNumber(random: Rng, bits: number, edges: readonly bigint[]): bigint {
  if (random.chance(0.4)) return random.pick(edges);
  const size = random.between(1, bits);
  let value = 0n;
  for (let done = 0; done < size; done += 30)
    value = (value << 30n) | BigInt(random.between(0, 2 ** 30 - 1));
  value &= (1n << BigInt(size)) - 1n;
  return random.chance(0.5) ? -value : value;
}

function wholeKind(type: 'int' | 'long', bits: bigint): ColumnKind {
  const [min, max] = [-(1n << (bits - 1n)), (1n << (bits - 1n)) - 1n];
  const edges = [
    min,
    max,
    0n,
    -1n,
    ...(type === 'long' ? [2n ** 53n + 1n, -(2n ** 53n) - 1n] : []),
  ];
  return {
    type,
    connect: { type: type === 'int' ? 'int32' : 'int64' },
    isKey: true,
    value: (random) => plain(String(wholeNumber(random, Number(bits) - 1, edges))),
  };
}

function scaled(unscaled: bigint, scale: number): string {
  const digits = pad(unscaled < 0n ? -unscaled : unscaled, scale + 1);
  const point = digits.length - scale;
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, point)}${scale === 0 ? '' : `.${digits.slice(point)}`}`;
}

function unscaledDecimal(random: Rng, precision: number): bigint {
  const max = 10n ** BigInt(precision) - 1n;
  return wholeNumber(random, 126, [max, -max, 0n, 1n, -1n]) % (max + 1n);
}

/** Two's complement, big-endian, as short as can be: what Kafka Connect makes of a decimal. */
function twosComplement(value: bigint): Buffer {
  for (let bytes = 1; ; bytes += 1) {
    const bits = BigInt(bytes * 8);
    if (value < -(1n << (bits - 1n)) || value >= 1n << (bits - 1n)) continue;
    return Buffer.from((value & ((1n << bits) - 1n)).toString(16).padStart(bytes * 2, '0'), 'hex');
  }
}

function decimalKind(
  precision: number,
  scale: number,
  form: 'number' | 'text' | 'base64',
): ColumnKind {
  const parameters = { scale: String(scale), 'connect.decimal.precision': String(precision) };
  return {
    type: `decimal(${precision},${scale})`,
    isKey: form !== 'base64',
    ...(form === 'base64'
      ? {
          from: 'base64',
          connect: { type: 'bytes', name: 'org.apache.kafka.connect.data.Decimal', parameters },
        }
      : {}),
    value: (random) => {
      const unscaled = unscaledDecimal(random, precision);
      const canonical = scaled(unscaled, scale);
      if (form === 'base64') return text(twosComplement(unscaled).toString('base64'), canonical);
      return form === 'text' ? text(canonical, canonical) : { json: canonical, canonical };
    },
  };
}

const numberText = (value: number): string => (Object.is(value, -0) ? '-0' : String(value));

function floatingKind(type: 'float' | 'double'): ColumnKind {
  const narrow = type === 'float' ? Math.fround : (value: number): number => value;
  const edges =
    type === 'float'
      ? [3.4028234663852886e38, 1e-45, 16_777_216]
      : [Number.MAX_VALUE, Number.MIN_VALUE, 2 ** 53, 0.1 + 0.2];
  return {
    type,
    connect: { type },
    isKey: false,
    value: (random) => {
      const size = random.chance(0.3)
        ? random.pick(edges)
        : random.next() * 10 ** random.between(-10, 10);
      const value = narrow(random.pick([size, -size, 0, Math.round(size)]));
      return { json: JSON.stringify(value), canonical: numberText(value) };
    },
  };
}

const DAY_MS = 86_400_000;
const DAYS = [-719_162, 2_932_896] as const; // 0001-01-01, 9999-12-31

const isoDay = (day: number): string =>
  new Date(day * DAY_MS).toISOString().replace(/T.*/, '').padStart(10, '0');

function day(random: Rng): number {
  return random.chance(0.4)
    ? random.pick([...DAYS, 0, -1, 11_016, 19_782])
    : random.between(-30_000, 60_000);
}

function microsOfDay(random: Rng): bigint {
  return random.chance(0.3)
    ? random.pick([0n, 86_399_999_999n, 1n])
    : BigInt(random.between(0, 86_399)) * 1_000_000n + BigInt(random.between(0, 999_999));
}

function isoTime(micros: bigint): string {
  const seconds = micros / 1_000_000n;
  return `${pad(seconds / 3600n, 2)}:${pad((seconds / 60n) % 60n, 2)}:${pad(seconds % 60n, 2)}.${pad(micros % 1_000_000n, 6)}`;
}

function dateKind(form: 'epoch_day' | 'text'): ColumnKind {
  return {
    type: 'date',
    isKey: true,
    ...(form === 'epoch_day'
      ? { from: form, connect: { type: 'int32', name: 'io.debezium.time.Date' } }
      : {}),
    value: (random) => {
      const at = day(random);
      return form === 'text'
        ? text(isoDay(at), isoDay(at))
        : { json: String(at), canonical: isoDay(at) };
    },
  };
}

function timeKind(form: 'us_of_day' | 'text'): ColumnKind {
  return {
    type: 'time',
    isKey: false,
    ...(form === 'us_of_day'
      ? { from: form, connect: { type: 'int64', name: 'io.debezium.time.MicroTime' } }
      : {}),
    value: (random) => {
      const micros = microsOfDay(random);
      return form === 'text' ? text(isoTime(micros), String(micros)) : plain(String(micros));
    },
  };
}

type InstantForm = 'epoch_ms' | 'epoch_us' | 'text' | 'iso';

function instantKind(type: 'timestamp' | 'timestamptz', form: InstantForm): ColumnKind {
  const zoned = type === 'timestamptz';
  const connect = {
    epoch_ms: { type: 'int64', name: 'io.debezium.time.Timestamp' },
    epoch_us: { type: 'int64', name: 'io.debezium.time.MicroTimestamp' },
    text: null,
    iso: { type: 'string', name: 'io.debezium.time.ZonedTimestamp' },
  }[form];
  return {
    type,
    isKey: true,
    ...(form === 'text' ? {} : { from: form }),
    // A schema part calls an instant without a zone `Timestamp`, one with a zone `ZonedTimestamp`.
    ...(connect !== null && zoned === (form === 'iso') ? { connect } : {}),
    value: (random) => {
      const micros =
        BigInt(day(random)) * 86_400_000_000n +
        (form === 'epoch_ms' ? (microsOfDay(random) / 1000n) * 1000n : microsOfDay(random));
      if (form === 'epoch_us') return plain(String(micros));
      if (form === 'epoch_ms') return { json: String(micros / 1000n), canonical: String(micros) };
      const ofDay = ((micros % 86_400_000_000n) + 86_400_000_000n) % 86_400_000_000n;
      const iso = `${isoDay(Number((micros - ofDay) / 86_400_000_000n))}T${isoTime(ofDay)}`;
      return text(zoned ? `${iso}Z` : iso, String(micros));
    },
  };
}

const ODD_TEXTS = [
  '',
  ' ',
  'null',
  '007',
  '1.0',
  '1e5',
  '-0',
  'NaN',
  'true',
  "it's",
  'a"b\\c',
  'a,b',
  'tab\there',
  'two\nlines',
  '☃ ü 漢字 😀',
  '\u2028',
  '__proto__',
  'x'.repeat(300),
];

const STRING: ColumnKind = {
  type: 'string',
  connect: { type: 'string' },
  isKey: true,
  value: (random) => {
    const value = random.chance(0.6)
      ? random.pick(ODD_TEXTS)
      : Array.from({ length: random.between(1, 8) }, () =>
          String.fromCodePoint(random.between(32, 0x7ff)),
        ).join('');
    return text(value, value);
  },
};

/** A JSON value that is no string becomes its text in a string column. */
const TEXT_OF_JSON: ColumnKind = {
  type: 'string',
  isKey: false,
  value: (random) => {
    const json = random.pick([
      '1',
      '1.50',
      '-1.0',
      '12345678901234567890123',
      'true',
      'false',
      '{"a":[1,"x",null]}',
      '[]',
      '0.1234567890123456789',
    ]);
    return { json, canonical: json };
  },
};

const hex = (random: Rng, bytes: number): string =>
  Array.from({ length: bytes }, () => random.between(0, 255).toString(16).padStart(2, '0')).join(
    '',
  );

const UUID: ColumnKind = {
  type: 'uuid',
  connect: { type: 'string', name: 'io.debezium.data.Uuid' },
  isKey: true,
  value: (random) => {
    const digits = random.chance(0.2) ? random.pick(['0', 'f']).repeat(32) : hex(random, 16);
    const value = digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    return text(value, value);
  },
};

function bytesKind(type: 'binary' | 'fixed[5]'): ColumnKind {
  return {
    type,
    from: 'base64',
    ...(type === 'binary' ? { connect: { type: 'bytes' } } : {}),
    isKey: type === 'binary',
    value: (random) => {
      const digits = hex(random, type === 'binary' ? random.between(0, 9) : 5);
      return text(Buffer.from(digits, 'hex').toString('base64'), digits);
    },
  };
}

const BOOLEAN: ColumnKind = {
  type: 'boolean',
  connect: { type: 'boolean' },
  isKey: true,
  value: (random) => plain(String(random.chance(0.5))),
};

export const KINDS: readonly ColumnKind[] = [
  wholeKind('int', 32n),
  wholeKind('long', 64n),
  BOOLEAN,
  floatingKind('float'),
  floatingKind('double'),
  decimalKind(9, 2, 'number'),
  decimalKind(18, 6, 'text'),
  decimalKind(38, 10, 'number'),
  decimalKind(38, 0, 'number'),
  decimalKind(38, 10, 'base64'),
  decimalKind(12, 3, 'base64'),
  dateKind('epoch_day'),
  dateKind('text'),
  timeKind('us_of_day'),
  timeKind('text'),
  instantKind('timestamp', 'epoch_ms'),
  instantKind('timestamp', 'epoch_us'),
  instantKind('timestamp', 'text'),
  instantKind('timestamptz', 'epoch_ms'),
  instantKind('timestamptz', 'iso'),
  STRING,
  TEXT_OF_JSON,
  UUID,
  bytesKind('binary'),
  bytesKind('fixed[5]'),
];

/** VARCHAR, or a number for `float` and `double`: what {@link canonicalCell} makes canonical. */
export function canonicalSql(value: Sql, type: ColumnType): Sql {
  if (type === 'float' || type === 'double') return value;
  if (type.startsWith('time')) return sql`epoch_us(${value})::VARCHAR`;
  if (type === 'binary' || type.startsWith('fixed')) return sql`lower(hex(${value}))`;
  return sql`${value}::${raw('VARCHAR')}`;
}

export function canonicalCell(cell: Cell | undefined): string | null {
  if (cell === null || cell === undefined) return null;
  return typeof cell === 'number' ? numberText(cell) : String(cell);
}

/** The canonical text of a value of an event: decimals, instants, times and bytes are JSON strings there. */
export function canonicalEventText(value: string, type: ColumnType): string {
  if (type === 'float') return numberText(Math.fround(Number(value)));
  if (type === 'double') return numberText(Number(value));
  if (type === 'binary' || type.startsWith('fixed'))
    return Buffer.from(value, 'base64').toString('hex');
  if (!type.startsWith('time')) return value;
  const [, dayText, clock = '', fraction = ''] =
    /^(?:(\d{4}-\d\d-\d\d)T)?(\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?Z?$/.exec(value) ?? [];
  const [hours = 0, minutes = 0, seconds = 0] = clock.split(':').map(Number);
  const days = dayText === undefined ? 0n : BigInt(Date.parse(`${dayText}T00:00:00Z`) / DAY_MS);
  return String(
    days * 86_400_000_000n +
      BigInt((hours * 60 + minutes) * 60 + seconds) * 1_000_000n +
      BigInt(fraction.padEnd(6, '0')),
  );
}
