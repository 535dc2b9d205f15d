/** One list of rows in the form that was asked for. */
import { jsonText } from './json-text.ts';
import type { Terminal } from './terminal.ts';
import { number } from './words.ts';

export interface RowColumn<R> {
  /** Title in a table, in upper case; the JSON has the row's own names. */
  readonly title: string;
  readonly text: (row: R) => string | number | bigint | null;
}

/** `rows` as a table, or as JSON with their own field names. An empty table says so on stderr. */
export async function printRows<R extends object>(
  terminal: Terminal,
  rows: readonly R[],
  columns: readonly RowColumn<R>[],
  nothing: string,
): Promise<void> {
  switch (terminal.output) {
    case 'json':
      return await terminal.write(`${jsonText(rows, { indent: 2 })}\n`);
    case 'ndjson':
      return await terminal.write(rows.map((row) => `${jsonText(row)}\n`).join(''));
    case 'csv':
      return await terminal.write(csvOf(rows));
    case 'table': {
      if (rows.length === 0) return terminal.say(nothing);
      const { formatTable } = await import('./table.ts');
      const cells = rows.map((row) => columns.map(({ text }) => text(row)));
      const titles = columns.map(({ title }, j) => ({
        title,
        isRight: cells.every((row) => isNumber(row[j])),
      }));
      return await terminal.write(
        `${await formatTable(
          titles,
          cells.map((row) => row.map(cellText)),
          terminal.paint,
        )}\n`,
      );
    }
  }
}

/** One object as JSON, or what `human` makes of it. */
export async function printObject(
  terminal: Terminal,
  object: object,
  human: () => string | Promise<string>,
): Promise<void> {
  if (terminal.output === 'table') return await terminal.write(`${await human()}\n`);
  await terminal.write(`${jsonText(object, { indent: terminal.output === 'json' ? 2 : 0 })}\n`);
}

function csvOf(rows: readonly object[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = rows.map((row) =>
    names.map((name) => csvCell((row as Record<string, unknown>)[name])).join(','),
  );
  return rows.length === 0 ? '' : [names.map(csvCell).join(','), ...lines, ''].join('\n');
}

/** RFC 4180. Null is an empty cell, the empty text a quoted one. */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? value : jsonText(value);
  return text === '' || /[",\r\n]|^\s|\s$/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const isNumber = (cell: unknown): boolean =>
  cell === null || typeof cell === 'number' || typeof cell === 'bigint';

function cellText(cell: string | number | bigint | null): string {
  if (cell === null) return '–';
  return typeof cell === 'string' ? cell : number(cell);
}
