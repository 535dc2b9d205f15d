/** Tables for people: no borders, two spaces between the columns, so that they cut and grep well. */
import type { Paint } from './terminal.ts';

export interface TableColumn {
  readonly title: string;
  readonly isRight?: boolean;
}

type Width = (text: string) => number;

/** Text of every cell; `rows[i][j]` belongs to `columns[j]`. Control characters are made visible. */
export async function formatTable(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
  paint: Paint,
): Promise<string> {
  const titles = columns.map(({ title }) => visible(title));
  const cells = rows.map((row) => row.map(visible));
  const width = await widthFor([titles, ...cells]);
  const widths = titles.map((title, j) =>
    cells.reduce((most, row) => Math.max(most, width(row[j] ?? '')), width(title)),
  );
  const line = (row: readonly string[], style: (text: string) => string): string =>
    row
      .map((text, j) => {
        const gap = ' '.repeat(Math.max(0, (widths[j] ?? 0) - width(text)));
        if (columns[j]?.isRight === true) return `${gap}${style(text)}`;
        return j === columns.length - 1 ? style(text) : `${style(text)}${gap}`;
      })
      .join('  ');
  return [line(titles, paint.bold), ...cells.map((row) => line(row, String))].join('\n');
}

const NARROW = /^[\u0020-\u007e\u00a1-\u02ff\u2013]*$/u;

/** Loads the table of wide characters only where one may be met. */
async function widthFor(rows: readonly (readonly string[])[]): Promise<Width> {
  if (rows.every((row) => row.every((text) => NARROW.test(text)))) return (text) => text.length;
  return (await import('string-width')).default;
}

const NAMES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

// Controls, line and paragraph separators, and what turns the writing direction.
const UNSEEN = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;

/** A cell is one line, and cannot steer the terminal: control characters show as escapes. */
function visible(text: string): string {
  return text.replaceAll(
    UNSEEN,
    (found) => NAMES[found] ?? `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
