/** A pipeline in a folder of its own, and everything that a user could see of what it did. */
import { appendFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  discardDeadLetters,
  replayDeadLetters,
  run,
  type ReplaySummary,
  type RunOptions,
} from '../../src/app.ts';
import { waitingLetters } from '../../src/cli/state.ts';
import { loadPipeline, resolvePipeline, type LoadedPipeline } from '../../src/config/load.ts';
import type { DeadLetter } from '../../src/engine/dead-letters.ts';
import type { Counters } from '../../src/engine/counters.ts';
import type { Progress } from '../../src/engine/run-pipeline.ts';
import { hadoopCatalog } from '../../src/lake/catalog/hadoop.ts';
import type { Table } from '../../src/lake/catalog/catalog.ts';
import { currentSchema } from '../../src/lake/iceberg/metadata.ts';
import { scanSql } from '../../src/lake/iceberg/scan-sql.ts';
import { planScan, type ScanAt } from '../../src/lake/iceberg/scan.ts';
import { isPipelineError, type PipelineError } from '../../src/model/errors.ts';
import type { PipelineSpec } from '../../src/model/spec.ts';
import { Database, type Row } from '../../src/sql/database.ts';
import { id, join as joinSql, raw, sql, type Sql } from '../../src/sql/sql.ts';
import { localLocation, localStore } from '../../src/storage/local.ts';
import { tempDir } from '../kit/temp-dir.ts';

/** Keys of a pipeline file; what a scenario leaves out is filled in by {@link completed}. */
export interface PipelineKeys {
  readonly [key: string]: unknown;
}

export type FeedPart = string | Uint8Array;

/** What one run did. */
export interface Outcome {
  /** What stopped the pipeline; null: it ended by itself. */
  readonly error: PipelineError | null;
  readonly counters: Counters;
  readonly warnings: readonly string[];
  /** Ids of the checkpoints that it committed. */
  readonly checkpoints: readonly number[];
}

export interface SnapshotSeen {
  readonly id: bigint;
  readonly operation: string;
  readonly summary: Readonly<Record<string, string>>;
}

/** A row as texts: every value the way the engine prints it, bytes as `0x…`. */
export type TextRow = Readonly<Record<string, string | null>>;

export interface CloudEvent {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  readonly time: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** The line as it stands in the log. */
  readonly text: string;
}

export interface PipelineCase extends AsyncDisposable {
  readonly dir: string;
  readonly spec: PipelineSpec;
  readonly notices: LoadedPipeline['notices'];
  path(...parts: readonly string[]): string;
  /** Changes the pipeline file from the next run on. */
  use(pipeline: PipelineKeys): void;
  /** Writes a file of the feed: lines, each with its end; or bytes as they are. */
  feed(name: string, lines: readonly FeedPart[] | Uint8Array): Promise<void>;
  append(name: string, lines: readonly FeedPart[] | Uint8Array): Promise<void>;
  /** Runs until the source ends. Whatever is no error of the pipeline is thrown. */
  run(options?: RunOptions): Promise<Outcome>;
  replay(ids?: readonly string[] | null): Promise<ReplaySummary>;
  discard(ids?: readonly string[] | null): Promise<{ readonly discarded: number }>;
  tables(): Promise<readonly string[]>;
  table(name: string): Promise<Table>;
  /** Column → type word, in order. */
  columns(name: string): Promise<Readonly<Record<string, string>>>;
  /** In the order of the key. */
  rows(name: string, at?: ScanAt): Promise<readonly TextRow[]>;
  /** Paths of the data files that a reader opens, in no particular order. */
  dataFiles(name: string): Promise<readonly string[]>;
  /** Oldest first. */
  snapshots(name: string): Promise<readonly SnapshotSeen[]>;
  eventFiles(): Promise<readonly string[]>;
  events(): Promise<readonly CloudEvent[]>;
  deadLetters(): Promise<readonly DeadLetter[]>;
}

/** Everything that was opened for reading lives as long as the test process. */
let eyes: Promise<Database> | undefined;

