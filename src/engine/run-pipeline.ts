/** The data path: read → stages → write → prepare → save intent → commit → acknowledge. */
import type { Position } from '../model/change.ts';
import type { Checkpoint, CheckpointStore } from '../model/checkpoint-store.ts';
import type { PipelineError } from '../model/errors.ts';
import type { Committed, Mark, Sink } from '../model/sink.ts';
import type { ChangeBatch, Source } from '../model/source.ts';
import type { Stage } from '../model/stage.ts';
import type { CheckpointSpec } from '../model/spec.ts';
import type { Clock } from '../lib/clock.ts';
import type { Json } from '../model/json.ts';
import type { BatchWork } from './batch-work.ts';
import type { DeadLetters } from './dead-letters.ts';
import { addCounts, newCounters, type Counters } from './counters.ts';
import { withinTimeout } from './timeout.ts';

export interface PipelineParts {
  readonly source: Source;
  readonly work: BatchWork;
  readonly stages: readonly Stage[];
  readonly sinks: readonly Sink[];
  readonly checkpoints: CheckpointStore;
  readonly deadLetters: DeadLetters;
  readonly clock: Clock;
  readonly schedule: Pick<
    CheckpointSpec,
    'interval_ms' | 'min_pause_ms' | 'timeout_ms' | 'max_bytes'
  >;
  readonly progress: (progress: Progress) => void;
}

export type Progress =
  | { readonly kind: 'recovered'; readonly checkpoint: number }
  | { readonly kind: 'warning'; readonly text: string }
  | {
      readonly kind: 'retry';
      readonly error: PipelineError;
      readonly attempt: number;
      readonly of: number;
      readonly delayMs: number;
    }
  | { readonly kind: 'batch'; readonly counters: Counters }
  | {
      readonly kind: 'checkpoint';
      readonly mark: Mark;
      readonly committed: readonly Committed[];
      readonly counters: Counters;
      readonly durationMs: number;
    };

/** What a run did, from its start. */
export interface RunSummary {
  readonly counters: Counters;
  readonly checkpoints: number;
  readonly lastCheckpoint: number | null;
}

/**
 * Runs until the source ends or `signal` aborts, which ends the run with a last checkpoint.
 *
 * Order of a checkpoint, on which recovery stands: stages' state and every sink's files are durable, then the intent is
 * saved, then it becomes visible, then the source may forget.
 */
export async function runPipeline(parts: PipelineParts, signal: AbortSignal): Promise<RunSummary> {
  const last = await recover(parts);
  const run = new Run(parts, last);
  for await (const batch of parts.source.read(last?.mark.position ?? null, signal)) {
    if (batch?.startsSchema === true) await run.checkpoint();
    const stop = batch === null ? null : await run.take(batch);
    if (run.isDue() || stop !== null) await run.checkpoint();
    if (stop !== null) throw stop;
    if (signal.aborted) break;
  }
  await run.checkpoint();
  return run.summary();
}

/** Finishes the last checkpoint: a no-op on every target that carries its mark. */
async function recover(parts: PipelineParts): Promise<Checkpoint | null> {
  const last = await parts.checkpoints.latest();
  const lastId = last?.mark.id ?? 0;
  for (const sink of parts.sinks) await sink.discard(lastId);
  await parts.deadLetters.load(lastId);
  for (const [i, stage] of parts.stages.entries()) await stage.loadState(last?.stages[i] ?? null);
  if (last === null) return null;
  for (const [i, sink] of parts.sinks.entries())
    await sink.commit(last.mark, last.prepared[i] ?? null);
  await parts.source.acknowledge(last.mark.position);
  parts.progress({ kind: 'recovered', checkpoint: lastId });
  return last;
}

class Run {
  readonly #parts: PipelineParts;
  readonly #counters = newCounters();
  #id: number;
  #position: Position | null = null;
  #lastPosition: Position | null;
  #hasWork = false;
  #bytes = 0;
  #checkpoints = 0;
  #lastEndMs: number;

