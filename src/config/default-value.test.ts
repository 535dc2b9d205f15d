import { expect, test } from 'vitest';
import { defaultProblem } from './default-value.ts';

test.each([
  ['to_int', '42', true],
  ['to_int', '-9223372036854775808', true],
  ['to_int', '9223372036854775808', false],
  ['to_int', '42.0', true],
  ['to_int', '1e3', true],
  ['to_int', '42.9', false],
  ['to_int', '', false],
  ['to_int', 'abc', false],
  ['to_int', ' 1', false],
  ['to_int', '+1', false],
  ['to_int', '0x1F', false],
  ['to_float', '1.5e300', true],
  ['to_float', '1e999', false],
  ['to_float', 'NaN', true],
  ['to_float', 'nan', false],
  ['to_boolean', 'YES', true],
  ['to_boolean', 'maybe', false],
  ['cents_to_dollars', '0', true],
  ['cents_to_dollars', '199', true],
  ['cents_to_dollars', '1.5', false],
  ['cents_to_dollars', '999999999999999999', true],
  ['cents_to_dollars', '1000000000000000000', false],
  ['epoch_ms_to_datetime', '1711267200000', true],
  ['epoch_ms_to_datetime', '2024-03-24', false],
  ['epoch_ms_to_datetime', '253402300799999', true],
  ['epoch_ms_to_datetime', '253402300800000', false],
  ['epoch_ms_to_datetime', '-62135596800001', false],
  ['to_string', 'anything', true],
  ['a conversion that does not exist', 'x', true],
])('%s of the default %j: fine is %s', (conversion, text, isFine) => {
  expect(defaultProblem(text, conversion, 'long') === null).toBe(isFine);
});

test.each([
  ['boolean', 'true', true],
  ['boolean', 'yes', false],
  ['int', '2147483647', true],
  ['int', '2147483648', false],
  ['double', '1.5', true],
  ['double', '1e300', true],
  ['float', '1e300', false],
  ['decimal(5,2)', '999.99', true],
  ['decimal(5,2)', '999.990', true],
  ['decimal(5,2)', '1000', false],
  ['decimal(5,2)', '0.001', false],
  ['decimal(38,0)', '9'.repeat(38), true],
  ['decimal(38,0)', '9'.repeat(39), false],
  ['string', '', true],
  ['timestamptz', 'only the engine knows', true],
])('a %s with the default %j: fine is %s', (type, text, isFine) => {
  expect(defaultProblem(text, null, type) === null).toBe(isFine);
});

test('without a conversion and a known type, any default may fit', () => {
  expect(defaultProblem('abc', null, null)).toBeNull();
});
