import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findLongReal } from './long-real.ts';

const find = (text: string, from?: number): number => findLongReal(Buffer.from(text), from);

test('a real of 16 digits or more is found by its point', () => {
  expect(find('{"a":12.34000000000000}')).toBe(7);
  expect(find('{"a":12.3400000000000}')).toBe(-1);
  expect(find('{"a":1234567890123456.5}')).toBe(21);
  expect(find('1.5 2.5 0.123456789012345')).toBe(9);
  expect(find('1.234567890123456')).toBe(1);
});

test('whole numbers, versions and points without digits around them are none', () => {
  for (const text of ['', '.', '12345678901234567890', '"3.0.0.Final"', '12345678901234567.', '.1234567890123456789', '1.5e300']) {
    expect(find(text)).toBe(-1);
  }
});

test('the next one is found from behind the last', () => {
  const text = '1.000000000000000 x 2.000000000000000';
  expect(find(text, 2)).toBe(21);
  expect(find(text, 22)).toBe(-1);
});

test('it finds what a pattern finds', () => {
  const unit = fc.constantFrom(...'0123456789....,-e '.split(''));
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 60 }), (text) => {
      const digits = [...text.matchAll(/(\d+)\.(?=(\d+))/g)].map(([, before = '', behind = '']) => before.length + behind.length);
      expect(find(text) >= 0).toBe(digits.some((count) => count > 15));
    }),
    { numRuns: 2000 },
  );
});
