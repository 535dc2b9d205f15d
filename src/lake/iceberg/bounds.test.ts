import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  decimalBytes,
  floatBytes,
  intBytes,
  longBytes,
  lowerBinary,
  lowerText,
  upperBinary,
  upperText,
} from './bounds.ts';

const hex = (bytes: Uint8Array | null): string | null =>
  bytes === null ? null : Buffer.from(bytes).toString('hex');

test.each([
  ['14.20', '058c'],
  ['-1', 'ff'],
  ['128', '0080'],
  ['127', '7f'],
  ['-128', '80'],
  ['-129', 'ff7f'],
  ['0.00', '00'],
  ['99999999999999999999999999999999999999', '4b3b4ca85a86c47a098a223fffffffff'],
  ['-99999999999999999999999999999999999999', 'b4c4b357a5793b85f675ddc000000001'],
])('the decimal %s is the shortest two’s complement %s, big-endian', (text, expected) => {
  expect(hex(decimalBytes(text))).toBe(expected);
});

test('whole numbers are little-endian', () => {
  expect(hex(intBytes(-2n))).toBe('feffffff');
  expect(hex(longBytes(1n << 40n))).toBe('0000000000010000');
});

test('a zero bounds both zeros, whichever of them the rows hold', () => {
  for (const zero of [0, -0]) {
    expect(hex(floatBytes(zero, 'double', 'lower'))).toBe('0000000000000080');
    expect(hex(floatBytes(zero, 'double', 'upper'))).toBe('0000000000000000');
    expect(hex(floatBytes(zero, 'float', 'lower'))).toBe('00000080');
  }
});

test('NaN is never a bound', () => {
  expect(floatBytes(Number.NaN, 'double', 'lower')).toBeNull();
  expect(floatBytes(Number.NaN, 'float', 'upper')).toBeNull();
});

test('a text is cut between characters, never inside one', () => {
  expect(lowerText('😀'.repeat(17)).toString()).toBe('😀'.repeat(16));
  expect(lowerText('short').toString()).toBe('short');
});

test('an upper bound of a long text is raised at its last character that can be', () => {
  expect(upperText('a'.repeat(17))?.toString()).toBe(`${'a'.repeat(15)}b`);
  expect(upperText('a'.repeat(16))?.toString()).toBe('a'.repeat(16));
  expect(upperText(`${'a'.repeat(15)}\u{10ffff}z`)?.toString()).toBe(`${'a'.repeat(14)}b`);
  expect(upperText('\u{10ffff}'.repeat(17))).toBeNull();
});

test('the character before the surrogates is raised past them, which are no text', () => {
  expect(upperText(`${'a'.repeat(15)}\ud7ffz`)?.toString()).toBe(`${'a'.repeat(15)}\ue000`);
});

test('bounds hold every text between them, in the order of their bytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
      const bytes = Buffer.from(text);
      // A text whose every character is the last one has no upper bound; nothing lies above it.
      const upper = upperText(text) ?? Buffer.alloc(99, 0xff);
      expect(Buffer.compare(upper, bytes)).toBeGreaterThanOrEqual(0);
    }),
  );
});

test('bytes are raised likewise, and 0xff is left out', () => {
  expect(hex(upperBinary(Buffer.from('61'.repeat(15) + 'ff' + '00', 'hex')))).toBe(
    '61'.repeat(14) + '62',
  );
  expect(upperBinary(Buffer.alloc(17, 0xff))).toBeNull();
  expect(hex(upperBinary(Buffer.alloc(16, 0xff)))).toBe('ff'.repeat(16));
  expect(hex(lowerBinary(Buffer.alloc(20, 1)))).toBe('01'.repeat(16));
});
