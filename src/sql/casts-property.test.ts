import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decimalOf, type ColumnType, type Encoding } from '../model/types.ts';
import { createTextTable } from './append.ts';
import { castBooleanWords, castText, encodingsOf, type Cast } from './casts.ts';
import { convertText } from './casts-convert.ts';
import { Database } from './database.ts';
import { id, join, raw, sql, type Sql } from './sql.ts';

let db: Database;

beforeAll(async () => {
  db = await Database.open();
  await db.run(sql`SET TimeZone = 'America/Caracas'`);
});

afterAll(() => db[Symbol.asyncDispose]());

/** `print` of each value, where it has one; in one statement. */
async function values(
  cast: Cast,
  texts: readonly string[],
  print: (value: Sql) => Sql,
): Promise<(string | null)[]> {
  const rows = texts.map((text, i) => [text, String(i)]);
  await createTextTable(db, 'probe', ['text', 'nth'], rows);
  const got = await db.rows<{
    printed: string | null;
    bad: boolean;
  }>(sql`SELECT CAST(${print(raw('v'))} AS VARCHAR) AS printed, bad
    FROM (SELECT ${cast.value} AS v, ${cast.bad} AS bad, nth FROM probe) ORDER BY CAST(nth AS INTEGER)`);
  expect(got.filter((row) => row.bad !== (row.printed === null))).toEqual([]);
  return got.map((row) => row.printed);
}

const TEXT = id('text');
const RUNS = { numRuns: 12 } as const;
const many = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
  fc.array(arbitrary, { minLength: 300, maxLength: 600 });

const letters = (list: string): fc.Arbitrary<string> => fc.constantFrom(...list.split(''));
const digits = (max: number): fc.Arbitrary<string> =>
  fc.string({ unit: letters('00001234567899'), minLength: 1, maxLength: max });
const numberText = fc
  .tuple(
    fc.constantFrom('', '', '-'),
    digits(24),
    fc.option(digits(24)),
    fc.option(fc.tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), digits(2))),
  )
  .map(
    ([sign, whole, fraction, exponent]) =>
      `${sign}${whole}${fraction === null ? '' : `.${fraction}`}${exponent === null ? '' : exponent.join('')}`,
  );
const edge = fc.constantFrom(
  ...[7n, 15n, 31n, 32n, 53n, 63n, 64n, 127n, 128n].flatMap((bits) =>
    [-1n, 0n, 1n].flatMap((d) => [String(2n ** bits + d), String(-(2n ** bits) + d)]),
  ),
);
const nearNumber = fc.string({ unit: letters('0123456789+-.eE_ x'), maxLength: 12 });
const anyNumber = fc.oneof(
  { weight: 5, arbitrary: numberText },
  { weight: 1, arbitrary: edge },
  { weight: 1, arbitrary: nearNumber },
);

interface Exact {
  readonly digits: bigint;
  /** The number is digits × 10^power. */
  readonly power: number;
}

function referenceNumber(text: string): Exact | null {
  const negative = text.startsWith('-');
  const [mantissa = '', exponent, ...more] = text.slice(negative ? 1 : 0).split(/[eE]/);
  const [whole = '', fraction, ...points] = mantissa.split('.');
  const allDigits = (part: string): boolean =>
    part !== '' && part.split('').every((c) => c >= '0' && c <= '9');
  if (
    more.length > 0 ||
    points.length > 0 ||
    !allDigits(whole) ||
    (fraction !== undefined && !allDigits(fraction))
  )
    return null;
  if (exponent !== undefined && !allDigits(/^[+-]/.test(exponent) ? exponent.slice(1) : exponent))
    return null;
  const unsigned = BigInt(whole + (fraction ?? ''));
  return {
    digits: negative ? -unsigned : unsigned,
    power: Number(exponent ?? 0) - (fraction ?? '').length,
  };
}

