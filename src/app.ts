/** The composition root: from a resolved pipeline to the parts that run it. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { FolderCheckpointStore } from './checkpoint/store.ts';
import { lockState } from './checkpoint/lock.ts';
import { BatchWork } from './engine/batch-work.ts';
import { DeadLetters, type DeadLetter } from './engine/dead-letters.ts';
import type { PipelineParts, Progress, RunSummary } from './engine/run-pipeline.ts';
import { supervise } from './engine/supervise.ts';
import { systemClock, type Clock } from './lib/clock.ts';
import { PipelineError } from './model/errors.ts';
import type { EventListener } from './model/event.ts';
import type { Sink } from './model/sink.ts';
import type { PipelineSpec } from './model/spec.ts';
import type { Source } from './model/source.ts';
import type { Stage } from './model/stage.ts';
import { EventSink } from './sinks/event-bus/sink.ts';
import { IcebergSink } from './sinks/iceberg/sink.ts';
import { parsePosition } from './sources/debezium-files/position.ts';
import { ReplayedLines } from './sources/debezium-files/replay.ts';
import { DebeziumFiles } from './sources/debezium-files/source.ts';
import {
  chooseTables,
  type MappingWish,
  type TableChoice,
} from './sources/debezium-files/tables.ts';
import { Database, THREADS } from './sql/database.ts';
import { Dedup } from './stages/dedup/stage.ts';
import { isShared, mappingOf, needsBefore, Targets } from './targets.ts';

export interface RunOptions {
  readonly signal?: AbortSignal;
  readonly progress?: (progress: Progress) => void;
  readonly listeners?: readonly EventListener[];
  readonly clock?: Clock;
}

/** What takes the place of the pipeline's own source for a single batch: see {@link replayDeadLetters}. */
type OneBatch = (context: SourceContext & { readonly deadLetters: DeadLetters }) => Source;

export interface SourceContext {
  readonly db: Database;
  readonly choice: TableChoice;
  readonly needsBefore: boolean;
  /** Whether there are events, which say where each change stood. */
  readonly wantsPlaces: boolean;
  readonly spoolDir: string;
}

/** Memory that the engine may take before it spills, compressed, which costs CPU time; long feeds stay as small as short ones. */
const ENGINE_MEMORY_BYTES = 200e6 * Math.max(THREADS, 2);
const SEGMENT_BYTES = 64 << 20;
const IN_PLACE_BYTES = 448 << 20;

export interface StateFolders {
  readonly checkpoints: string;
  readonly deadLetters: string;
  readonly spool: string;
  readonly spill: string;
  readonly dedup: string;
  readonly events: string;
}

export function stateFolders(stateDir: string): StateFolders {
  return {
    checkpoints: join(stateDir, 'checkpoints'),
    deadLetters: join(stateDir, 'dead-letters'),
    spool: join(stateDir, 'spool'),
    spill: join(stateDir, 'spill'),
    dedup: join(stateDir, 'dedup'),
    events: join(stateDir, 'events'),
  };
}

/**
 * Runs a pipeline in this process until its source ends or the signal aborts.
 *
 * @throws E_PIPELINE_LOCKED while another process runs it, and whatever stops the pipeline
 */
export async function run(spec: PipelineSpec, options: RunOptions = {}): Promise<RunSummary> {
  return await runWith(spec, options, null);
}

async function runWith(
  spec: PipelineSpec,
  options: RunOptions,
  oneBatch: OneBatch | null,
): Promise<RunSummary> {
  const folders = stateFolders(spec.checkpoint.state_dir);
  await makeStateDir(spec.checkpoint.state_dir);
  await using db = await Database.open({
    spillDir: folders.spill,
    memoryLimitBytes: ENGINE_MEMORY_BYTES,
  });
  const unlock = await lockState(db, spec.checkpoint.state_dir, spec.pipeline_id);
  // Whatever lies here is of a process that was killed: nobody else may work in this folder now.
  await rm(folders.spool, { recursive: true, force: true });
  const parts = makeParts(spec, db, options, oneBatch);
  try {
    return await supervise(
      parts,
      spec.error_handling,
      options.signal ?? new AbortController().signal,
    );
  } finally {
    for (const part of [parts.source, ...parts.stages, ...parts.sinks])
      await part[Symbol.asyncDispose]();
    await unlock();
  }
}

