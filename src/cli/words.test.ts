import { expect, test } from 'vitest';
import {
  bytes,
  callName,
  count,
  duration,
  indented,
  number,
  rate,
  shellWord,
  shownPath,
} from './words.ts';

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1.00 kB'],
  [9994, '9.99 kB'],
  [9995, '10.0 kB'],
  [99_949, '99.9 kB'],
  [99_950, '100 kB'],
  [999_499, '999 kB'],
  [999_500, '1.00 MB'],
  [3_898_587_660, '3.90 GB'],
  [5e15, '5000 TB'],
])('%d bytes read %s', (value, text) => {
  expect(bytes(value)).toBe(text);
});

test.each([
  [0, '0.00 s'],
  [9994, '9.99 s'],
  [9995, '10.0 s'],
  [59_949, '59.9 s'],
  [59_950, '1 min 00 s'],
  [125_400, '2 min 05 s'],
  [3_599_600, '1 h 00 min'],
  [7_380_000, '2 h 03 min'],
])('%d ms read %s', (ms, text) => {
  expect(duration(ms)).toBe(text);
});

test('counts agree with their noun', () => {
  expect([count(0, 'row'), count(1, 'row'), count(2000, 'row'), count(1n, 'row')]).toEqual([
    '0 rows',
    '1 row',
    '2,000 rows',
    '1 row',
  ]);
  expect(number(9007199254740993n)).toBe('9,007,199,254,740,993');
});

test('a number keeps every digit that it has', () => {
  const values = [-1234567, -123, 0.1234567, 12345.67891, 1e21, 1.5e-7, NaN, -Infinity, 999, 1000];
  expect(values.map(number)).toEqual([
    '-1,234,567',
    '-123',
    '0.1234567',
    '12,345.67891',
    '1e+21',
    '1.5e-7',
    'NaN',
    '-Infinity',
    '999',
    '1,000',
  ]);
});

test('a rate over no time is none', () => {
  expect([rate(10, 0), rate(1000, 500), rate(1, 3000)]).toEqual([0, 2000, 0]);
});

test('a command line survives the shell', () => {
  expect(['a/b.yaml', 'my file.yaml', "it's", ''].map(shellWord)).toEqual([
    'a/b.yaml',
    "'my file.yaml'",
    `'it'\\''s'`,
    "''",
  ]);
});

test('the command is called as it can be called here', () => {
  expect(callName({})).toBe('lakeward');
  expect(callName({ npm_command: 'exec' })).toBe('npx lakeward');
});

test('a path is short only where it is below', () => {
  expect(shownPath(`${process.cwd()}/a/b`)).toBe('a/b');
  expect(shownPath('/somewhere/else')).toBe('/somewhere/else');
});

test('indentation leaves empty lines empty', () => {
  expect(indented('a\n\nb')).toBe('  a\n\n  b');
});
