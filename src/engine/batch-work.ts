/** What happens to one batch: views → targets → typed changes → stages, and what becomes of bad records. */
import {
  KIND,
  type Changes,
  type Place,
  type Position,
  type Rejected,
  type SourceView,
  type TargetView,
} from '../model/change.ts';
import { PipelineError } from '../model/errors.ts';
import type { BatchCounts, ChangeBatch } from '../model/source.ts';
import type { ErrorHandlingSpec, SourceSpec } from '../model/spec.ts';
import type { Stage } from '../model/stage.ts';
import type { Database } from '../sql/database.ts';
import { id, sql } from '../sql/sql.ts';
import { computeView, type Modes, type RejectedRow } from './batch-changes.ts';
import { letterIdOf, type DeadLetter, type DeadLetters } from './dead-letters.ts';

export interface BatchPolicy
  extends
    Pick<ErrorHandlingSpec, 'dead_letter_enabled' | 'skip_corrupted'>,
    Pick<SourceSpec, 'on_truncate'> {}

export interface BatchWorkOptions {
  readonly db: Database;
  /** Compiles a source table into its targets. */
  readonly targets: (view: SourceView) => Promise<readonly TargetView[]>;
  readonly stages: readonly Stage[];
  readonly deadLetters: DeadLetters;
  readonly policy: BatchPolicy;
  /** Whether rows of other source tables may lie in a target, so that a truncate must not empty it. */
  readonly isShared: (changes: Changes) => boolean;
}

export interface BatchResult {
  readonly changes: readonly Changes[];
  readonly counts: BatchCounts;
  readonly position: Position;
  readonly duplicates: number;
  readonly deadLetters: number;
  readonly skipped: number;
  readonly foreign: number;
  /** The pipeline has to stop with this, once everything before it is committed. */
  readonly stop: PipelineError | null;
}

export class BatchWork {
  readonly #options: BatchWorkOptions;
  readonly #modes: Modes = new Map();

  constructor(options: BatchWorkOptions) {
    this.#options = options;
  }

