import { afterAll, beforeAll, expect, test } from 'vitest';
import { Database } from '../../sql/database.ts';
import { jsonText } from '../json-text.ts';
import { converterOf } from './values.ts';

let db: Database;
beforeAll(async () => {
  db = await Database.open();
});
afterAll(() => db[Symbol.asyncDispose]());

/** Exactly what `query -o json` would print. */
async function printed(expression: string): Promise<string> {
  const result = await db.connection.runAndReadAll(`SELECT ${expression} AS v`);
  return jsonText(converterOf(result.columnType(0))(result.value(0, 0)));
}

test.each([
  ['NULL', 'null'],
  ['NULL::DATE', 'null'],
  ['true', 'true'],
  ['127::TINYINT', '127'],
  ['9223372036854775807::BIGINT', '9223372036854775807'],
  ['18446744073709551615::UBIGINT', '18446744073709551615'],
  ['170141183460469231731687303715884105727::HUGEINT', '170141183460469231731687303715884105727'],
  ['1.10::DECIMAL(4,2)', '"1.10"'],
  [
    "'-99999999999999999999999999999999999999'::DECIMAL(38,0)",
    '"-99999999999999999999999999999999999999"',
  ],
  ['0.1::DOUBLE', '0.1'],
  ['1e300::DOUBLE', '1e+300'],
  ['5::DOUBLE', '5'],
  ["'NaN'::DOUBLE", '"NaN"'],
  ["'-inf'::FLOAT", '"-Infinity"'],
  ['0.1::FLOAT', '0.1'],
  ['16777217::FLOAT', '16777216'],
  ['3.4028235e38::FLOAT', '3.4028235e+38'],
  ["'a\"b'", '"a\\"b"'],
  ["'\\x00\\xFF'::BLOB", '"AP8="'],
  ["DATE '2024-02-29'", '"2024-02-29"'],
  ["TIME '23:59:59.5'", '"23:59:59.500000"'],
  ["TIMESTAMP '2024-02-29 12:00:00.000001'", '"2024-02-29T12:00:00.000001"'],
  ["TIMESTAMPTZ '2024-02-29 12:00:00+02'", '"2024-02-29T10:00:00.000000Z"'],
  ["'2024-02-29 12:00:00'::TIMESTAMP_S", '"2024-02-29T12:00:00.000000"'],
  ["'1969-12-31 23:59:59.999'::TIMESTAMP_MS", '"1969-12-31T23:59:59.999000"'],
  ["'infinity'::TIMESTAMP", '"infinity"'],
  ["'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'::UUID", '"f81d4fae-7dec-11d0-a765-00a0c91e6bf6"'],
  ['[1::BIGINT, NULL]', '[1,null]'],
  ["{'a': 1.5::DECIMAL(2,1), 'b': {'c': NULL}}", '{"a":"1.5","b":{"c":null}}'],
  ["MAP {'k': 9007199254740993}", '[{"key":"k","value":9007199254740993}]'],
  ["'x'::ENUM('x', 'y')", '"x"'],
  ['INTERVAL 3 DAYS', '"3 days"'],
])('%s prints as %s', async (expression, text) => {
  expect(await printed(expression)).toBe(text);
});
