import { expect, test } from 'vitest';
import { recordedTerminal } from '../../test/e2e/cli-terminal.ts';
import { csvCell, printObject, printRows } from './print-rows.ts';
import type { Output } from './terminal.ts';

const rows = [
  { id: 9007199254740993n, name: 'a,b', size: 1234, more: [1] },
  { id: 2n, name: null, size: 5, more: [] },
];
const columns = [
  { title: 'ID', text: (row: (typeof rows)[number]) => String(row.id) },
  { title: 'NAME', text: (row: (typeof rows)[number]) => row.name },
  { title: 'SIZE', text: (row: (typeof rows)[number]) => row.size },
];

test.each<[Output, string]>([
  [
    'table',
    'ID                NAME   SIZE\n9007199254740993  a,b   1,234\n2                 –         5\n',
  ],
  [
    'ndjson',
    '{"id":9007199254740993,"name":"a,b","size":1234,"more":[1]}\n{"id":2,"name":null,"size":5,"more":[]}\n',
  ],
  ['csv', 'id,name,size,more\n9007199254740993,"a,b",1234,[1]\n2,,5,[]\n'],
])('rows as %s', async (output, text) => {
  const { terminal, stdout, stderr } = recordedTerminal({ output });
  await printRows(terminal, rows, columns, 'nothing');
  expect([stdout(), stderr()]).toEqual([text, '']);
});

test('rows as json are one array', async () => {
  const { terminal, stdout } = recordedTerminal({ output: 'json' });
  await printRows(terminal, rows, columns, 'nothing');
  expect(JSON.parse(stdout())).toHaveLength(2);
  expect(stdout()).toContain('"id": 9007199254740993,');
});

test.each<[Output, string, string]>([
  ['table', '', 'nothing\n'],
  ['json', '[]\n', ''],
  ['ndjson', '', ''],
  ['csv', '', ''],
])('no rows as %s', async (output, out, err) => {
  const { terminal, stdout, stderr } = recordedTerminal({ output });
  await printRows(terminal, [], columns, 'nothing');
  expect([stdout(), stderr()]).toEqual([out, err]);
});

test('an object is one line of ndjson, and text for people', async () => {
  const [machine, human] = [recordedTerminal({ output: 'ndjson' }), recordedTerminal()];
  for (const { terminal } of [machine, human]) await printObject(terminal, { a: 1 }, () => 'one');
  expect([machine.stdout(), human.stdout()]).toEqual(['{"a":1}\n', 'one\n']);
});

test('csv tells null from the empty text', () => {
  expect([null, undefined, '', ' a', 'a"b', 'a\nb', 1.5, true].map(csvCell)).toEqual([
    '',
    '',
    '""',
    '" a"',
    '"a""b"',
    '"a\nb"',
    '1.5',
    'true',
  ]);
});
