/** All that is wrong with a pipeline file, found in one go. */
import type { ErrorCode } from '../model/errors.ts';
import { PipelineError } from '../model/errors.ts';
import type { Finding } from './node-tree.ts';
import { pathText } from './node-tree.ts';

export interface Problem {
  readonly code: ErrorCode;
  /** `source.tables[0].columns.price`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
  readonly suggestion?: string | undefined;
  readonly allowed?: readonly string[] | undefined;
  /** The file as the caller named it; absent for objects given to the library. */
  readonly file?: string | undefined;
  /** From 1. */
  readonly line?: number | undefined;
  /** From 1, in UTF-16 units. */
  readonly column?: number | undefined;
  readonly frame?: Frame | undefined;
}

/** A few lines of the file. Secrets, unknown keys' values and comments are masked in it. */
export interface Frame {
  readonly lines: readonly { readonly number: number; readonly text: string }[];
  /** Under the last line: columns from 0, in characters. */
  readonly caret: { readonly column: number; readonly width: number };
}

/** Thrown with the code of the first problem. */
export class ConfigError extends PipelineError {
  readonly problems: readonly Problem[];
  constructor(problems: readonly [Problem, ...Problem[]]) {
    const [first, ...others] = problems;
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
    const { file, line, column } = first;
    const subject = {
      ...(file === undefined ? {} : { file }),
      ...(line === undefined ? {} : { line }),
      ...(column === undefined ? {} : { column }),
    };
    super(first.code, `${placeOf(first)}${sentenceOf(first)}${hintOf(first, ' — ')}${more}`, {
      subject,
    });
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** For objects given to the library, which have no file. */
export function problemOf(finding: Finding): Problem {
  const { code, path, message, suggestion, allowed } = finding;
  return { code, path: pathText(path), message, suggestion, allowed };
}

const placeOf = ({ file, line, column }: Problem): string =>
  file === undefined ? '' : line === undefined ? `${file}: ` : `${file}:${line}:${column}: `;

const sentenceOf = ({ path, message }: Problem): string =>
  path === '' ? message : `${path}: ${message}`;

function hintOf({ suggestion, allowed }: Problem, before: string): string {
  const meant = suggestion === undefined ? '' : `did you mean "${suggestion}"?`;
  const list = allowed === undefined || allowed.length === 0 ? '' : `(${allowed.join(', ')})`;
  const hint = [meant, list].filter((part) => part !== '').join('  ');
  return hint === '' ? '' : `${before}${hint}`;
}

const inCode =
  (on: number, off: number) =>
  (text: string): string =>
    `\u001b[${on}m${text}\u001b[${off}m`;
const asIs = (text: string): string => text;

/** Five codes: a library for them would cost as much to load as all of this folder. */
const COLORS = {
  bold: inCode(1, 22),
  dim: inCode(2, 22),
  red: inCode(31, 39),
  cyan: inCode(36, 39),
} as const;
const PLAIN: Paint = { bold: asIs, dim: asIs, red: asIs, cyan: asIs };
type Paint = Readonly<Record<keyof typeof COLORS, (text: string) => string>>;

/**
 * One line a problem (`file:line:col  error CODE  path: message`), its lines of the file below, and a count.
 * Ends without a newline.
 */
export function formatProblems(
  problems: readonly Problem[],
  { color = false }: { readonly color?: boolean } = {},
): string {
  const paint = color ? COLORS : PLAIN;
  const blocks = problems.map((problem) => {
    const place = placeOf(problem).replace(/: $/u, '  ');
    const head = `${paint.bold(place)}${paint.red('error')} ${paint.dim(problem.code)}  ${sentenceOf(problem)}`;
    if (problem.frame === undefined) return head + hintOf(problem, ' — ');
    return `${head}\n${frameText(problem.frame, hintOf(problem, ' '), paint)}`;
  });
  const files = new Set(problems.flatMap(({ file }) => (file === undefined ? [] : [file])));
  const where = files.size === 0 ? '' : ` in ${[...files].join(', ')}`;
  const count = `${problems.length} ${problems.length === 1 ? 'error' : 'errors'}${where}`;
  return [...blocks, count].join('\n');
}

function frameText(frame: Frame, hint: string, paint: Paint): string {
  const width = Math.max(...frame.lines.map((line) => String(line.number).length)) + 2;
  const lines = frame.lines.map(({ number, text }) =>
    `${paint.dim(`${String(number).padStart(width)} │`)} ${text}`.trimEnd(),
  );
  const caret = '^'.repeat(Math.max(1, frame.caret.width));
  const under = `${' '.repeat(width)} ${paint.dim('│')} ${' '.repeat(frame.caret.column)}${paint.red(caret)}${paint.cyan(hint)}`;
  return [...lines, under].join('\n');
}
