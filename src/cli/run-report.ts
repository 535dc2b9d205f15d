/** What a run did: one object for programs, a few lines for people. */
import type { run } from '../app.ts';
import type { LoadedPipeline } from '../config/load.ts';
import type { PipelineSpec } from '../model/spec.ts';
import type { Commits } from './run-view.ts';
import { formatTable } from './table.ts';
import type { Paint } from './terminal.ts';
import { callName, count, duration, indented, number, rate, shellWord } from './words.ts';

type RunSummary = Awaited<ReturnType<typeof run>>;

export interface RunReport {
  readonly pipeline_id: string;
  readonly status: 'finished' | 'interrupted';
  readonly changes: number;
  readonly tables: readonly {
    readonly table: string;
    readonly rows: number;
    readonly snapshots: number;
  }[];
  readonly events: number;
  readonly duplicates: number;
  /** Met in this run. */
  readonly dead_letters: number;
  /** All that wait, those of earlier runs too. */
  readonly dead_letters_waiting: number;
  readonly skipped: number;
  readonly unmapped: number;
  readonly tombstones: number;
  readonly messages: number;
  readonly bytes: number;
  readonly checkpoints: number;
  readonly last_checkpoint: number | null;
  readonly seconds: number;
  readonly changes_per_second: number;
  readonly warnings: readonly string[];
  /** What shows the dead letters; null: there are none. */
  readonly next: string | null;
}

export function reportRun(from: {
  readonly spec: PipelineSpec;
  readonly path: string;
  readonly summary: RunSummary;
  readonly waiting: number;
  readonly commits: Commits;
  readonly notices: LoadedPipeline['notices'];
  readonly ms: number;
  readonly signal: string | null;
}): RunReport {
  const { spec, summary, commits, ms } = from;
  const { deadLetters, ...counters } = summary.counters;
  return {
    pipeline_id: spec.pipeline_id,
    status: from.signal === null ? 'finished' : 'interrupted',
    changes: counters.changes,
    tables: [...commits.tables].map(([table, written]) => ({ table, ...written })),
    events: commits.events,
    duplicates: counters.duplicates,
    dead_letters: deadLetters,
    dead_letters_waiting: from.waiting,
    skipped: counters.skipped,
    unmapped: counters.unmapped,
    tombstones: counters.tombstones,
    messages: counters.messages,
    bytes: counters.bytes,
    checkpoints: summary.checkpoints,
    last_checkpoint: summary.lastCheckpoint,
    seconds: Math.round(ms) / 1000,
    changes_per_second: rate(counters.changes, ms),
    warnings: [...from.notices.map(({ message }) => message), ...commits.warnings],
    next: from.waiting === 0 ? null : `${callName()} dlq list ${shellWord(from.path)}`,
  };
}

export async function formatRun(report: RunReport, paint: Paint): Promise<string> {
  const lines = [headline(report, paint)];
  if (report.tables.length > 0) lines.push(indented(await tablesText(report, paint)));
  const left = leftOut(report);
  if (report.events > 0) lines.push(`  ${count(report.events, 'event')} published`);
  if (left.length > 0) lines.push(`  left out: ${left.join(' · ')}`);
  if (report.next !== null) {
    const older = report.dead_letters_waiting - report.dead_letters;
    const waits = `${count(report.dead_letters_waiting, 'dead letter')} ${report.dead_letters_waiting === 1 ? 'waits' : 'wait'}`;
    lines.push(
      `  ${paint.yellow(waits)}${older > 0 && report.dead_letters > 0 ? ` (${report.dead_letters} new)` : ''}: ${report.next}`,
    );
  }
  return lines.join('\n');
}

function headline(report: RunReport, paint: Paint): string {
  const { pipeline_id: name, status, changes, checkpoints, last_checkpoint: last } = report;
  const mark = status === 'finished' ? paint.green('✔') : paint.yellow('■');
  if (checkpoints === 0 && status === 'finished') {
    return `${mark} ${name}: nothing new${last === null ? '' : ` since checkpoint ${last}`}`;
  }
  const speed = `${number(report.changes_per_second)}/s`;
  const end = status === 'finished' ? '' : `, stopped after checkpoint ${last ?? 0}`;
  const time = duration(report.seconds * 1000);
  return `${mark} ${name}: ${count(changes, 'change')}, ${count(checkpoints, 'checkpoint')}, ${time} (${speed})${end}`;
}

function tablesText({ tables }: RunReport, paint: Paint): Promise<string> {
  const columns = [
    { title: 'TABLE' },
    { title: 'ROWS WRITTEN', isRight: true },
    { title: 'SNAPSHOTS', isRight: true },
  ];
  return formatTable(
    columns,
    tables.map((t) => [t.table, number(t.rows), number(t.snapshots)]),
    paint,
  );
}

function leftOut(report: RunReport): readonly string[] {
  const parts: readonly (readonly [number, string])[] = [
    [report.duplicates, 'duplicate'],
    [report.skipped, 'corrupted line'],
    [report.unmapped, 'change of other tables'],
    [report.tombstones, 'tombstone'],
    [report.messages, 'message'],
  ];
  return parts.flatMap(([n, noun]) =>
    n === 0
      ? []
      : [
          noun.startsWith('change ')
            ? `${number(n)} ${n === 1 ? 'change' : 'changes'} of other tables`
            : count(n, noun),
        ],
  );
}
