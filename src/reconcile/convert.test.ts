import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ColumnType } from '../model/types.ts';
import { sql } from '../sql/sql.ts';
import { convert, shown, type Meaning } from './convert.ts';

let connection: DuckDBConnection;

beforeAll(async () => {
  connection = await (await DuckDBInstance.create(':memory:')).connect();
  await connection.run(`SET TimeZone = 'Asia/Tokyo'`);
});

afterAll(() => connection.disconnectSync());

const value = async (text: string, type: ColumnType, options: Meaning): Promise<unknown> => {
  const shownText = shown(convert(sql`t`, type, options), type);
  const reader = await connection.runAndReadAll(
    sql`SELECT CAST(${shownText} AS VARCHAR) FROM (SELECT ${text} AS t)`.text,
  );
  return reader.getRows()[0]?.[0];
};

test.each<[string, ColumnType, string | null, Meaning?]>([
  ['42', 'long', '42'],
  ['-42', 'int', '-42'],
  ['007', 'long', '7'],
  ['5.0', 'long', '5'],
  ['5.5', 'long', null],
  ['1e3', 'long', null],
  ['0x10', 'long', null],
  ['1_000', 'long', null],
  [' 5', 'long', null],
  ['', 'long', null],
  ['2147483648', 'int', null],
  ['9223372036854775807', 'long', '9223372036854775807'],
  ['9223372036854775808', 'long', null],
  ['true', 'boolean', 'true'],
  ['Y', 'boolean', 'true'],
  ['off', 'boolean', 'false'],
  ['2', 'boolean', null],
  ['1.005', 'decimal(10,2)', null],
  ['1.0050', 'decimal(10,3)', '1.005'],
  ['-.5', 'decimal(10,2)', '-0.50'],
  ['123456789.00', 'decimal(10,2)', null],
  ['1e-2', 'decimal(10,2)', '0.01'],
  ['1e-3', 'decimal(10,2)', null],
  ['abc', 'decimal(10,2)', null],
  ['0.1', 'double', '0.1'],
  ['1e999', 'double', null],
  ['NaN', 'double', 'nan'],
  ['-Infinity', 'double', '-inf'],
  ['3.5e38', 'float', null],
  ['2024-02-29', 'date', '2024-02-29'],
  ['2023-02-29', 'date', null],
  ['2024-1-5', 'date', null],
  ['infinity', 'date', null],
  ['19000', 'date', '2022-01-08', { from: 'epoch_day' }],
  ['-1', 'date', '1969-12-31', { from: 'epoch_day' }],
  ['19000', 'date', null],
  ['12:34:56.123456', 'time', '12:34:56.123456'],
  ['24:00:00', 'time', null],
  ['12:34:56.1234567', 'time', null],
  ['1000', 'time', '00:00:01', { from: 'ms_of_day' }],
  ['86400000', 'time', null, { from: 'ms_of_day' }],
  ['1001', 'time', null, { from: 'ns_of_day' }],
  ['2024-01-02T03:04:05.123456', 'timestamp', '2024-01-02T03:04:05.123456'],
  ['2024-01-02 03:04:05', 'timestamp', '2024-01-02T03:04:05.000000'],
  ['2024-01-02T03:04:05Z', 'timestamp', null],
  ['2024-01-02T03:04:05.1234567', 'timestamp', null],
  ['1700000000123', 'timestamp', '2023-11-14T22:13:20.123000', { from: 'epoch_ms' }],
  ['1700000000123456', 'timestamp', '2023-11-14T22:13:20.123456', { from: 'epoch_us' }],
  ['1700000000123456789', 'timestamp', null, { from: 'epoch_ns' }],
  ['1700000000123', 'timestamp', null],
  ['9223372036854775', 'timestamp', null, { from: 'epoch_s' }],
  ['2024-01-02T03:04:05+05:30', 'timestamptz', '2024-01-01T21:34:05.000000Z'],
  ['2024-01-02T03:04:05Z', 'timestamptz', '2024-01-02T03:04:05.000000Z'],
  ['2024-01-02T03:04:05', 'timestamptz', null],
  ['-1', 'timestamptz', '1969-12-31T23:59:59.999000Z', { conversion: 'epoch_ms_to_datetime' }],
  ['12345', 'decimal(18,2)', '123.45', { conversion: 'cents_to_dollars' }],
  ['-5', 'decimal(18,2)', '-0.05', { conversion: 'cents_to_dollars' }],
  ['0', 'decimal(18,2)', '0.00', { conversion: 'cents_to_dollars' }],
  [
    '999999999999999999',
    'decimal(18,2)',
    '9999999999999999.99',
    { conversion: 'cents_to_dollars' },
  ],
  ['1000000000000000000', 'decimal(18,2)', null, { conversion: 'cents_to_dollars' }],
  ['1.5', 'decimal(18,2)', null, { conversion: 'cents_to_dollars' }],
  ['AxY=', 'decimal(10,2)', '7.90', { from: 'base64' }],
  ['/w==', 'decimal(10,2)', '-0.01', { from: 'base64' }],
  ['AA==', 'decimal(10,0)', '0', { from: 'base64' }],
  ['f////////////////////w==', 'decimal(38,0)', null, { from: 'base64' }],
  [
    'SztMqFqGxHoJiiI//////w==',
    'decimal(38,0)',
    '99999999999999999999999999999999999999',
    { from: 'base64' },
  ],
  [
    'tMSzV6V5O4X2dd3AAAAAAQ==',
    'decimal(38,0)',
    '-99999999999999999999999999999999999999',
    { from: 'base64' },
  ],
  ['!', 'decimal(10,2)', null, { from: 'base64' }],
  ['AQL/', 'binary', '0102FF'],
  ['AQL', 'binary', null],
  ['AQL/', 'fixed[3]', '0102FF'],
  ['AQL/', 'fixed[4]', null],
  ['6BA7B810-9DAD-11D1-80B4-00C04FD430C8', 'uuid', '6ba7b810-9dad-11d1-80b4-00c04fd430c8'],
  ['x', 'uuid', null],
  ['1.10', 'string', '1.10'],
  ['1.10', 'string', '1.10', { conversion: 'to_string' }],
  ['1.10', 'string', '1.1', { conversion: 'to_string', sourceType: 'double' }],
  ['-Infinity', 'string', '-Infinity', { conversion: 'to_string', sourceType: 'double' }],
  ['1', 'string', 'true', { conversion: 'to_string', sourceType: 'boolean' }],
  ['0.5', 'string', '0.50', { conversion: 'to_string', sourceType: 'decimal(2,2)' }],
  ['AxY=', 'long', null, { conversion: 'to_int', sourceType: 'decimal(10,2)', from: 'base64' }],
  ['AxY=', 'long', '790', { conversion: 'to_int', sourceType: 'decimal(10,0)', from: 'base64' }],
  [
    '1700000000123456',
    'timestamptz',
    '2023-11-14T22:13:20.123456Z',
    { conversion: 'epoch_ms_to_datetime', from: 'epoch_us' },
  ],
])('%j as %s is %j %j', async (text, type, expected, options = {}) => {
  expect(await value(text, type, options)).toBe(expected);
});
