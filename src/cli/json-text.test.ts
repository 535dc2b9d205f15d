import { expect, test } from 'vitest';
import { jsonText } from './json-text.ts';

test('bigints keep all their digits', () => {
  expect(
    jsonText({ id: 9007199254740993n, list: [-170141183460469231731687303715884105728n] }),
  ).toBe('{"id":9007199254740993,"list":[-170141183460469231731687303715884105728]}');
});

test('what JSON has no number for becomes text, and -0 stays -0', () => {
  expect(jsonText([NaN, Infinity, -Infinity, -0, 1e21, 0.1])).toBe(
    '["NaN","Infinity","-Infinity",-0.0,1e+21,0.1]',
  );
});

test('undefined fields are left out, undefined items are null', () => {
  expect(jsonText({ a: undefined, b: null, c: [undefined] })).toBe('{"b":null,"c":[null]}');
});

test.each([0, 2])('plain values read as JSON.stringify writes them, indented by %d', (indent) => {
  const value = {
    a: [1, 'two\n"', { b: [] }, {}],
    c: true,
    'd"': null,
    e: { f: { g: 'é\u2028\ud83d\ude00' } },
  };
  expect(jsonText(value, { indent })).toBe(JSON.stringify(value, null, indent));
});
