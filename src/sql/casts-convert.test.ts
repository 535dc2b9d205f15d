import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isPipelineError } from '../model/errors.ts';
import type { ColumnType, Encoding } from '../model/types.ts';
import { createTextTable } from './append.ts';
import { duckdbType, type Cast } from './casts.ts';
import { convertText, type ConversionName } from './casts-convert.ts';
import { Database } from './database.ts';
import { id, sql } from './sql.ts';

let db: Database;

beforeAll(async () => {
  db = await Database.open();
  // No result may depend on where the process runs.
  await db.run(sql`SET TimeZone = 'Pacific/Chatham'`);
});

afterAll(() => db[Symbol.asyncDispose]());

/** What each text becomes: the engine's print of the value, `NULL`, or the error code. */
async function outcomes(cast: Cast, texts: readonly (string | null)[]): Promise<string[]> {
  const rows = texts.map((text, i) => [text, String(i)]);
  await createTextTable(db, 'probe', ['text', 'nth'], rows);
  const print =
    cast.type === 'timestamptz' ? sql`(v AT TIME ZONE 'UTC') || 'Z'` : sql`CAST(v AS VARCHAR)`;
  const got = await db.rows<{
    printed: string | null;
    bad: boolean;
    code: string;
    type: string;
  }>(sql`
    SELECT ${print} AS printed, bad, code, typeof(v) AS type FROM (
      SELECT ${cast.value} AS v, ${cast.bad} AS bad, ${cast.code} AS code, nth FROM probe) ORDER BY CAST(nth AS INTEGER)`);
  const { t } = await db.one<{ t: string }>(
    sql`SELECT typeof(CAST(NULL AS ${duckdbType(cast.type)})) AS t`,
  );
  expect(new Set(got.map((row) => row.type))).toEqual(new Set([t]));
  return got.map((row) => (row.bad ? row.code : (row.printed ?? 'NULL')));
}

const TYPES = {
  to_string: 'string',
  to_int: 'long',
  to_float: 'double',
  to_boolean: 'boolean',
  epoch_ms_to_datetime: 'timestamptz',
  cents_to_dollars: 'decimal(18,2)',
} as const;
const TEXT = id('text');

type Line = readonly [text: string | null, outcome: string];

const bad = (code: string, ...texts: string[]): Line[] => texts.map((text) => [text, code]);
const same = (...texts: string[]): Line[] => texts.map((text) => [text, text]);
const NULL_LINE: Line = [null, 'NULL'];