async function makeStateDir(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'failed';
    throw new PipelineError('E_STATE_WRITE', `cannot make the state folder ${path}: ${reason}`, {
      cause: error,
    });
  }
}

function makeParts(
  spec: PipelineSpec,
  db: Database,
  options: RunOptions,
  oneBatch: OneBatch | null,
): PipelineParts {
  const clock = options.clock ?? systemClock;
  const folders = stateFolders(spec.checkpoint.state_dir);
  const listeners = options.listeners ?? [];
  const hasEvents = spec.sink.event_bus_enabled || listeners.length > 0;
  const deadLetters = new DeadLetters({ folder: folders.deadLetters });
  const targets = new Targets(db, spec, hasEvents);
  const stages: Stage[] = [];
  const { deduplication } = spec.processing;
  if (deduplication.enabled)
    stages.push(new Dedup({ db, windowMs: deduplication.window_ms, stateDir: folders.dedup }));
  const isReplay = oneBatch !== null;
  const policy = {
    ...spec.error_handling,
    ...(isReplay ? { dead_letter_enabled: true } : {}),
    on_truncate: spec.source.on_truncate,
  };
  const context = {
    db,
    choice: choiceOf(spec),
    needsBefore: needsBefore(spec, hasEvents),
    wantsPlaces: hasEvents && spec.processing.schema_mapping !== undefined,
    spoolDir: folders.spool,
    deadLetters,
  };
  return {
    source: oneBatch === null ? makeSource(spec, context, clock) : oneBatch(context),
    // What is replayed was never applied, however late it comes: the letters themselves know what is newer.
    work: new BatchWork({
      db,
      targets: (view) => targets.of(view),
      stages: isReplay ? [] : stages,
      deadLetters,
      policy,
      isShared: (changes) => isShared(spec, changes.source, changes.target),
    }),
    stages,
    sinks: makeSinks(spec, db, clock, listeners),
    checkpoints: new FolderCheckpointStore(folders.checkpoints),
    deadLetters,
    clock,
    // One batch is one checkpoint: what is applied and what is said of its letters become true together.
    schedule: isReplay
      ? { ...spec.checkpoint, interval_ms: 0, max_bytes: undefined }
      : spec.checkpoint,
    progress: options.progress ?? (() => {}),
  };
}

export function makeSource(spec: PipelineSpec, context: SourceContext, clock: Clock): Source {
  const { source, checkpoint } = spec;
  if (source.source_type !== 'debezium_json' || source.path === undefined) {
    throw new PipelineError(
      'E_CONFIG_UNSUPPORTED',
      `source_type ${source.source_type} cannot be run by this version`,
    );
  }
  return new DebeziumFiles({
    db: context.db,
    clock,
    path: source.path,
    isWatching: source.watch,
    choice: context.choice,
    needsBefore: context.needsBefore,
    wantsPlaces: context.wantsPlaces,
    hasOneTarget: spec.processing.routes.length === 0,
    spoolDir: context.spoolDir,
    segmentBytes: Math.min(SEGMENT_BYTES, checkpoint.max_bytes ?? SEGMENT_BYTES),
    inPlaceBytes:
      checkpoint.max_bytes === undefined
        ? IN_PLACE_BYTES
        : Math.min(IN_PLACE_BYTES, checkpoint.max_bytes),
    maxLineBytes: source.max_line_bytes,
    maxNesting: source.max_nesting,
  });
}

function makeSinks(
  spec: PipelineSpec,
  db: Database,
  clock: Clock,
  listeners: readonly EventListener[],
): Sink[] {
  const { sink } = spec;
  const sinks: Sink[] = [];
  const describePosition = (position: string): string =>
    JSON.stringify(parsePosition(position).current ?? {});
  if (sink.iceberg_enabled) {
    sinks.push(
      new IcebergSink({
        db,
        warehouse: sink.iceberg_warehouse,
        pipelineId: spec.pipeline_id,
        clock,
        describePosition,
      }),
    );
  }
  const isMapped = spec.processing.schema_mapping !== undefined;
  if (isMapped && (sink.event_bus_enabled || listeners.length > 0)) {
    const path = sink.event_bus_enabled ? sink.event_bus.path : null;
    const pendingDir =
      path === null ? stateFolders(spec.checkpoint.state_dir).events : join(path, '.pending');
    sinks.push(new EventSink({ db, pipelineId: spec.pipeline_id, path, pendingDir, listeners }));
  }
  return sinks;
}

