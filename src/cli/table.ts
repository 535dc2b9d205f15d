/** Tables for people: no borders, two spaces between the columns, so that they cut and grep well. */
import stringWidth from 'string-width';
import type { Paint } from './terminal.ts';

export interface TableColumn {
  readonly title: string;
  readonly isRight?: boolean;
}

/** Text of every cell; `rows[i][j]` belongs to `columns[j]`. Control characters are made visible. */
export function formatTable(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
  paint: Paint,
): string {
  const cells = rows.map((row) => row.map(visible));
  const widths = columns.map(({ title }, j) =>
    cells.reduce((width, row) => Math.max(width, stringWidth(row[j] ?? '')), stringWidth(title)),
  );
  const line = (row: readonly string[], style: (text: string) => string): string =>
    row
      .map((text, j) => {
        const isLast = j === columns.length - 1;
        const gap = ' '.repeat(Math.max(0, (widths[j] ?? 0) - stringWidth(text)));
        if (columns[j]?.isRight === true) return `${gap}${style(text)}`;
        return isLast ? style(text) : `${style(text)}${gap}`;
      })
      .join('  ');
  const titles = columns.map(({ title }) => title);
  return [line(titles, paint.bold), ...cells.map((row) => line(row, String))].join('\n');
}

const NAMES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** A cell is one line, and cannot steer the terminal: control characters show as escapes. */
function visible(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (found) =>
    NAMES[found] ?? `\\u${found.codePointAt(0)?.toString(16).padStart(4, '0') ?? ''}`,
  );
}