  constructor(parts: PipelineParts, last: Checkpoint | null) {
    this.#parts = parts;
    this.#id = last?.mark.id ?? 0;
    this.#lastPosition = last?.mark.position ?? null;
    this.#lastEndMs = parts.clock.now();
  }

  /** Works a batch off; returns the error that the pipeline has to stop with after committing what lies before it. */
  async take(batch: ChangeBatch): Promise<PipelineError | null> {
    const { work, sinks, progress } = this.#parts;
    for (const text of batch.warnings) progress({ kind: 'warning', text });
    const result = await work.run(batch);
    try {
      await allDone(
        sinks.map((sink) => sink.write(result.changes, { places: () => batch.places() })),
      );
    } finally {
      await work.drop(result);
    }
    this.#position = result.position;
    this.#bytes += result.counts.bytes;
    this.#hasWork ||= result.changes.some((changes) => changes.rows > 0);
    addCounts(this.#counters, result);
    progress({ kind: 'batch', counters: this.#counters });
    return result.stop;
  }

  isDue(): boolean {
    const { clock, schedule } = this.#parts;
    const pausedMs = clock.now() - this.#lastEndMs;
    if (schedule.max_bytes !== undefined && this.#bytes >= schedule.max_bytes) return true;
    return (
      schedule.interval_ms > 0 && pausedMs >= Math.max(schedule.interval_ms, schedule.min_pause_ms)
    );
  }

  /** Commits everything taken since the last one; nothing where nothing was taken. */
  async checkpoint(): Promise<void> {
    const position =
      this.#position ?? (this.#parts.deadLetters.hasNews ? this.#lastPosition : null);
    const hasNews =
      this.#hasWork || this.#parts.deadLetters.hasNews || position !== this.#lastPosition;
    if (position === null || !hasNews) return;
    const { clock, schedule, progress } = this.#parts;
    const startMs = clock.now();
    const mark: Mark = { id: this.#id + 1, position };
    const abandoned = new AbortController();
    const committed = await withinTimeout(
      this.#commit(mark, abandoned.signal),
      schedule.timeout_ms,
      clock,
      mark.id,
    ).catch((error: unknown) => {
      abandoned.abort();
      throw error;
    });
    this.#id = mark.id;
    this.#position = null;
    this.#lastPosition = position;
    this.#hasWork = false;
    this.#bytes = 0;
    this.#checkpoints += 1;
    this.#lastEndMs = clock.now();
    progress({
      kind: 'checkpoint',
      mark,
      committed,
      counters: this.#counters,
      durationMs: this.#lastEndMs - startMs,
    });
  }

  summary(): RunSummary {
    return {
      counters: this.#counters,
      checkpoints: this.#checkpoints,
      lastCheckpoint: this.#id === 0 ? null : this.#id,
    };
  }

  // Work that ran out of time must not go on behind the back of the run that takes its place.
  async #commit(mark: Mark, abandoned: AbortSignal): Promise<readonly Committed[]> {
    const { stages, sinks, checkpoints, deadLetters, source } = this.#parts;
    const states: Json[] = [];
    for (const stage of stages) states.push(await stage.saveState(mark.id));
    const prepared: Json[] = [];
    for (const sink of sinks) prepared.push(await sink.prepare(mark));
    await deadLetters.prepare(mark.id);
    abandoned.throwIfAborted();
    await checkpoints.save({ mark, stages: states, prepared, counters: { ...this.#counters } }); // 1 intent
    const committed: Committed[] = [];
    for (const [i, sink] of sinks.entries()) {
      abandoned.throwIfAborted();
      committed.push(...(await sink.commit(mark, prepared[i] ?? null))); // 2 visible
    }
    abandoned.throwIfAborted();
    deadLetters.committed();
    await source.acknowledge(mark.position); // 3 forget
    return committed;
  }
}

/** Waits for all of them, also where one fails, so that nothing goes on behind the back of what comes next. */
async function allDone(work: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(work);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
