import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ColumnType, Encoding } from '../model/types.ts';
import { createTextTable } from './append.ts';
import { castText, encodingsOf, isBad, type Cast } from './casts.ts';
import { isInexact } from './casts-inexact.ts';
import { duckdbType } from './casts-shape.ts';
import { Database } from './database.ts';
import { id, raw, sql, type Sql } from './sql.ts';

let db: Database;

beforeAll(async () => {
  db = await Database.open();
  // No result may depend on where the process runs.
  await db.run(sql`SET TimeZone = 'Pacific/Chatham'`);
});

afterAll(() => db[Symbol.asyncDispose]());

/** What each text is cast to: the engine's print of the value, `NULL`, or the error code. */
async function outcomes(cast: Cast, texts: readonly (string | null)[]): Promise<string[]> {
  await createTextTable(
    db,
    'probe',
    ['text', 'nth'],
    texts.map((text, i) => [text, String(i)]),
  );
  const print =
    cast.type === 'timestamptz' ? sql`(v AT TIME ZONE 'UTC') || 'Z'` : sql`CAST(v AS VARCHAR)`;
  const rows = await db.rows<{
    printed: string | null;
    bad: boolean;
    code: string;
    type: string;
  }>(sql`
    SELECT ${print} AS printed, bad, code, typeof(v) AS type FROM (
      SELECT ${cast.value} AS v, ${cast.bad} AS bad, ${cast.code} AS code, nth FROM probe) ORDER BY CAST(nth AS INTEGER)`);
  const declared = (
    await db.one<{ t: string }>(sql`SELECT typeof(CAST(NULL AS ${duckdbType(cast.type)})) AS t`)
  ).t;
  expect(new Set(rows.map((row) => row.type))).toEqual(new Set([declared]));
  return rows.map((row) => (row.bad ? row.code : (row.printed ?? 'NULL')));
}

async function flagged(flag: Sql, texts: readonly (string | null)[]): Promise<(string | null)[]> {
  await createTextTable(
    db,
    'probe',
    ['text', 'nth'],
    texts.map((text, i) => [text, String(i)]),
  );
  const rows = await db.rows<{ flag: boolean | null }>(
    sql`SELECT ${flag} AS flag FROM probe ORDER BY CAST(nth AS INTEGER)`,
  );
  expect(rows.every((row) => row.flag !== null)).toBe(true);
  return texts.filter((_, i) => rows[i]?.flag === true);
}

const TEXT = id('text');

type Line = readonly [text: string | null, outcome: string];

interface Case {
  readonly type: ColumnType;
  readonly from?: Encoding;
  readonly lines: readonly Line[];
}

const bad = (code: string, ...texts: string[]): Line[] => texts.map((text) => [text, code]);
const same = (...texts: string[]): Line[] => texts.map((text) => [text, text]);
const NULL_LINE: Line = [null, 'NULL'];

