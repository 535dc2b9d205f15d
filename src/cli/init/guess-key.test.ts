import { expect, test } from 'vitest';
import { guessKey } from './guess-key.ts';

const images = (...rows: readonly Record<string, string | null>[]) =>
  rows.map((row) => new Map(Object.entries(row)));

test('deletes that carry less than a row carry the key', () => {
  const seen = {
    rows: images({ id: '1', line: '1', sku: 'a' }),
    removed: images({ id: '1', line: '1', sku: 'a' }, { id: '1', line: '1' }),
  };
  expect(guessKey('shop.lines', ['id', 'line', 'sku'], seen)).toEqual({
    key: ['id', 'line'],
    reason: 'what deletes carry',
  });
});

test.each([
  ['shop.orders', ['name', 'Id'], 'Id'],
  ['shop.categories', ['name', 'category_id'], 'category_id'],
  ['shop.orders', ['note', 'orders_id'], 'orders_id'],
])('%s with %j is keyed by %s', (table, columns, key) => {
  const row = Object.fromEntries(columns.map((name) => [name, 'same']));
  expect(guessKey(table, columns, { rows: images(row, row), removed: [] })).toEqual({
    key: [key],
    reason: 'a guess by its name',
  });
});

test('a column that is null anywhere is no key', () => {
  const rows = images({ id: null, sku: 'a' }, { id: '2', sku: 'b' });
  expect(guessKey('t', ['id', 'sku'], { rows, removed: [] })).toEqual({
    key: ['sku'],
    reason: 'a guess: no two rows share a value',
  });
});

test('where nothing tells, the first column is offered as a mere guess', () => {
  const rows = images({ a: '1', b: '1' }, { a: '1', b: '1' });
  expect(guessKey('t', ['a', 'b'], { rows, removed: [] })).toEqual({
    key: ['a'],
    reason: 'a mere guess: the first column',
  });
});
