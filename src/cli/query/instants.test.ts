import { expect, test } from 'vitest';
import { dateText, instantText, timeText } from './instants.ts';

const finite = { isFinite: true };

test('instants agree with JavaScript over its whole range', () => {
  for (let ms = -8.64e15; ms <= 8.64e15; ms += 8.64e15 / 997.3) {
    const whole = Math.round(ms);
    const expected = new Date(whole).toISOString().replace('Z', '000Z');
    expect(instantText(finite, BigInt(whole) * 1000n, 'Z')).toBe(expected);
  }
});

test.each([
  [0n, '1970-01-01T00:00:00.000000'],
  [-1n, '1969-12-31T23:59:59.999999'],
  [951_782_400_000_001n, '2000-02-29T00:00:00.000001'],
  [-62_135_596_800_000_000n, '0001-01-01T00:00:00.000000'],
  [253_402_300_799_999_999n, '9999-12-31T23:59:59.999999'],
])('%d microseconds are %s', (micros, text) => {
  expect(instantText(finite, micros, '')).toBe(text);
});

test('infinity has a name', () => {
  expect([
    instantText({ isFinite: false }, 1n, 'Z'),
    instantText({ isFinite: false }, -1n, 'Z'),
  ]).toEqual(['infinity', '-infinity']);
  expect(dateText({ isFinite: false, days: -5 })).toBe('-infinity');
});

test('every day of four centuries is itself', () => {
  const days = Array.from({ length: 2 * 146_097 }, (_, i) => i - 146_097);
  const iso = (day: number): string => new Date(day * 86_400_000).toISOString().slice(0, 10);
  expect(days.filter((day) => dateText({ isFinite: true, days: day }) !== iso(day))).toEqual([]);
  expect(dateText({ isFinite: true, days: -719_529 })).toBe('-000001-12-31');
});

test('times have six digits', () => {
  expect([timeText(0n), timeText(86_399_999_999n)]).toEqual(['00:00:00.000000', '23:59:59.999999']);
});
