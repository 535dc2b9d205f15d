import { expect, test } from 'vitest';
import { rowsOf, sameRows, type Rows } from './wire.ts';

const table = (...rows: Rows['rows']): Rows => ({ columns: ['id', 'v'], rows });

test('floats and doubles have one text whatever digits a judge sent', () => {
  const cells = [1e39, 0.1, 1e-7, { f: 0.10000000149011612 }, { f: 1.17549435e-38 }, { f: 1.0e10 }];
  expect(rowsOf({ columns: [], rows: [cells] }).rows[0]).toEqual([
    '1e+39',
    '0.1',
    '1e-7',
    '0.1',
    '1.1754944e-38',
    '10000000000',
  ]);
});

test('nested cells become text, maps sorted by key', () => {
  const map = {
    map: [
      ['b', '2'],
      ['a', null],
    ],
  } as const;
  const cells = [{ list: ['1', null, { f: 0.5 }] }, { struct: ['x', { list: [] }] }, map, null];
  expect(rowsOf({ columns: [], rows: [cells] }).rows[0]).toEqual([
    '[1,null,0.5]',
    '(x,[])',
    '{a:null,b:2}',
    null,
  ]);
});

test('rows are compared in any order', () => {
  expect(() =>
    sameRows(table(['1', 'a'], ['2', null]), table(['2', null], ['1', 'a'])),
  ).not.toThrow();
});

test('a row that stands there twice is not the same as once', () => {
  expect(() => sameRows(table(['1', 'a'], ['1', 'a']), table(['1', 'a']))).toThrow('+ ["1","a"]');
});

test('what only one side has is named, null is not the text null', () => {
  expect(() => sameRows(table(['1', null]), table(['1', 'null']))).toThrow(
    'The rows differ:\n+ ["1",null]\n- ["1","null"]',
  );
});

test('columns of another order are not the same', () => {
  expect(() => sameRows({ columns: ['v', 'id'], rows: [] }, table())).toThrow(
    'columns ["v","id"] instead of ["id","v"]',
  );
});
