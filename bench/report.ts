/** The bench's result as text for people. */
import type { Contents } from './contents.ts';
import type { ContestantName } from './contestants.ts';
import type { SizeFigures, Verdict } from './targets.ts';

export interface SizeReport extends SizeFigures {
  /** Wall and CPU time are medians of so many runs; peak memory is the highest of them. */
  readonly runs: number;
  readonly contents: Readonly<Partial<Record<ContestantName, Contents>>>;
  /** By contestant: columns whose contents are not those of the first one. */
  readonly differences: Readonly<Partial<Record<ContestantName, readonly string[]>>>;
}

const MIB = 1024 ** 2;
const HEAD = [
  'changes',
  'contestant',
  'wall s',
  'cpu s',
  'peak MiB',
  'rows/s',
  'rows/cpu s',
  'wall ÷ script',
  'cpu ÷ script',
  'table',
];

export function formatReport(sizes: readonly SizeReport[], targets: readonly Verdict[]): string {
  const figures = formatColumns([HEAD, ...sizes.flatMap(linesOf)]);
  const promises = formatColumns([
    ['target', 'measured', 'limit', ''],
    ...targets.map(({ target, measured, limit, unit, isMet }) => [
      target,
      measured.toFixed(2),
      `${unit.split(' ')[0]} ${limit} ${unit.split(' ')[1]}`,
      isMet ? 'met' : 'not met',
    ]),
  ]);
  const runs = sizes.map(
    ({ rows, runs: each }) => `${rows.toLocaleString('en')} changes: medians of ${each}`,
  );
  return `${figures}\n${runs.join(', ')}; whole processes, start included\n\n${promises}`;
}

function linesOf(size: SizeReport): readonly (readonly string[])[] {
  const { script } = size.medians;
  return Object.entries(size.medians).map(([name, { wallMs, cpuMs, peakBytes }]) => [
    size.rows.toLocaleString('en'),
    name,
    (wallMs / 1000).toFixed(2),
    (cpuMs / 1000).toFixed(2),
    (peakBytes / MIB).toFixed(0),
    rate(size.rows, wallMs),
    rate(size.rows, cpuMs),
    script === undefined ? '' : (wallMs / script.wallMs).toFixed(2),
    script === undefined ? '' : (cpuMs / script.cpuMs).toFixed(2),
    tableWords(size, name as ContestantName),
  ]);
}

function tableWords(size: SizeReport, name: ContestantName): string {
  const found = size.differences[name];
  if (found === undefined) return `${size.contents[name]?.rows ?? 0} rows`;
  return found.length === 0 ? 'the same' : `DIFFERS: ${found.join(', ')}`;
}

function rate(rows: number, ms: number): string {
  return Math.round(rows / (ms / 1000)).toLocaleString('en');
}

/** The first two columns to the left, numbers to the right. */
function formatColumns(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, i) =>
    Math.max(...lines.map((line) => (line[i] ?? '').length)),
  );
  return lines
    .map((line) =>
      line
        .map((cell, i) => (i < 2 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
