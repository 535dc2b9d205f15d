import { createReadStream } from 'node:fs';
import { appendFile, copyFile, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join as joinPath } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { isLosslessNumber, parse } from 'lossless-json';
import type { Changes } from '../../model/change.ts';
import { PipelineError } from '../../model/errors.ts';
import type { InstanceEvent, EventListener } from '../../model/event.ts';
import type { Json } from '../../model/json.ts';
import type { Committed, Mark, Sink, WriteContext } from '../../model/sink.ts';
import { THREADS, type Database } from '../../sql/database.ts';
import { id, raw, sql, type Sql } from '../../sql/sql.ts';
import { eventBodies, linesInOrder, linesSorted, type LineHead } from './event-sql.ts';

export interface EventSinkOptions {
  readonly db: Database;
  readonly pipelineId: string;
  /** Folder of the log; null: events go to listeners only. */
  readonly path: string | null;
  /** Folder for what is not committed yet; on the file system of `path`. */
  readonly pendingDir: string;
  readonly listeners: readonly EventListener[];
}

interface PreparedEvents {
  readonly checkpoint: number;
  readonly events: number;
  /** Events of this pipeline up to and including this checkpoint. */
  readonly total: number;
}

/**
 * Ontology events of mapped tables as CloudEvents, one file of lines for each checkpoint, which appears whole once the
 * checkpoint is committed. The n-th event of a pipeline has the id `<pipeline>-<n>`, also when it is made again.
 */
export class EventSink implements Sink {
  readonly #options: EventSinkOptions;
  #parts: string[] = [];
  #partNumber = 0;
  #committed = 0;
  #written = 0;
  #branch: Database | null = null;

  constructor(options: EventSinkOptions) {
    this.#options = options;
  }

  async write(batch: readonly Changes[], context: WriteContext): Promise<void> {
    const mapped = batch.filter((changes) => changes.objectType !== null && changes.rows > 0);
    if (mapped.length === 0) return;
    const { pendingDir } = this.#options;
    const places = await context.places();
    await this.#guarded(() => mkdir(pendingDir, { recursive: true }));
    this.#partNumber += 1;
    const part = joinPath(pendingDir, `part-${this.#partNumber}.ndjson`);
    this.#parts.push(part);
    this.#written += await this.#copy(await this.#lines(mapped, places), part);
  }