describe('convertText', () => {
  interface Conversion {
    readonly conversion: ConversionName;
    readonly source?: ColumnType;
    readonly from?: Encoding;
    readonly lines: readonly Line[];
  }

  const CONVERSIONS: readonly Conversion[] = [
    {
      conversion: 'to_int',
      lines: [['42', '42'], ['42.0', '42'], ...bad('E_VALUE_INTEGER', '42.9', '', ' 42', 'true')],
    },
    {
      conversion: 'to_int',
      source: 'decimal(10,2)',
      from: 'base64',
      lines: [
        ['ZA==', '1'],
        ['AxY=', 'E_VALUE_INTEGER'],
        ['x', 'E_VALUE_BINARY'],
      ],
    },
    {
      conversion: 'to_int',
      source: 'timestamp',
      from: 'epoch_ms',
      lines: [['1700000000123', '1700000000123']],
    },
    {
      conversion: 'to_float',
      lines: [
        ['42.5', '42.5'],
        ['NaN', 'nan'],
        ...bad('E_VALUE_NUMBER', '', 'x'),
        ...bad('E_VALUE_RANGE', '1e999'),
      ],
    },
    { conversion: 'to_float', source: 'decimal(10,2)', from: 'base64', lines: [['AxY=', '7.9']] },
    {
      conversion: 'to_boolean',
      lines: [
        ...['1', 'true', 'TRUE', 'Yes', 't', 'Y', 'on', 'oN'].map((text): Line => [text, 'true']),
        ...['0', 'false', 'FALSE', 'No', 'f', 'N', 'off'].map((text): Line => [text, 'false']),
        ...bad('E_VALUE_BOOLEAN', '', ' ', '2', '-1', '1.0', 'yess', 'null'),
      ],
    },
    {
      conversion: 'epoch_ms_to_datetime',
      lines: [
        ['1700000000123', '2023-11-14 22:13:20.123Z'],
        ['0', '1970-01-01 00:00:00Z'],
        ...bad('E_VALUE_TIMESTAMP', '1.5', '', '2024-01-01T00:00:00Z', '9223372036854775807'),
      ],
    },
    {
      conversion: 'epoch_ms_to_datetime',
      source: 'timestamp',
      from: 'epoch_us',
      lines: [['1700000000123456', '2023-11-14 22:13:20.123456Z']],
    },
    {
      conversion: 'cents_to_dollars',
      lines: [
        ['0', '0.00'],
        ['12345', '123.45'],
        ['-5', '-0.05'],
        ['150.0', '1.50'],
        ['999999999999999999', '9999999999999999.99'],
        ...bad('E_VALUE_DECIMAL', '12.5', '0.1'),
        ...bad('E_VALUE_RANGE', '1000000000000000000', '1e30'),
        ...bad('E_VALUE_NUMBER', '', 'abc'),
      ],
    },
    {
      conversion: 'cents_to_dollars',
      source: 'decimal(20,0)',
      from: 'base64',
      lines: [
        ['AxY=', '7.90'],
        ['/w==', '-0.01'],
      ],
    },
    { conversion: 'to_string', lines: same('1.10', 'true', '') },
    {
      conversion: 'to_string',
      source: 'boolean',
      lines: [
        ['true', 'true'],
        ['1', 'true'],
        ['F', 'false'],
        ['x', 'E_VALUE_BOOLEAN'],
      ],
    },
    {
      conversion: 'to_string',
      source: 'double',
      lines: [
        ['1.10', '1.1'],
        ['1000', '1000.0'],
        ['1e20', '1e+20'],
        ['inf', 'Infinity'],
        ['-Infinity', '-Infinity'],
        ['-inf', '-Infinity'],
        ['NaN', 'NaN'],
        ['x', 'E_VALUE_NUMBER'],
      ],
    },
    { conversion: 'to_string', source: 'float', lines: [['1.1', '1.1']] },
    {
      conversion: 'to_string',
      source: 'long',
      lines: [
        ['5.0', '5'],
        ['9007199254740993', '9007199254740993'],
      ],
    },
    { conversion: 'to_string', source: 'decimal(10,2)', from: 'base64', lines: [['AxY=', '7.90']] },
    {
      conversion: 'to_string',
      source: 'decimal(2,2)',
      lines: [
        ['0.5', '0.50'],
        ['-0.25', '-0.25'],
      ],
    },
    {
      conversion: 'to_string',
      source: 'date',
      from: 'epoch_day',
      lines: [['19782', '2024-02-29']],
    },
    {
      conversion: 'to_string',
      source: 'timestamptz',
      from: 'epoch_ms',
      lines: [['1700000000123', '2023-11-14T22:13:20.123000Z']],
    },
    {
      conversion: 'to_string',
      source: 'timestamp',
      lines: [['2024-02-29 12:34:56', '2024-02-29T12:34:56.000000']],
    },
    {
      conversion: 'to_string',
      source: 'binary',
      lines: [
        ['AQID', 'AQID'],
        ['x', 'E_VALUE_BINARY'],
      ],
    },
  ];

  test.each(CONVERSIONS)(
    '$conversion of $source $from',
    async ({ conversion, source, from, lines }) => {
      const all = [...lines, NULL_LINE];
      const cast = convertText(TEXT, conversion, source, from);
      expect(cast.type).toBe(TYPES[conversion]);
      const got = await outcomes(
        cast,
        all.map(([text]) => text),
      );
      expect(all.map(([text], i) => [text, got[i]])).toEqual(all);
    },
  );

  test('bytes for a number and days for an instant are refused', () => {
    const refusals = [
      () => convertText(TEXT, 'to_int', 'binary', 'base64'),
      () => convertText(TEXT, 'to_boolean', 'fixed[1]'),
      () => convertText(TEXT, 'epoch_ms_to_datetime', 'date', 'epoch_day'),
      () => convertText(TEXT, 'epoch_ms_to_datetime', 'time', 'ms_of_day'),
    ];
    for (const refused of refusals) {
      let error: unknown;
      try {
        refused();
      } catch (thrown) {
        error = thrown;
      }
      expect(isPipelineError(error, 'E_CONFIG_VALUE')).toBe(true);
    }
  });
});