/** The number × 10^scale where that is whole. */
function scaled(exact: Exact | null, scale: number): bigint | null {
  if (exact === null) return null;
  const power = exact.power + scale;
  if (exact.digits === 0n) return 0n;
  // No type is as wide; the power itself would take seconds.
  if (power > 100) return null;
  if (power >= 0) return exact.digits * 10n ** BigInt(power);
  if (-power > 100) return null;
  const divisor = 10n ** BigInt(-power);
  return exact.digits % divisor === 0n ? exact.digits / divisor : null;
}

const within = (value: bigint | null, first: bigint, last: bigint): bigint | null =>
  value !== null && value >= first && value <= last ? value : null;
const edgeBytes = fc
  .array(fc.constantFrom(0, 0xff, 0x7f, 0x80), { minLength: 1, maxLength: 18 })
  .map((list) => Uint8Array.from(list));
const printed = (value: bigint | null): string | null => (value === null ? null : String(value));

describe('against exact arithmetic', () => {
  test.each([
    { type: 'int', bits: 31n },
    { type: 'long', bits: 63n },
  ] as const)('$type', async ({ type, bits }) => {
    await fc.assert(
      fc.asyncProperty(many(anyNumber), async (texts) => {
        const want = texts.map((text) =>
          printed(within(scaled(referenceNumber(text), 0), -(2n ** bits), 2n ** bits - 1n)),
        );
        expect(await values(castText(TEXT, type), texts, (v) => v)).toEqual(want);
      }),
      RUNS,
    );
  });

  const DECIMALS: ColumnType[] = [
    'decimal(1,0)',
    'decimal(4,4)',
    'decimal(9,2)',
    'decimal(18,0)',
    'decimal(18,6)',
    'decimal(19,1)',
    'decimal(38,0)',
    'decimal(38,10)',
    'decimal(38,18)',
    'decimal(38,38)',
  ];

  test.each(DECIMALS)('%s', async (type) => {
    const { precision, scale } = decimalOf(type) ?? { precision: 0, scale: 0 };
    const max = 10n ** BigInt(precision) - 1n;
    await fc.assert(
      fc.asyncProperty(many(anyNumber), async (texts) => {
        const want = texts.map((text) =>
          printed(within(scaled(referenceNumber(text), scale), -max, max)),
        );
        expect(await values(castText(TEXT, type), texts, unscaledText)).toEqual(want);
      }),
      { numRuns: 5 },
    );
  });

  test.each(DECIMALS)('%s from base64', async (type) => {
    const { precision } = decimalOf(type) ?? { precision: 0 };
    const max = 10n ** BigInt(precision) - 1n;
    const bytes = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 20 }),
      fc.uint8Array({ minLength: 1, maxLength: 2 }).map(signExtended),
      edgeBytes,
    );
    await fc.assert(
      fc.asyncProperty(many(bytes), async (list) => {
        const want = list.map((b) =>
          printed(
            within(
              BigInt.asIntN(b.length * 8, BigInt(`0x${Buffer.from(b).toString('hex')}`)),
              -max,
              max,
            ),
          ),
        );
        const texts = list.map((b) => Buffer.from(b).toString('base64'));
        expect(await values(castText(TEXT, type, 'base64'), texts, unscaledText)).toEqual(want);
      }),
      { numRuns: 5 },
    );
  });

  test('double is the nearest one', async () => {
    await fc.assert(
      fc.asyncProperty(many(anyNumber), async (texts) => {
        const want = texts.map((text) =>
          referenceNumber(text) === null || !Number.isFinite(Number(text)) ? null : Number(text),
        );
        const got = await values(castText(TEXT, 'double'), texts, (v) => v);
        expect(got.map((text) => (text === null ? null : Number(text)))).toEqual(want);
      }),
      RUNS,
    );
  });

  test.each([
    { from: 'epoch_s', perUnit: 1_000_000_000n },
    { from: 'epoch_ms', perUnit: 1_000_000n },
    { from: 'epoch_us', perUnit: 1_000n },
    { from: 'epoch_ns', perUnit: 1n },
  ] as const)('timestamp and timestamptz from $from', async ({ from, perUnit }) => {
    const whole = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n }).map(String);
    const near = fc
      .bigInt({
        min: -70_000_000_000_000_000_000n / perUnit,
        max: 260_000_000_000_000_000_000n / perUnit,
      })
      .map(String);
    await fc.assert(
      fc.asyncProperty(
        many(fc.oneof(whole, near, numberText)),
        fc.constantFrom('timestamp', 'timestamptz'),
        async (texts, type) => {
          const want = texts.map((text) => {
            const count = within(scaled(referenceNumber(text), 0), -(2n ** 63n), 2n ** 63n - 1n);
            if (count === null || (count * perUnit) % 1000n !== 0n) return null;
            return printed(within((count * perUnit) / 1000n, FIRST_US, LAST_US));
          });
          expect(
            await values(
              castText(TEXT, type as ColumnType, from),
              texts,
              (v) => sql`epoch_us(${v})`,
            ),
          ).toEqual(want);
        },
      ),
      RUNS,
    );
  });
});

