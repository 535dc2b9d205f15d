import { describe, expect, test } from 'vitest';
import { longRealsIn } from './long-reals.ts';

const offsetsIn = (text: string): readonly number[] => longRealsIn(Buffer.from(text));

describe('numbers that a double would shorten', () => {
  test('are found wherever they stand', () => {
    for (let pad = 0; pad < 40; pad += 1) {
      const head = `${' '.repeat(pad)}{"v":`;
      expect(offsetsIn(`${head}12.3400000000000000001}`)).toEqual([head.length]);
      expect(offsetsIn(`${head}0.30000000000000001}`)).toEqual([head.length]);
      expect(offsetsIn(`${head}1.10000000000000000000}`)).toEqual([head.length]);
    }
  });

  test('are all found where many follow each other', () => {
    const text = '1.00000000000000000001,'.repeat(500);
    expect(offsetsIn(text)).toHaveLength(500);
  });

  test('are not whole numbers, however long, nor doubles in their shortest form', () => {
    for (let pad = 0; pad < 40; pad += 1) {
      const head = ' '.repeat(pad);
      expect(
        offsetsIn(
          `${head}{"ts_ns":1711267200123456789,"d":0.30000000000000004,"e":-122.41941550000001}`,
        ),
      ).toEqual([]);
    }
  });

  test('have more digits than can be looked at', () => {
    expect(offsetsIn(`{"v":0.${'3'.repeat(300)}}`)).toEqual([5]);
  });
});