export interface ReplaySummary {
  readonly applied: number;
  /** A later change of the key is in the table already. */
  readonly superseded: number;
  /** Still cannot be represented; they wait on. */
  readonly failed: number;
}

/**
 * Runs dead letters through the pipeline as it is now, in feed order, as one checkpoint.
 *
 * @param ids which ones; null: all
 * @throws E_NOT_FOUND for an id that no letter has, E_PIPELINE_LOCKED
 */
export async function replayDeadLetters(
  spec: PipelineSpec,
  ids: readonly string[] | null,
  options: RunOptions = {},
): Promise<ReplaySummary> {
  let summary: ReplaySummary = { applied: 0, superseded: 0, failed: 0 };
  await runWith(spec, options, ({ db, choice, needsBefore: wholeBefore, deadLetters }) => {
    const letters = (): readonly DeadLetter[] => chosen(deadLetters, ids);
    const kept: DeadLetter[] = [];
    const superseded: DeadLetter[] = [];
    const done = (): void => {
      for (const letter of superseded) deadLetters.resolve(letter.id, 'superseded');
      const applied = kept.filter((letter) => !deadLetters.wasMetAgain(letter.id));
      for (const letter of applied) deadLetters.resolve(letter.id, 'replayed');
      summary = {
        applied: applied.length,
        superseded: superseded.length,
        failed: kept.length - applied.length,
      };
    };
    const { max_line_bytes: maxLineBytes, max_nesting: maxNesting } = spec.source;
    // The letters are read only after the engine has recovered, so they are asked for late.
    const lines = (): readonly DeadLetter[] => {
      for (const letter of letters()) (letter.isSuperseded ? superseded : kept).push(letter);
      kept.sort((a, b) => (a.file === b.file ? a.byte - b.byte : a.file < b.file ? -1 : 1));
      return kept;
    };
    return new ReplayedLines({
      db,
      choice,
      needsBefore: wholeBefore,
      maxLineBytes,
      maxNesting,
      lines,
      done,
    });
  });
  return summary;
}

/** Drops dead letters for good. @throws E_NOT_FOUND, E_PIPELINE_LOCKED */
export async function discardDeadLetters(
  spec: PipelineSpec,
  ids: readonly string[] | null,
): Promise<{ readonly discarded: number }> {
  let discarded = 0;
  await runWith(spec, {}, ({ db, choice, deadLetters }) => {
    const done = (): void => {
      for (const letter of chosen(deadLetters, ids)) {
        deadLetters.resolve(letter.id, 'discarded');
        discarded += 1;
      }
    };
    return new ReplayedLines({
      db,
      choice,
      needsBefore: false,
      maxLineBytes: 0,
      maxNesting: 0,
      lines: () => [],
      done,
    });
  });
  return { discarded };
}

function chosen(deadLetters: DeadLetters, ids: readonly string[] | null): readonly DeadLetter[] {
  const pending = deadLetters.pending();
  const unknown = ids?.find((letterId) => !pending.some((letter) => letter.id === letterId));
  if (unknown !== undefined)
    throw new PipelineError('E_NOT_FOUND', `no dead letter has the id ${unknown}`);
  return ids === null ? pending : pending.filter((letter) => ids.includes(letter.id));
}

/** What the pipeline wants of the feed's tables. */
export function choiceOf(spec: PipelineSpec): TableChoice {
  const { schema_mapping: mappings, filter, routes } = spec.processing;
  const mapping =
    mappings === undefined
      ? null
      : (table: string): MappingWish | null => {
          const found = mappingOf(spec, table);
          if (found === null) return null;
          const names = [
            ...new Set([
              found.primary_key_field,
              ...found.field_mappings.map((field) => field.source_column),
            ]),
          ];
          const key = [found.primary_key_field];
          // Predicates may name any column of the source, so then all of them are read.
          const needed = filter === undefined && routes.length === 0 ? names : null;
          const converted = found.field_mappings.filter(
            (field) => field.type_conversion !== undefined,
          );
          const isTyped = names.every(
            (name) =>
              converted.some((field) => field.source_column === name) &&
              name !== found.primary_key_field,
          );
          return {
            columns: isTyped
              ? names.map((name) => ({ name, type: 'string' as const, nullable: true }))
              : null,
            needed,
            key,
          };
        };
  return chooseTables({
    tables: spec.source.tables,
    mapping,
    mapped: (mappings ?? []).map((m) => m.source_table),
  });
}
