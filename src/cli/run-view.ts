/** What one sees while a pipeline runs: a live line on a terminal, a line for each checkpoint elsewhere. */
import type { RunOptions } from '../app.ts';
import type { Clock } from '../lib/clock.ts';
import type { PipelineSpec } from '../model/spec.ts';
import type { Terminal } from './terminal.ts';
import { bytes, count, duration, number, rate } from './words.ts';

type Progress = Parameters<NonNullable<RunOptions['progress']>>[0];
type Checkpointed = Extract<Progress, { kind: 'checkpoint' }>;

/** What became visible, by table, over the whole run. */
export interface Commits {
  readonly tables: ReadonlyMap<string, { readonly rows: number; readonly snapshots: number }>;
  readonly events: number;
  readonly warnings: readonly string[];
}

export interface RunView {
  readonly take: (news: Progress) => void;
  stopping(): void;
  commits(): Commits;
  /** Takes the live line away. May be called again. */
  end(): void;
}

const REDRAW_MS = 100;
const SPINNER = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const EVENTS = 'events';

/** @param totalBytes how much of the feed is unread; null: nobody knows, or it has no end */
export function runView(
  terminal: Terminal,
  clock: Clock,
  spec: Pick<PipelineSpec, 'pipeline_id'>,
  totalBytes: number | null,
): RunView {
  const startMs = clock.now();
  const tables = new Map<string, { rows: number; snapshots: number }>();
  const warnings: string[] = [];
  let events = 0;
  let checkpoints = 0;
  let isStopping = false;
  const status = (counters: Checkpointed['counters'] | null): string => {
    const ms = clock.now() - startMs;
    if (counters === null) return `${spec.pipeline_id}: reading, ${duration(ms)}`;
    const parts = [
      count(counters.changes, 'change'),
      `${number(rate(counters.changes, ms))}/s`,
      readText(counters.bytes, totalBytes, ms),
      count(checkpoints, 'checkpoint'),
      ...(counters.deadLetters > 0 ? [count(counters.deadLetters, 'dead letter')] : []),
      duration(ms),
    ];
    return `${spec.pipeline_id}: ${parts.join(' · ')}${isStopping ? ' · stopping' : ''}`;
  };
  const line = liveLine(terminal, clock, () => status(null));
  const take = (news: Progress): void => {
    switch (news.kind) {
      case 'recovered':
        if (terminal.isVerbose) line.above(`goes on after checkpoint ${news.checkpoint}`);
        return;
      case 'warning':
        if (warnings.includes(news.text)) return;
        warnings.push(news.text);
        return line.above(`${terminal.errorPaint.yellow('warning')}  ${news.text}`);
      case 'retry': {
        const { error, attempt, of, delayMs } = news;
        return line.above(
          `${terminal.errorPaint.yellow('retry')}  ${error.code}  ${error.message}; attempt ${attempt} of ${of} in ${duration(delayMs)}`,
        );
      }
      case 'batch': {
        const counters = { ...news.counters };
        return line.show(() => status(counters));
      }
      case 'checkpoint':
        checkpoints += 1;
        for (const { what, rows } of news.committed) {
          if (what === EVENTS) events += rows;
          else {
            const known = tables.get(what) ?? { rows: 0, snapshots: 0 };
            tables.set(what, { rows: known.rows + rows, snapshots: known.snapshots + 1 });
          }
        }
        if (!terminal.isLive || terminal.isVerbose) line.above(checkpointText(news));
    }
  };
  return {
    take,
    stopping: () => {
      isStopping = true;
      line.above('stopping after a last checkpoint; once more quits at once');
    },
    commits: () => ({ tables, events, warnings }),
    end: () => line.end(),
  };
}

const BAR = 20;

/** `━━━━━━──── 42 % of 1.20 GB, 12 s left`, or the plain bytes where the whole is unknown. */
function readText(read: number, total: number | null, ms: number): string {
  if (total === null || total <= 0) return bytes(read);
  const part = Math.min(1, read / total);
  const filled = Math.round(part * BAR);
  const left = part > 0 && part < 1 ? `, ${duration((ms / part) * (1 - part))} left` : '';
  return `${'━'.repeat(filled)}${'─'.repeat(BAR - filled)} ${Math.floor(part * 100)} % of ${bytes(total)}${left}`;
}

function checkpointText({ mark, committed, counters, durationMs }: Checkpointed): string {
  const targets = committed.map(({ what, rows }) => `${what} ${number(rows)}`);
  const parts = [
    count(counters.changes, 'change'),
    bytes(counters.bytes),
    ...targets,
    duration(durationMs),
  ];
  return `checkpoint ${mark.id}: ${parts.join(' · ')}`;
}

interface LiveLine {
  readonly show: (status: () => string) => void;
  /** A line that stays, above the live one. */
  readonly above: (text: string) => void;
  readonly end: () => void;
}

function liveLine(terminal: Terminal, clock: Clock, first: () => string): LiveLine {
  if (!terminal.isLive)
    return { show: () => undefined, above: (text) => terminal.say(text), end: () => undefined };
  const over = new AbortController();
  let status = first;
  let turn = 0;
  const draw = (): void => {
    const text = `${SPINNER[turn % SPINNER.length]} ${status()}`;
    terminal.draw(`\r\u001b[2K${text.slice(0, terminal.width - 1)}`);
  };
  const clear = (): void => terminal.draw('\r\u001b[2K');
  const redraw = async (): Promise<void> => {
    while (!over.signal.aborted) {
      draw();
      turn += 1;
      await clock.sleep(REDRAW_MS, over.signal).catch(() => undefined); // ended: the loop sees it
    }
  };
  void redraw();
  return {
    show: (next) => void (status = next),
    above: (text) => {
      clear();
      terminal.say(text);
      draw();
    },
    end: () => {
      if (over.signal.aborted) return;
      over.abort(new Error('the live line has ended'));
      clear();
    },
  };
}