// SQL that gives a decimal's unscaled value as whole digits.
const unscaledText = (v: Sql): Sql =>
  sql`CAST(CAST(replace(CAST(${v} AS VARCHAR), '.', '') AS HUGEINT) AS VARCHAR)`;

function signExtended(bytes: Uint8Array): Uint8Array {
  const sign = (bytes[0] ?? 0) >= 0x80 ? 0xff : 0;
  return Uint8Array.from([...Array.from({ length: 16 }, () => sign), ...bytes]);
}

const FIRST_US = -62_135_596_800_000_000n;
const LAST_US = 253_402_300_799_999_999n;

describe('against a calendar of its own', () => {
  const two = (max: number): fc.Arbitrary<string> =>
    fc.integer({ min: 0, max }).map((n) => String(n).padStart(2, '0'));
  const year = fc.oneof(
    fc.constantFrom('0000', '0001', '1900', '2000', '2024', '9999'),
    fc.integer({ min: 1, max: 9999 }).map((n) => String(n).padStart(4, '0')),
  );
  const day = fc.tuple(year, two(13), two(32)).map((parts) => parts.join('-'));
  const clock = fc
    .tuple(
      two(25),
      two(61),
      two(61),
      fc.option(fc.string({ unit: letters('0000123456789'), minLength: 1, maxLength: 10 })),
    )
    .map(([h, m, s, f]) => `${h}:${m}:${s}${f === null ? '' : `.${f}`}`);
  const zone = fc.constantFrom(
    '',
    'Z',
    'z',
    '+00',
    '+05:30',
    '-08:00',
    '+18:59',
    '-19:00',
    ' UTC',
    '+0530',
  );

  test('date', async () => {
    await fc.assert(
      fc.asyncProperty(many(day), async (texts) => {
        expect(await values(castText(TEXT, 'date'), texts, (v) => v)).toEqual(
          texts.map((text) => (dayNumber(text) === null ? null : text)),
        );
      }),
      RUNS,
    );
  });

  test('time', async () => {
    await fc.assert(
      fc.asyncProperty(many(clock), async (texts) => {
        expect(
          await values(
            castText(TEXT, 'time'),
            texts,
            (v) => sql`epoch_us(DATE '1970-01-01' + ${v})`,
          ),
        ).toEqual(texts.map((text) => printed(clockUs(text))));
      }),
      RUNS,
    );
  });

  test('timestamp and timestamptz', async () => {
    const text = fc
      .tuple(day, fc.constantFrom('T', ' '), clock, zone)
      .map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(
        many(text),
        fc.constantFrom('timestamp', 'timestamptz'),
        async (texts, type) => {
          const want = texts.map((t) => printed(instantUs(t, type === 'timestamptz')));
          expect(
            await values(castText(TEXT, type as ColumnType), texts, (v) => sql`epoch_us(${v})`),
          ).toEqual(want);
        },
      ),
      RUNS,
    );
  });
});