/** @param pipeline keys of a pipeline file, or the text of one */
export async function pipelineCase(pipeline: PipelineKeys | string): Promise<PipelineCase> {
  const temp = await tempDir({ inMemory: true });
  const dir = temp.path;
  await mkdir(join(dir, 'feed'));
  let loaded = await loadedFrom(pipeline, dir);
  const path = (...parts: readonly string[]): string => join(dir, ...parts);
  const lake = lakeOf(() => loaded.spec);
  const events = eventsOf(() => loaded.spec);
  return {
    dir,
    get spec() {
      return loaded.spec;
    },
    get notices() {
      return loaded.notices;
    },
    path,
    use(next) {
      loaded = resolved(next, dir);
    },
    async feed(name, lines) {
      await mkdir(dirname(path('feed', name)), { recursive: true });
      await writeFile(path('feed', name), bytesOf(lines));
    },
    append: (name, lines) => appendFile(path('feed', name), bytesOf(lines)),
    run: (options) => outcomeOf(loaded.spec, options ?? {}),
    replay: (ids = null) => replayDeadLetters(loaded.spec, ids),
    discard: (ids = null) => discardDeadLetters(loaded.spec, ids),
    ...lake,
    ...events,
    deadLetters: () => waitingLetters(loaded.spec),
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}

/** A case that has run once over one file. */
export async function ranCase(
  pipeline: PipelineKeys,
  lines: readonly FeedPart[] | Uint8Array,
): Promise<PipelineCase & { readonly outcome: Outcome }> {
  const made = await pipelineCase(pipeline);
  await made.feed('a.jsonl', lines);
  return Object.assign(made, { outcome: await made.run() });
}

/** One table, `shop.t (id long, v string)`, keyed by id, unless `table` says otherwise. */
export function mirrorOf(table: PipelineKeys = {}, rest: PipelineKeys = {}): PipelineKeys {
  const columns = { id: 'long', v: 'string' };
  const { source, ...others } = rest;
  return {
    source: {
      tables: [{ table: 'shop.t', primary_key: ['id'], columns, ...table }],
      ...(source as object | undefined),
    },
    ...others,
  };
}

async function loadedFrom(pipeline: PipelineKeys | string, dir: string): Promise<LoadedPipeline> {
  if (typeof pipeline !== 'string') return resolved(pipeline, dir);
  await writeFile(join(dir, 'pipeline.yaml'), pipeline);
  return await loadPipeline(join(dir, 'pipeline.yaml'), { env: {} });
}

function resolved(pipeline: PipelineKeys, dir: string): LoadedPipeline {
  type File = Parameters<typeof resolvePipeline>[0];
  return resolvePipeline(completed(pipeline) as unknown as File, { baseDir: dir, env: {} });
}

// One checkpoint at the end, and no pauses before a new attempt.
function completed(pipeline: PipelineKeys): PipelineKeys {
  const { source, checkpoint, error_handling: handling, ...others } = pipeline;
  return {
    pipeline_id: 'case',
    ...others,
    source: { source_type: 'debezium_json', path: './feed', ...(source as object | undefined) },
    checkpoint: { interval_ms: 0, ...(checkpoint as object | undefined) },
    error_handling: { max_retries: 0, ...(handling as object | undefined) },
  };
}

function bytesOf(lines: readonly FeedPart[] | Uint8Array): Buffer {
  if (lines instanceof Uint8Array) return Buffer.from(lines);
  const end = Buffer.from('\n');
  const parts = lines.flatMap((part) => [
    typeof part === 'string' ? Buffer.from(part) : Buffer.from(part),
    end,
  ]);
  return Buffer.concat(parts);
}

async function outcomeOf(spec: PipelineSpec, options: RunOptions): Promise<Outcome> {
  const warnings: string[] = [];
  const checkpoints: number[] = [];
  let counters = noCounters();
  const progress = (news: Progress): void => {
    if (news.kind === 'warning') warnings.push(news.text);
    if (news.kind === 'checkpoint') checkpoints.push(news.mark.id);
    if (news.kind === 'batch' || news.kind === 'checkpoint') counters = { ...news.counters };
    options.progress?.(news);
  };
  let error: PipelineError | null = null;
  try {
    counters = { ...(await run(spec, { ...options, progress })).counters };
  } catch (thrown) {
    if (!isPipelineError(thrown)) throw thrown;
    error = thrown;
  }
  return { error, counters, warnings, checkpoints };
}

const noCounters = (): Counters => ({
  changes: 0,
  duplicates: 0,
  deadLetters: 0,
  skipped: 0,
  unmapped: 0,
  tombstones: 0,
  messages: 0,
  bytes: 0,
});

type Lake = Pick<PipelineCase, 'tables' | 'table' | 'columns' | 'rows' | 'dataFiles' | 'snapshots'>;

function lakeOf(spec: () => PipelineSpec): Lake {
  const catalog = (): ReturnType<typeof hadoopCatalog> =>
    hadoopCatalog({
      warehouse: localLocation(spec().sink.iceberg_warehouse),
      store: localStore,
    });
  const table = async (name: string): Promise<Table> => {
    const dot = name.indexOf('.');
    const ref = { namespace: name.slice(0, dot), name: name.slice(dot + 1) };
    const found = await catalog().loadTable(ref);
    if (found === null) throw new Error(`there is no table ${name} in the warehouse`);
    return found;
  };
  return {
    table,
    async tables() {
      const refs = await catalog().listTables();
      return refs.map((ref) => `${ref.namespace}.${ref.name}`);
    },
    async columns(name) {
      const { fields } = currentSchema((await table(name)).metadata);
      return Object.fromEntries(fields.map((f) => [f.name, String(f.type).replaceAll(' ', '')]));
    },
    rows: async (name, at) => await textRows(await table(name), at),
    async dataFiles(name) {
      const { dataFiles } = await planScan(await table(name));
      return dataFiles.map(({ file }) => file.path);
    },
    async snapshots(name) {
      const { snapshots = [] } = (await table(name)).metadata;
      return [...snapshots]
        .sort((a, b) => a['sequence-number'] - b['sequence-number'])
        .map(({ summary, ...snapshot }) => ({
          id: snapshot['snapshot-id'],
          operation: summary['operation'] ?? '',
          summary,
        }));
    },
  };
}

async function textRows(table: Table, at: ScanAt | undefined): Promise<readonly TextRow[]> {
  eyes ??= Database.open();
  const plan = await planScan(table, at);
  const { fields } = plan.schema;
  const text = (name: string, type: string): Sql =>
    type === 'binary' || type.startsWith('fixed')
      ? sql`'0x' || lower(hex(${id(name)})) AS ${id(name)}`
      : sql`CAST(${id(name)} AS VARCHAR) AS ${id(name)}`;
  const texts = joinSql(fields.map((field) => text(field.name, String(field.type))));
  const keys = plan.schema['identifier-field-ids'] ?? [];
  const order = fields.filter((field) => keys.includes(field.id)).map((field) => id(field.name));
  const by = order.length === 0 ? raw('ALL') : joinSql(order);
  const query = sql`SELECT ${texts} FROM (SELECT * FROM (${scanSql(plan)}) ORDER BY ${by})`;
  return await (await eyes).rows<Row & TextRow>(query);
}

type Events = Pick<PipelineCase, 'eventFiles' | 'events'>;

function eventsOf(spec: () => PipelineSpec): Events {
  const folder = (): string => spec().sink.event_bus.path;
  const eventFiles = async (): Promise<readonly string[]> =>
    (await readdir(folder()).catch(() => [])).filter((name) => !name.startsWith('.')).sort();
  return {
    eventFiles,
    async events() {
      const files = await eventFiles();
      const texts = await Promise.all(files.map((name) => readFile(join(folder(), name), 'utf8')));
      const lines = texts.flatMap((text) => text.split('\n')).filter((text) => text !== '');
      return lines.map((text) => ({ ...(JSON.parse(text) as Omit<CloudEvent, 'text'>), text }));
    },
  };
}