  async run(batch: ChangeBatch): Promise<BatchResult> {
    const { db, targets, stages, deadLetters } = this.#options;
    let all: Changes[] = [];
    const rejected: RejectedRow[] = [];
    let foreign = 0;
    for (const view of batch.views) {
      for (const target of await targets(view)) {
        const computed = await computeView(db, batch, target, this.#modes);
        foreign += computed.foreign;
        rejected.push(...computed.rejected);
        all.push(await this.#truncated(batch, computed.changes, rejected));
      }
    }
    const records = inFeedOrder([...batch.rejected(), ...rejected]);
    const verdict = this.#judge(records);
    if (verdict.stop !== null) all = await this.#cut(batch, all, verdict.stop);
    const ordinals = new Map(rejected.map((row) => [letterIdOf(row.place), row.ordinal]));
    const after = (letter: DeadLetter): number =>
      ordinals.get(letter.id) ?? batch.ordinalAt(letter);
    let duplicates = 0;
    const changes: Changes[] = [];
    for (const one of all) {
      let current = one;
      for (const stage of stages) {
        const applied = await stage.apply(current);
        duplicates += applied.dropped;
        current = applied.changes;
      }
      await deadLetters.supersede(db, current, after);
      changes.push(current);
    }
    const end = await batch.end(verdict.stop?.place);
    // A last line that was cut, and is whole now, waits no longer.
    for (const letter of deadLetters.pending()) {
      if (batch.holds(letter) && !records.some((record) => letterIdOf(record.place) === letter.id))
        deadLetters.resolve(letter.id, 'replayed');
    }
    const stop = verdict.stop === null ? batch.stop : stopError(verdict.stop);
    return {
      changes,
      counts: end.counts,
      position: end.position,
      duplicates,
      deadLetters: verdict.deadLetters,
      skipped: verdict.skipped,
      foreign,
      stop,
    };
  }

  async drop(result: BatchResult): Promise<void> {
    for (const changes of result.changes)
      await this.#options.db.run(sql`DROP TABLE IF EXISTS ${id(changes.relation)}`);
  }

  #judge(records: readonly Rejected[]): {
    stop: Rejected | null;
    deadLetters: number;
    skipped: number;
  } {
    const { deadLetters, policy } = this.#options;
    const halting = records.find((record) => record.code === 'E_SOURCE_TRUNCATED_TABLE') ?? null;
    const isStopping = !policy.dead_letter_enabled && !policy.skip_corrupted;
    const stop = isStopping ? (records[0] ?? null) : halting;
    const kept = stop === null ? records : records.slice(0, records.indexOf(stop));
    if (policy.dead_letter_enabled) return { stop, deadLetters: deadLetters.add(kept), skipped: 0 };
    return { stop, deadLetters: 0, skipped: kept.length };
  }

  async #truncated(
    batch: ChangeBatch,
    changes: Changes,
    rejected: RejectedRow[],
  ): Promise<Changes> {
    const { db, policy } = this.#options;
    if (changes.truncatedAt === null) return changes;
    const isShared = policy.on_truncate === 'apply' && this.#options.isShared(changes);
    if (policy.on_truncate === 'apply' && !isShared) return changes;
    const where = sql`kind = ${KIND.truncate}`;
    if (policy.on_truncate !== 'ignore') {
      const rows = await db.rows(
        sql`SELECT ${changes.ord} AS ord FROM ${id(changes.relation)} WHERE ${where} ORDER BY ord`,
      );
      const code = isShared
        ? 'E_TRUNCATE_SHARED'
        : policy.on_truncate === 'stop'
          ? 'E_SOURCE_TRUNCATED_TABLE'
          : 'E_TRUNCATE';
      for (const line of await batch.lines(
        changes.source,
        rows.map((row) => Number(row['ord'])),
      )) {
        const message = `${changes.source} was truncated in its source`;
        rejected.push({
          ordinal: line.ordinal,
          code,
          message,
          table: changes.source,
          key: null,
          place: line.place,
          bytes: line.bytes,
        });
      }
    }
    const gone = await db.run(sql`DELETE FROM ${id(changes.relation)} WHERE ${where}`);
    return { ...changes, rows: changes.rows - gone, truncatedAt: null };
  }

  /** Takes out everything from a place on. */
  async #cut(batch: ChangeBatch, all: readonly Changes[], stop: Rejected): Promise<Changes[]> {
    const { db } = this.#options;
    const places = await batch.places();
    const { file, byte } = stop.place;
    const { ord } = await db.one(
      sql`SELECT min(ord) AS ord FROM ${places} WHERE file > ${file} OR (file = ${file} AND byte >= ${byte})`,
    );
    if (typeof ord !== 'number') return [...all];
    const cut: Changes[] = [];
    for (const changes of all) {
      const gone = await db.run(
        sql`DELETE FROM ${id(changes.relation)} WHERE ${changes.ord} >= ${ord}`,
      );
      const isTruncatedBefore = changes.truncatedAt !== null && changes.truncatedAt < ord;
      cut.push({
        ...changes,
        rows: changes.rows - gone,
        truncatedAt: isTruncatedBefore ? changes.truncatedAt : null,
      });
    }
    return cut;
  }
}

function inFeedOrder(records: readonly Rejected[]): readonly Rejected[] {
  const byPlace = new Map(
    records.map((record) => [`${record.place.byte}\n${record.place.file}`, record]),
  );
  return [...byPlace.values()].sort((a, b) => comparePlaces(a.place, b.place));
}

function comparePlaces(a: Place, b: Place): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.byte - b.byte;
}

function stopError(record: Rejected): PipelineError {
  const { file, line, byte } = record.place;
  const subject = { file, line, byte, ...(record.table === null ? {} : { table: record.table }) };
  return new PipelineError(record.code, record.message, { subject });
}