function dayNumber(text: string): bigint | null {
  const [y = 0, m = 0, d = 0] = text.split('-').map(Number);
  const isLeap = (y % 4 === 0 && y % 100 !== 0) || y % 400 === 0;
  const lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  if (y < 1 || m < 1 || m > 12 || d < 1 || d > (lengths[m - 1] ?? 0)) return null;
  const before = y - 1;
  const days =
    before * 365 + Math.floor(before / 4) - Math.floor(before / 100) + Math.floor(before / 400);
  return BigInt(days + lengths.slice(0, m - 1).reduce((a, b) => a + b, 0) + d - 1 - 719_162);
}

function clockUs(text: string): bigint | null {
  const [clock = '', fraction = ''] = text.split('.');
  const [h = 0, m = 0, s = 0] = clock.split(':').map(Number);
  if (h > 23 || m > 59 || s > 59 || fraction.length > 9 || /[1-9]/.test(fraction.slice(6)))
    return null;
  return BigInt(h * 3600 + m * 60 + s) * 1_000_000n + BigInt(fraction.slice(0, 6).padEnd(6, '0'));
}

function instantUs(text: string, zoned: boolean): bigint | null {
  const clock = /^[\d:.]+/.exec(text.slice(11))?.[0] ?? '';
  const zone = text.slice(11 + clock.length);
  const days = dayNumber(text.slice(0, 10));
  const us = clockUs(clock);
  if (days === null || us === null) return null;
  if (!zoned) return zone === '' ? days * 86_400_000_000n + us : null;
  const offset = /^([+-])(0\d|1[0-8])(?::([0-5]\d))?$/.exec(zone);
  if (zone !== 'Z' && offset === null) return null;
  const minutes =
    offset === null
      ? 0
      : (Number(offset[2]) * 60 + Number(offset[3] ?? 0)) * (offset[1] === '-' ? -1 : 1);
  return within(days * 86_400_000_000n + us - BigInt(minutes) * 60_000_000n, FIRST_US, LAST_US);
}

test('no text makes any cast or conversion throw', async () => {
  const types: ColumnType[] = [
    'boolean',
    'int',
    'long',
    'float',
    'double',
    'decimal(9,2)',
    'decimal(38,20)',
    'date',
    'time',
    'timestamp',
    'timestamptz',
    'string',
    'uuid',
    'binary',
    'fixed[4]',
  ];
  const casts = types.flatMap((type) =>
    [undefined, ...encodingsOf(type)].map((from: Encoding | undefined) =>
      castText(TEXT, type, from),
    ),
  );
  const conversions = (
    [
      'to_string',
      'to_int',
      'to_float',
      'to_boolean',
      'epoch_ms_to_datetime',
      'cents_to_dollars',
    ] as const
  ).map((name) => convertText(TEXT, name));
  const all = [...casts, ...conversions, castBooleanWords(TEXT)];
  const text = fc.oneof(
    anyNumber,
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.string({ maxLength: 30 }),
    fc.base64String({ maxLength: 40 }),
    fc.json(),
  );
  await fc.assert(
    fc.asyncProperty(many(text), async (texts) => {
      await createTextTable(
        db,
        'probe',
        ['text'],
        texts.map((t) => [t]),
      );
      const columns = all.flatMap((cast) => [
        sql`count(${cast.value})`,
        sql`count(*) FILTER (WHERE ${cast.bad})`,
        sql`count(DISTINCT ${cast.code})`,
        sql`count(${cast.inexact ?? raw('TRUE')})`,
      ]);
      const counts = Object.values(
        await db.one(
          sql`SELECT ${join(columns.map((column, i) => sql`${column} AS ${id(`c${i}`)}`))} FROM probe`,
        ),
      );
      for (let i = 0; i < counts.length; i += 4) {
        expect(Number(counts[i]) + Number(counts[i + 1])).toBe(texts.length);
        expect(counts[i + 3]).toBe(texts.length);
      }
    }),
    { numRuns: 4 },
  );
});
