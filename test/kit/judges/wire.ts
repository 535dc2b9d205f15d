/** Rows as the judges send them, and the one text form in which the rows of all judges are compared. */

/** What a query yields, each cell as text: see {@link cellText}. null is SQL NULL. */
export interface Rows {
  readonly columns: readonly string[];
  readonly rows: ReadonlyArray<ReadonlyArray<string | null>>;
}

/**
 * A cell on the wire. Text: anything that is exact as text, already in canonical form. A number: a double, because
 * the engines write its digits differently. `f`: a 32-bit float, likewise.
 */
type Cell =
  | string
  | number
  | null
  | { readonly f: number }
  | { readonly list: readonly Cell[] }
  | { readonly struct: readonly Cell[] }
  | { readonly map: ReadonlyArray<readonly [Cell, Cell]> };

export interface WireRows {
  readonly columns: readonly string[];
  readonly rows: ReadonlyArray<readonly Cell[]>;
}

export function rowsOf(wire: WireRows): Rows {
  return { columns: wire.columns, rows: wire.rows.map((row) => row.map(cellText)) };
}

/**
 * The canonical text: `true`/`false`; integers and decimals in full digits, a decimal with the scale of its type;
 * doubles and floats in their shortest form, as JavaScript writes it, and `-0`; `2024-01-31`;
 * `2024-01-31T10:00:00.5`, with `Z` when it is an instant; `10:00:00.5`; `0x00ff`; `[a,b]`, `(a,b)`, `{k:v}`
 * sorted by key, with `null` inside them.
 */
function cellText(cell: Cell): string | null {
  if (cell === null || typeof cell === 'string') return cell;
  if (typeof cell === 'number') return String(cell);
  if ('f' in cell) return floatText(cell.f);
  if ('list' in cell) return `[${cell.list.map(inner).join(',')}]`;
  if ('struct' in cell) return `(${cell.struct.map(inner).join(',')})`;
  const pairs = cell.map.map(([key, value]) => `${inner(key)}:${inner(value)}`);
  return `{${pairs.toSorted().join(',')}}`;
}

const inner = (cell: Cell): string => cellText(cell) ?? 'null';

/** The fewest digits that still name this very 32-bit float. */
function floatText(value: number): string {
  const exact = Math.fround(value);
  for (let digits = 6; digits < 9; digits += 1) {
    const text = exact.toPrecision(digits);
    if (Math.fround(Number(text)) === exact) return String(Number(text));
  }
  return String(Number(exact.toPrecision(9)));
}

const SHOWN = 10;

/**
 * Holds two results against each other: the same columns in the same order, and the same rows, each as often, in
 * any order. @throws with the rows that only one of them has.
 */
export function sameRows(actual: Rows, expected: Rows): void {
  const problems = [
    ...(textOf(actual.columns) === textOf(expected.columns)
      ? []
      : [`columns ${textOf(actual.columns)} instead of ${textOf(expected.columns)}`]),
    ...surplus(actual, expected).map((row) => `+ ${row}`),
    ...surplus(expected, actual).map((row) => `- ${row}`),
  ];
  if (problems.length === 0) return;
  const more = problems.length > SHOWN ? `\n… and ${problems.length - SHOWN} more` : '';
  throw new Error(`The rows differ:\n${problems.slice(0, SHOWN).join('\n')}${more}`);
}

const textOf = (value: unknown): string => JSON.stringify(value);

/** The rows of `left` that `right` has not, or not as often. */
function surplus(left: Rows, right: Rows): string[] {
  const counts = new Map<string, number>();
  for (const row of right.rows) counts.set(textOf(row), (counts.get(textOf(row)) ?? 0) + 1);
  return left.rows.map(textOf).filter((row) => {
    const count = counts.get(row) ?? 0;
    counts.set(row, count - 1);
    return count <= 0;
  });
}