const CASES: readonly Case[] = [
  {
    type: 'boolean',
    lines: [
      ...same('true', 'false'),
      ...['TRUE', 'True', 't', 'T', '1'].map((text): Line => [text, 'true']),
      ...['FALSE', 'f', '0'].map((text): Line => [text, 'false']),
      ...bad('E_VALUE_BOOLEAN', '', ' true', 'yes', 'on', 'y', '2', '1.0', '-1', 'null', '[true]'),
    ],
  },
  {
    type: 'int',
    lines: [
      ...same('0', '7', '-1', '2147483647', '-2147483648'),
      ['007', '7'],
      ['-0', '0'],
      ['5.0', '5'],
      ['1e3', '1000'],
      ['1.5E+1', '15'],
      ['150e-1', '15'],
      ['0e99999999999999999999', '0'],
      ...bad(
        'E_VALUE_RANGE',
        '2147483648',
        '-2147483649',
        '9223372036854775807',
        '1e10',
        '1e99999999999999999999',
      ),
      ...bad(
        'E_VALUE_INTEGER',
        '',
        ' ',
        '42.9',
        '1.5',
        '15e-1',
        '+7',
        ' 5 ',
        '5 ',
        '1_000',
        '1,000',
        '0x10',
        '0b11',
        '5.',
        '.5',
        '1e',
        '-',
        'NaN',
      ),
      ...bad(
        'E_VALUE_INTEGER',
        'true',
        '१२',
        '１２',
        '5\n',
        '5\0',
        '1e-99999999999999999999',
        '[1]',
        'a'.repeat(10_000),
      ),
    ],
  },
  {
    type: 'long',
    lines: [
      ...same('9223372036854775807', '-9223372036854775808', '9007199254740993'),
      ['9007199254740993.0', '9007199254740993'],
      ['9.223372036854775807e18', '9223372036854775807'],
      ['-9223372036854775808.000', '-9223372036854775808'],
      ...bad(
        'E_VALUE_RANGE',
        '9223372036854775808',
        '-9223372036854775809',
        '9.223372036854775808e18',
        '1e400',
        '9'.repeat(10_000),
      ),
      ...bad('E_VALUE_INTEGER', '42.9', '922337203685477580.5', '1e-1'),
    ],
  },
  {
    type: 'float',
    lines: [
      ['1.1', '1.1'],
      ['16777217', '16777216.0'],
      ['3.4028235e38', '3.4028235e+38'],
      // The nearest float of the text, which is not that of its nearest double.
      ['1.00000017881393432617187499', '1.0000001'],
      ['NaN', 'nan'],
      ...bad('E_VALUE_RANGE', '3.4028236e38', '-1e39'),
      ...bad('E_VALUE_NUMBER', '', 'nan', 'x'),
    ],
  },
  {
    type: 'double',
    lines: [
      ['1.10', '1.1'],
      ['0.1', '0.1'],
      ['1000', '1000.0'],
      ['-0.0', '-0.0'],
      ['5e-324', '5e-324'],
      ['1e-400', '0.0'],
      ['NaN', 'nan'],
      ...['Infinity', '+Infinity', 'inf'].map((text): Line => [text, 'inf']),
      ...['-Infinity', '-inf'].map((text): Line => [text, '-inf']),
      ...bad('E_VALUE_RANGE', '1e999', '-1e309'),
      ...bad(
        'E_VALUE_NUMBER',
        '',
        ' 1',
        '1_0',
        'nan',
        'infinity',
        '-NaN',
        '+inf',
        '1,5',
        '0x1p3',
        '1f',
        '.5',
        '5.',
        'true',
      ),
    ],
  },
  {
    type: 'decimal(18,2)',
    lines: [
      ['12.3', '12.30'],
      ['12.340', '12.34'],
      ['0012.34', '12.34'],
      ['00000000000000000000012.34', '12.34'],
      ['-0.00', '0.00'],
      ['1.2E+3', '1200.00'],
      ['1200e-4', '0.12'],
      ['9999999999999999.99', '9999999999999999.99'],
      ['-9999999999999999.99', '-9999999999999999.99'],
      ...bad(
        'E_VALUE_DECIMAL',
        '1.005',
        '12.345',
        '0.001',
        '10000000000000000',
        '1e16',
        '1e-3',
        '1e999',
      ),
      ...bad(
        'E_VALUE_NUMBER',
        '',
        'NaN',
        'Infinity',
        '+1.5',
        ' 1.5',
        '1.',
        '.5',
        '1,5',
        '$5',
        'AxY=',
      ),
    ],
  },
  {
    type: 'decimal(38,0)',
    lines: [
      ...same('9'.repeat(38), `-${'9'.repeat(38)}`, '12345678901234567890', '0'),
      ['1e37', `1${'0'.repeat(37)}`],
      ['5.000', '5'],
      ...bad('E_VALUE_DECIMAL', `1${'0'.repeat(38)}`, '1e38', '0.5'),
    ],
  },
  {
    type: 'decimal(38,10)',
    lines: [
      ['1234567890123.45678', '1234567890123.4567800000'],
      ['1234567890123456789012345678.0123456789', '1234567890123456789012345678.0123456789'],
      ['-0.0000000001', '-0.0000000001'],
      ['7', '7.0000000000'],
      ...bad('E_VALUE_DECIMAL', '0.00000000001', '12345678901234567890123456789'),
    ],
  },
  {
    type: 'decimal(38,38)',
    lines: [
      [`0.${'9'.repeat(38)}`, `.${'9'.repeat(38)}`],
      ['-1e-38', `-.${'1'.padStart(38, '0')}`],
      ['0', `.${'0'.repeat(38)}`],
      ...bad('E_VALUE_DECIMAL', '1', '1e-39'),
    ],
  },
  {
    type: 'decimal(2,2)',
    lines: [['0.5', '.50'], ['00.50', '.50'], ...bad('E_VALUE_DECIMAL', '1', '0.005')],
  },
  {
    type: 'decimal(10,2)',
    from: 'base64',
    lines: [
      ['AxY=', '7.90'],
      ['AA==', '0.00'],
      ['/w==', '-0.01'],
      ['gA==', '-1.28'],
      ['AIA=', '1.28'],
      ['AlQL4/8=', '99999999.99'],
      ['AAAAAAAAAAAAAAAAAAAAAAAAAxY=', '7.90'],
      ['/////////////////////////////////////w==', '-0.01'],
      ...bad('E_VALUE_DECIMAL', 'AlQL5AA=', '/av0HAA=', 'AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='),
      ...bad('E_VALUE_BINARY', '', 'AxY', '7.90', '12345', 'AR==', '====', 'Ax Y', '_-8='),
    ],
  },
  {
    type: 'decimal(38,5)',
    from: 'base64',
    lines: [
      ['SztMqFqGxHoJiiI//////w==', '999999999999999999999999999999999.99999'],
      ['tMSzV6V5O4X2dd3AAAAAAQ==', '-999999999999999999999999999999999.99999'],
      ['f/////////8=', '92233720368547.75807'],
      ['AIAAAAAAAAAA', '92233720368547.75808'],
      ['gAAAAAAAAAA=', '-92233720368547.75808'],
      ['/3//////////', '-92233720368547.75809'],
      ...bad(
        'E_VALUE_DECIMAL',
        'SztMqFqGxHoJiiJAAAAAAA==',
        'f////////////////////w==',
        'gAAAAAAAAAAAAAAAAAAAAA==',
        'AP////////////////////8=',
        '/wAAAAAAAAAAAAAAAAAAAAA=',
      ),
    ],
  },
  {
    type: 'date',
    lines: [
      ...same('2024-02-29', '0001-01-01', '9999-12-31', '1582-10-10'),
      ...bad(
        'E_VALUE_DATE',
        '',
        '2024-02-30',
        '2023-02-29',
        '2024-1-5',
        '0000-01-01',
        '10000-01-01',
        '-0001-01-01',
        '2024-02-29Z',
      ),
      ...bad(
        'E_VALUE_DATE',
        '2024-02-29 ',
        '2024-02-29T00:00:00',
        '2024-02-29 00:00:00',
        '20240229',
        '2024/02/29',
        '19782',
        'infinity',
        'epoch',
      ),
    ],
  },
  {
    type: 'date',
    from: 'iso',
    lines: [
      ['2017-09-15Z', '2017-09-15'],
      ...same('2017-09-15'),
      ...bad('E_VALUE_DATE', '2017-09-15z', '2017-09-15ZZ', '2017-02-30Z'),
    ],
  },
  {
    type: 'date',
    from: 'epoch_day',
    lines: [
      ['0', '1970-01-01'],
      ['-1', '1969-12-31'],
      ['19782', '2024-02-29'],
      ['19782.0', '2024-02-29'],
      ['-719162', '0001-01-01'],
      ['2932896', '9999-12-31'],
      ...bad('E_VALUE_DATE', '-719163', '2932897', '2147483647', '1.5', '2024-02-29', ''),
    ],
  },
  {
    type: 'time',
    lines: [
      ...same('00:00:00', '12:34:56', '23:59:59.999999', '12:34:56.1'),
      ['12:34:56.123456000', '12:34:56.123456'],
      ...bad(
        'E_VALUE_TIME',
        '24:00:00',
        '23:59:60',
        '12:34',
        '1:2:3',
        '12:34:56.1234567',
        '12:34:56.',
        '12:34:56Z',
        '12:34:56+02:00',
        '45296',
      ),
    ],
  },
  {
    type: 'time',
    from: 'iso',
    lines: [
      ['12:34:56.5Z', '12:34:56.5'],
      ['01:00:00+02:00', '23:00:00'],
      ['23:00:00.000001-05', '04:00:00.000001'],
      ...same('12:34:56'),
      ...bad('E_VALUE_TIME', '12:34:56+19:00', '12:34:56 Z', '24:00:00Z'),
    ],
  },
  {
    type: 'time',
    from: 'ms_of_day',
    lines: [
      ['86399999', '23:59:59.999'],
      ['0', '00:00:00'],
      ...bad('E_VALUE_TIME', '86400000', '-1', '1.5'),
    ],
  },
  {
    type: 'time',
    from: 'us_of_day',
    lines: [['86399999999', '23:59:59.999999'], ...bad('E_VALUE_TIME', '86400000000', '-1')],
  },
  {
    type: 'time',
    from: 'ns_of_day',
    lines: [
      ['86399999999000', '23:59:59.999999'],
      ...bad('E_VALUE_TIME', '86399999999001', '86400000000000', '-1000'),
    ],
  },
  {
    type: 'timestamp',
    lines: [
      ['2024-02-29T12:34:56', '2024-02-29 12:34:56'],
      ...same('2024-02-29 12:34:56.123456', '0001-01-01 00:00:00', '9999-12-31 23:59:59.999999'),
      ['2024-02-29T12:34:56.123456000', '2024-02-29 12:34:56.123456'],
      ...bad(
        'E_VALUE_TIMESTAMP',
        '2024-02-29T12:34:56Z',
        '2024-02-29T12:34:56+05:00',
        '2024-02-30 00:00:00',
        '2024-01-01 24:00:00',
        '2024-01-01 00:00:60',
      ),
      ...bad(
        'E_VALUE_TIMESTAMP',
        '2024-01-01',
        '2024-01-01 00:00',
        '2024-01-01 00:00:00.1234567',
        '2024-1-1 00:00:00',
        '1700000000000',
        'infinity',
      ),
      ...bad(
        'E_VALUE_TIMESTAMP',
        '0000-01-01 00:00:00',
        '10000-01-01 00:00:00',
        '2024-01-01  00:00:00',
        '2024-01-01t00:00:00',
      ),
    ],
  },
  {
    type: 'timestamp',
    from: 'iso',
    lines: [
      ['2024-02-29T12:34:56.5Z', '2024-02-29 12:34:56.5'],
      ['2024-02-29T12:34:56', '2024-02-29 12:34:56'],
      ...bad('E_VALUE_TIMESTAMP', '2024-02-29T12:34:56+00:00', '2024-02-29T12:34:56z'),
    ],
  },
  {
    type: 'timestamptz',
    lines: [
      ['2024-02-29T12:34:56Z', '2024-02-29 12:34:56Z'],
      ['2024-02-29 12:34:56.123456+05:30', '2024-02-29 07:04:56.123456Z'],
      ['2024-02-29T20:00:00-08', '2024-03-01 04:00:00Z'],
      ['0001-01-01T00:00:00Z', '0001-01-01 00:00:00Z'],
      ['9999-12-31T23:59:59.999999Z', '9999-12-31 23:59:59.999999Z'],
      ...bad(
        'E_VALUE_TIMESTAMP',
        '2024-02-29T12:34:56',
        '2024-02-29',
        '0001-01-01T00:00:00+01:00',
        '9999-12-31T23:59:59-01:00',
        '2024-02-30T00:00:00Z',
      ),
      ...bad(
        'E_VALUE_TIMESTAMP',
        '2024-02-29T12:34:56 UTC',
        '2024-02-29T12:34:56+0530',
        '2024-02-29T12:34:56+19:00',
        '2024-02-29T12:34:56.1234567Z',
      ),
      ...bad('E_VALUE_TIMESTAMP', '2024-02-29T24:00:00Z', '1700000000000', 'infinity', 'epoch', ''),
    ],
  },
  {
    type: 'timestamptz',
    from: 'iso',
    lines: [
      ['2024-02-29T12:34:56Z', '2024-02-29 12:34:56Z'],
      ...bad('E_VALUE_TIMESTAMP', '2024-02-29T12:34:56'),
    ],
  },
  {
    type: 'timestamptz',
    from: 'epoch_ms',
    lines: [
      ['0', '1970-01-01 00:00:00Z'],
      ['-1', '1969-12-31 23:59:59.999Z'],
      ['1700000000123', '2023-11-14 22:13:20.123Z'],
      ['1.700000000123e12', '2023-11-14 22:13:20.123Z'],
      ['-62135596800000', '0001-01-01 00:00:00Z'],
      ['253402300799999', '9999-12-31 23:59:59.999Z'],
      ...bad(
        'E_VALUE_TIMESTAMP',
        '253402300800000',
        '-62135596800001',
        '9223372036825200000',
        '9223372036854775807',
        '1.5',
        '',
        '2024-02-29T12:34:56Z',
      ),
    ],
  },
  {
    type: 'timestamp',
    from: 'epoch_s',
    lines: [
      ['1700000000', '2023-11-14 22:13:20'],
      ...bad('E_VALUE_TIMESTAMP', '1700000000123', '1700000000.5'),
    ],
  },
  {
    type: 'timestamp',
    from: 'epoch_us',
    lines: [
      ['1700000000123456', '2023-11-14 22:13:20.123456'],
      ...bad(
        'E_VALUE_TIMESTAMP',
        '9223372036825200000',
        '-9223372036832400000',
        '253402300800000000',
      ),
    ],
  },
  {
    type: 'timestamp',
    from: 'epoch_ns',
    lines: [
      ['1700000000123456000', '2023-11-14 22:13:20.123456'],
      ['-1000', '1969-12-31 23:59:59.999999'],
      ...bad('E_VALUE_TIMESTAMP', '1700000000123456001', '-1', '9223372036854775808'),
    ],
  },
  {
    type: 'string',
    lines: same(
      '',
      ' a ',
      '1.10',
      '1e3',
      'true',
      '{"a":1}',
      'null',
      "o'clock; DROP TABLE x",
      'é😀\0',
    ),
  },
  {
    type: 'uuid',
    lines: [
      ['101612F1-CE87-4CC2-8147-5A42042294A7', '101612f1-ce87-4cc2-8147-5a42042294a7'],
      ...same('00000000-0000-0000-0000-000000000000'),
      ...bad(
        'E_VALUE_UUID',
        '',
        '{101612f1-ce87-4cc2-8147-5a42042294a7}',
        '101612f1ce874cc281475a42042294a7',
        '101612f1ce874cc28147-5a42042294a7',
        '101612f1-ce87-4cc2-8147-5a42042294ag',
      ),
    ],
  },
  {
    type: 'binary',
    lines: [
      ['', ''],
      ['AQID', '\\x01\\x02\\x03'],
      ['/+8=', '\\xFF\\xEF'],
      ...bad(
        'E_VALUE_BINARY',
        'AQ',
        'AQI',
        'AR==',
        'AQJ=',
        'AQID\n',
        'AQ ID',
        '_-8=',
        'A===',
        'AQ==AQ==',
        'é',
        ' ',
      ),
    ],
  },
  {
    type: 'binary',
    from: 'base64',
    lines: [['AQID', '\\x01\\x02\\x03'], ...bad('E_VALUE_BINARY', 'AQ')],
  },
  {
    type: 'fixed[3]',
    lines: [['AQID', '\\x01\\x02\\x03'], ...bad('E_VALUE_BINARY', '', 'AQI=', 'AQIDBA==', 'x')],
  },
];

