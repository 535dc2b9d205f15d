import pico from 'picocolors';
import { expect, test } from 'vitest';
import { formatTable } from './table.ts';

const plain = pico.createColors(false);

test('columns stand under their titles, numbers to the right, no blanks at the end', async () => {
  const columns = [{ title: 'TABLE' }, { title: 'ROWS', isRight: true }, { title: 'NOTE' }];
  const rows = [
    ['shop.orders', '12,345', 'a'],
    ['t', '7', ''],
  ];
  expect(await formatTable(columns, rows, plain)).toBe(
    ['TABLE          ROWS  NOTE', 'shop.orders  12,345  a', 't                 7  '].join('\n'),
  );
});

test('wide characters and joined emoji count as they show', async () => {
  const rows = [
    ['東京', 'x'],
    ['👨‍👩‍👧', 'y'],
    ['é', 'z'],
  ];
  expect(await formatTable([{ title: 'N' }, { title: 'V' }], rows, plain)).toBe(
    ['N     V', '東京  x', '👨‍👩‍👧    y', 'é     z'].join('\n'),
  );
});

test('a cell cannot break its line nor steer the terminal', async () => {
  const table = await formatTable(
    [{ title: 'V' }],
    [['a\nb\r\tc\u001b[31m\u0007\u202e\u2028\u009b']],
    plain,
  );
  expect(table).toBe(String.raw`V
a\nb\r\tc\u001b[31m\u0007\u202e\u2028\u009b`);
});

test('colours do not move columns', async () => {
  const painted = await formatTable(
    [{ title: 'A' }, { title: 'B' }],
    [['long cell', 'x']],
    pico.createColors(true),
  );
  expect(painted).toBe('\u001b[1mA\u001b[22m          \u001b[1mB\u001b[22m\nlong cell  x');
});

test('a table without rows is its titles', async () => {
  expect(await formatTable([{ title: 'A' }, { title: 'B' }], [], plain)).toBe('A  B');
});