  /** Lines of changes, numbered after what has been written. */
  async #lines(mapped: readonly Changes[], places: Sql): Promise<Sql> {
    const { db, pipelineId } = this.#options;
    const head: LineHead = {
      source: `/pipelines/${encodeURIComponent(pipelineId)}`,
      idPrefix: pipelineId,
    };
    const { n } = await db.one(sql`SELECT count(*) AS n FROM ${places}`);
    const isPlain = (changes: Changes): boolean => changes.ord.text === 'rowid';
    const isAligned = (changes: Changes): boolean => isPlain(changes) && changes.rows === n;
    const [first, ...others] = mapped;
    if (first !== undefined && others.length === 0 && isPlain(first) && !first.hasMoves)
      return linesInOrder(first, places, isAligned(first), { head, sequence: SEQUENCE });
    return linesSorted(
      mapped.map((changes) => eventBodies(changes, places, isAligned(changes))),
      head,
      this.#written,
    );
  }

  // One thread writes lines in their order as fast as they can be made; more threads gather them all first. It works
  // beside the other sinks, on a connection of its own. The order of the changes is kept by reading them first and
  // looking their places up, never the other way round.
  async #copy(lines: Sql, path: string): Promise<number> {
    this.#branch ??= await this.#options.db.branch();
    const alone = sql`SET threads = 1; SET disabled_optimizers = 'join_order,build_side_probe_side';
      CREATE OR REPLACE TEMP SEQUENCE ${id(SEQUENCE)} START ${this.#written + 1}`;
    const together = raw(`SET threads = ${THREADS}; RESET disabled_optimizers`);
    await this.#branch.run(alone);
    try {
      return await this.#branch.run(
        sql`COPY (${lines}) TO ${path} (FORMAT csv, HEADER false, DELIMITER ${'\x01'}, QUOTE '', ESCAPE '', FORCE_QUOTE (line))`,
      );
    } finally {
      await this.#branch.run(together);
    }
  }

  async prepare(mark: Mark): Promise<Json> {
    const events = this.#written - this.#committed;
    if (events > 0) await this.#guarded(() => this.#gather(this.#pending(mark.id)));
    const prepared: PreparedEvents = { checkpoint: mark.id, events, total: this.#written };
    return { ...prepared };
  }

  async commit(_mark: Mark, json: Json): Promise<readonly Committed[]> {
    const prepared = json as unknown as PreparedEvents;
    this.#committed = prepared.total;
    this.#written = prepared.total;
    this.#parts = [];
    if (prepared.events === 0) return [];
    await this.#guarded(() => this.#publish(prepared.checkpoint));
    return [{ what: 'events', rows: prepared.events }];
  }

  async discard(after: number): Promise<void> {
    const { pendingDir } = this.#options;
    this.#written = this.#committed;
    this.#parts = [];
    for (const name of await readdir(pendingDir).catch(() => [])) {
      const id = /^(\d+)\.ndjson$/.exec(name);
      if (id === null || Number(id[1]) > after)
        await rm(joinPath(pendingDir, name), { force: true });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#branch?.[Symbol.asyncDispose]();
    for (const part of this.#parts) await rm(part, { force: true });
  }

  #pending(checkpoint: number): string {
    return joinPath(this.#options.pendingDir, fileName(checkpoint));
  }

  async #gather(target: string): Promise<void> {
    const [first, ...others] = this.#parts;
    if (first === undefined) return;
    if (await exists(first)) {
      await copyOrMove(first, target, others.length === 0);
      for (const part of others)
        await pipeline(createReadStream(part), (source) => appendAll(source, target));
    }
    const handle = await open(target, 'r+');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  async #publish(checkpoint: number): Promise<void> {
    const { path, pendingDir } = this.#options;
    const pending = this.#pending(checkpoint);
    const target = path === null ? pending : joinPath(path, fileName(checkpoint));
    if (path !== null && (await exists(pending))) {
      await mkdir(path, { recursive: true });
      await rename(pending, target);
      await syncFolder(path);
    }
    if (this.#options.listeners.length > 0) await this.#deliver(target);
    if (path === null) await rm(pending, { force: true });
    for (const name of await readdir(pendingDir).catch(() => []))
      if (name.startsWith('part-')) await rm(joinPath(pendingDir, name), { force: true });
  }

  async #deliver(file: string): Promise<void> {
    if (!(await exists(file))) return;
    for await (const line of createInterface({
      input: createReadStream(file),
      crlfDelay: Infinity,
    })) {
      const event = eventOf(line);
      for (const listener of this.#options.listeners) await listener(event);
    }
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof PipelineError) throw error;
      const { path, pendingDir } = this.#options;
      throw new PipelineError(
        'E_EVENTS_WRITE',
        `cannot write events to ${path ?? pendingDir}: ${(error as NodeJS.ErrnoException).code ?? 'failed'}`,
        { cause: error },
      );
    }
  }
}

const SEQUENCE = 'event_numbers';

const fileName = (checkpoint: number): string => `${String(checkpoint).padStart(12, '0')}.ndjson`;

const exists = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => null)) !== null;

async function copyOrMove(from: string, to: string, isMove: boolean): Promise<void> {
  if (isMove) await rename(from, to);
  else await copyFile(from, to);
}

async function appendAll(source: AsyncIterable<Buffer>, target: string): Promise<void> {
  for await (const block of source) await appendFile(target, block);
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function eventOf(line: string): InstanceEvent {
  const number = (_: string, value: unknown): unknown => {
    if (!isLosslessNumber(value)) return value;
    const plain = Number(value.value);
    return Number.isInteger(plain) && !Number.isSafeInteger(plain) ? BigInt(value.value) : plain;
  };
  const { id, data } = parse(line, number) as { id: string; data: Omit<InstanceEvent, 'id'> };
  return { id, ...data };
}