describe('castText', () => {
  test.each(
    CASES.map((c) => ({ ...c, title: c.from === undefined ? c.type : `${c.type} from ${c.from}` })),
  )('$title', async ({ type, from, lines }) => {
    const all = [...lines, NULL_LINE];
    const got = await outcomes(
      castText(TEXT, type, from),
      all.map(([text]) => text),
    );
    expect(all.map(([text], i) => [text, got[i]])).toEqual(all);
  });

  test('no text makes any cast throw, and bad is what has a text and no value', async () => {
    const texts = [...new Set(CASES.flatMap((c) => c.lines.map(([text]) => text)))];
    for (const { type, from } of CASES) {
      const cast = castText(TEXT, type, from);
      const got = await outcomes(cast, texts);
      const bads = await flagged(isBad(TEXT, cast.value), texts);
      expect(texts.filter((text, i) => text !== null && got[i]?.startsWith('E_') === true)).toEqual(
        bads,
      );
    }
  });

  test('an encoding that a type cannot have is refused', () => {
    expect(encodingsOf('fixed[16]')).toEqual(['base64']);
    for (const [type, from] of [
      ['long', 'epoch_ms'],
      ['string', 'base64'],
      ['date', 'epoch_ms'],
      ['decimal(9,2)', 'iso'],
    ] as const) {
      const refused = (): unknown => castText(TEXT, type, from);
      expect(refused).toThrow(expect.objectContaining({ code: 'E_CONFIG_VALUE' }));
    }
  });

  test('columns named as the casts name their own parts do not disturb them', async () => {
    const cast = castText(id('number'), 'long');
    const { v } = await db.one<{ v: number }>(
      sql`SELECT ${cast.value} AS v FROM (SELECT '1e3' AS number, 1 AS n, 2 AS sign, 3 AS digits)`,
    );
    expect(v).toBe(1000);
  });
});

