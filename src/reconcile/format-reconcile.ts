/** A reconcile report for people. */
import { isEqualRange, type RowReport } from './compare.ts';
import type { ReconcileReport } from './reconcile.ts';

export function formatReconcile(report: ReconcileReport): string {
  const { feed, rows } = report;
  const wrong = report.ranges.filter((range) => !isEqualRange(range)).length;
  return [
    `${report.table}: ${report.equal ? 'equal to its feed' : 'DIFFERS from its feed'}`,
    `  feed     ${count(feed.lines, 'line')} in ${count(feed.files, 'file')}, ${count(feed.changes, 'change')} of this table${feedNotes(report)}`,
    `  rows     ${number(rows.expected)} expected, ${number(rows.actual)} in the table`,
    `  ranges   ${number(report.ranges.length - wrong)} of ${number(report.ranges.length)} with equal checksums`,
    ...refusedLines(report),
    ...report.schema.map(
      (s) =>
        `  column   ${s.column}: expected ${s.expected ?? 'none'}, the table has ${s.actual ?? 'none'}`,
    ),
    ...differenceLines(report),
  ].join('\n');
}

function feedNotes({ feed }: ReconcileReport): string {
  const truncates = feed.truncates > 0 ? `, ${count(feed.truncates, 'truncate')}` : '';
  return truncates + (feed.leftOut > 0 ? `, ${count(feed.leftOut, 'dead letter')} left out` : '');
}

function refusedLines({ feed }: ReconcileReport): string[] {
  if (feed.refused === 0) return [];
  const places = feed.refusedAt.slice(0, 3).map(({ file, line }) => `${file}:${line}`);
  return [
    `  refused  ${count(feed.refused, 'change')} that cannot be represented: ${places.join(', ')}${feed.refused > 3 ? ', …' : ''}`,
  ];
}

function differenceLines(report: ReconcileReport): string[] {
  const total = report.missing + report.extra + report.different;
  if (total === 0) return [];
  return [
    `  differ   ${number(report.missing)} missing, ${number(report.extra)} extra, ${number(report.different)} with other values`,
    ...report.differences.map(differenceLine),
    ...(total > report.differences.length
      ? [`  … and ${number(total - report.differences.length)} more`]
      : []),
  ];
}

function differenceLine({ kind, key, cells }: RowReport): string {
  const name = Object.entries(key)
    .map(([column, value]) => `${column}=${cell(value)}`)
    .join(' ');
  if (kind !== 'different') return `  ${kind.padEnd(9)}  ${name}`;
  const values = cells.map(
    ({ column, expected, actual }) => `${column}: expected ${cell(expected)}, is ${cell(actual)}`,
  );
  return `  ${kind.padEnd(9)}  ${name}  ${values.join('; ')}`;
}

function cell(value: string | null): string {
  return value === null ? 'null' : JSON.stringify(value);
}

function count(n: number, noun: string): string {
  return `${number(n)} ${noun}${n === 1 ? '' : 's'}`;
}

function number(n: number): string {
  return n.toLocaleString('en-US');
}
