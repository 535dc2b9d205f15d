/**
 * DuckDB's JSON reader takes every real for a double and gives back its shortest text, so digits from the 16th on
 * are lost, even where the short text looks innocent (0.10000000000000000001 → 0.1). A pattern over the raw line
 * finds such numbers; those lines are parsed here, digit for digit.
 */
import { isLosslessNumber, parse, stringify } from 'lossless-json';
import type { ColumnType } from '../model/types.ts';

export interface ReadColumn {
  readonly name: string;
  /** Null: not known, so treated as one that must be exact. */
  readonly type: ColumnType | null;
}

/**
 * Matches a raw line in which one of these columns may have lost something; null when none can. Doubles are meant
 * to be doubles. In a text column every real counts, for its text is the value (`1.10`, not `1.1`), and so does a
 * nested value, whose inner numbers pass through doubles as well.
 */
export function suspectPattern(columns: readonly ReadColumn[]): string | null {
  const exact = columns.filter(
    ({ type }) => type !== 'double' && type !== 'float' && type !== 'boolean',
  );
  const texts = exact
    .filter(({ type }) => type === null || type === 'string')
    .map(({ name }) => name);
  const numbers = exact.filter(({ type }) => type !== 'string').map(({ name }) => name);
  const parts = [
    ...(exact.length === 0
      ? []
      : [`${names(exact.map((c) => c.name))}\\s*:\\s*-?(?:${LONG_REAL})`]),
    ...(numbers.length === 0 ? [] : [`${names(numbers)}\\s*:\\s*-?[0-9.]+[eE]`]),
    ...(texts.length === 0 ? [] : [`${names(texts)}\\s*:\\s*(?:[\\[{]|-?[0-9]+[.eE])`]),
  ];
  return parts.length === 0 ? null : parts.join('|');
}

const LONG_REAL = [
  ...Array.from({ length: 15 }, (_, i) => `[0-9]{${i + 1}}\\.[0-9]{${15 - i},}`),
  '[0-9]{16,}(?:\\.|[eE])',
].join('|');

/** A name as JSON writers put it: as it is, or with its non-ASCII characters escaped. */
function names(columns: readonly string[]): string {
  const forms = columns.flatMap((name) => {
    const quoted = JSON.stringify(name);
    const escaped = quoted.replace(
      /[^\x20-\x7e]/g,
      (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    return [quoted, escaped, quoted.replaceAll('/', '\\/')];
  });
  return `(?:${[...new Set(forms)].map((form) => form.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})`;
}

/** JSON objects that hold the exact text of the cells that the reader may have changed; null where there are none. */
export function exactCells(
  line: string,
  keys: readonly ReadColumn[],
  columns: readonly ReadColumn[],
): { before: string; after: string } | null {
  let root: unknown;
  try {
    root = parse(line);
  } catch {
    return null; // not one JSON object: the other reader has refused the line as well
  }
  const envelope = field(root, 'payload') ?? root;
  const before = cells(field(envelope, 'before'), keys);
  const after = cells(field(envelope, 'after'), columns);
  return Object.keys(before).length + Object.keys(after).length === 0
    ? null
    : { before: JSON.stringify(before), after: JSON.stringify(after) };
}

function cells(image: unknown, columns: readonly ReadColumn[]): Record<string, string> {
  const found: [string, string][] = [];
  for (const { name, type } of columns) {
    const value = field(image, name);
    if (isLosslessNumber(value)) {
      const plain = type === 'string' ? value.value : plainDecimal(value.value);
      if (changes(value.value, type)) found.push([name, plain]);
    } else if (
      typeof value === 'object' &&
      value !== null &&
      (type === 'string' || type === null)
    ) {
      found.push([name, stringify(value) ?? '']);
    }
  }
  return Object.fromEntries(found);
}

/** Whether the shortest text of the double can be another number or text than the token. */
function changes(token: string, type: ColumnType | null): boolean {
  if (type === 'double' || type === 'float' || !/[.eE]/.test(token)) return false;
  if (type === 'string') return true;
  const digits = token.replace(/[eE].*$/, '').replace(/[-.]/g, '').length;
  return digits >= 16 || /[eE]/.test(token);
}

/** `12.5e-3` → `0.0125`; exponents beyond a decimal's reach stay as they are. */
function plainDecimal(token: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?[eE]([+-]?\d+)$/.exec(token);
  const exponent = Number(match?.[4] ?? 0);
  if (match === null || Math.abs(exponent) > 400) return token;
  const [, sign = '', whole = '', fraction = ''] = match;
  const point = whole.length + exponent;
  const digits = (whole + fraction).padEnd(point, '0');
  const padded = point <= 0 ? '0'.repeat(1 - point) + digits : digits;
  const at = Math.max(point, 1);
  return `${sign}${padded.slice(0, at)}${at < padded.length ? `.${padded.slice(at)}` : ''}`;
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}