describe('isInexact', () => {
  const inexact = (
    type: ColumnType,
    from: Encoding | undefined,
    texts: string[],
  ): Promise<(string | null)[]> =>
    flagged(castText(TEXT, type, from).inexact ?? raw('FALSE'), [...texts, null]);

  test('a whole number that came as a real is looked at again from 10^15 on', async () => {
    const large = ['1000000000000000.0', '9007199254740992.0', '1e+16', '9.223372036854776e+18'];
    expect(
      await inexact('long', undefined, [
        ...large,
        '5.0',
        '1000.0',
        '9007199254740993',
        '-9223372036854775808',
        '999999999999999.0',
      ]),
    ).toEqual(large);
    expect(
      await inexact('timestamp', 'epoch_us', ['1.7e+15', '1700000000000000.0', '1700000000000001']),
    ).toEqual(['1.7e+15', '1700000000000000.0']);
  });

  test('a decimal is looked at again where a valid one may have more digits than a double', async () => {
    const large = ['10000000000000.01', '123456789012345.69', '1000000000000000.0'];
    expect(
      await inexact('decimal(18,2)', undefined, [
        ...large,
        '1.1',
        '9999999999999.99',
        '12345678901234567',
        '0.01',
      ]),
    ).toEqual(large);
    expect(
      await inexact('decimal(38,18)', undefined, [
        '1.0',
        '1e+20',
        '1',
        '123456789012345678901234567890',
      ]),
    ).toEqual(['1.0', '1e+20']);
    expect(await inexact('decimal(38,2)', undefined, ['1.5', '1e+20', '10000000000000.5'])).toEqual(
      ['1e+20', '10000000000000.5'],
    );
    expect(await inexact('decimal(38,30)', undefined, ['1e-07', '0.1', '0'])).toEqual([
      '1e-07',
      '0.1',
    ]);
  });

  test('a string is looked at again where it has the form in which the reader prints a real', async () => {
    const reals = [
      '1.1',
      '1000.0',
      '-0.5',
      '1e+20',
      '1e-05',
      '{"a":1.1}',
      '[1,2.5]',
      '{"a":{"b":[1e+20]}}',
      '[1000.0]',
    ];
    const words = ['NaN', 'Infinity', '-Infinity', '{"a":NaN}', '[-Infinity]'];
    const others = [
      'nan',
      'Infinite',
      '{"a":"NaN"}',
      '1.10',
      '1e3',
      '007.5',
      '12',
      'v1.1',
      '1.1.1',
      '{"a": 1.1}',
      '{"a":"1.1"}',
      '{"a":1}',
      '[true]',
      '',
      ':1.5',
      '{',
      '[',
    ];
    expect(await inexact('string', undefined, [...reals, ...words, ...others])).toEqual([
      ...reals,
      ...words,
    ]);
    expect(await inexact('double', undefined, ['NaN', '-inf', '1e+300', '1e999', 'x'])).toEqual([
      'NaN',
      '-inf',
    ]);
  });

  test('what the reader alters is inexact or bad, whatever the column', async () => {
    const numbers = [
      '1234567890123.45678',
      '9007199254740993.0',
      '1.10',
      '1e3',
      '12345678901234567890.5',
      '1e16',
      '100000000000000000001.0',
      '0.1234567890123456789',
    ];
    const types: ColumnType[] = [
      'long',
      'decimal(38,0)',
      'decimal(38,10)',
      'decimal(18,2)',
      'decimal(38,20)',
      'string',
    ];
    const landed = await db.rows<{ text: string }>(
      sql`SELECT CAST(unnest(from_json(${`[${numbers.join(',')}]`}::JSON, '["VARCHAR"]')) AS VARCHAR) AS text`,
    );
    const pairs = numbers.map((exact, i) => ({ exact, text: landed[i]?.text ?? '' }));
    expect(pairs.filter((pair) => pair.exact !== pair.text).length).toBeGreaterThan(6);
    for (const type of types) {
      const exact = await outcomes(
        castText(TEXT, type),
        pairs.map((pair) => pair.exact),
      );
      const texts = pairs.map((pair) => pair.text);
      const cast = castText(TEXT, type);
      const got = await outcomes(cast, texts);
      const again = new Set(
        await flagged(isInexact(TEXT, cast.value, type) ?? raw('FALSE'), texts),
      );
      const silent = pairs.filter(
        (pair, i) =>
          !exact[i]?.startsWith('E_') &&
          exact[i] !== got[i] &&
          !got[i]?.startsWith('E_') &&
          !again.has(pair.text),
      );
      expect({ type, silent }).toEqual({ type, silent: [] });
    }
  });
});
