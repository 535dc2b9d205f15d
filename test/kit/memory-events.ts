import { KIND, type Changes } from '../../src/model/change.ts';
import { PipelineError } from '../../src/model/errors.ts';
import type { Json } from '../../src/model/json.ts';
import type { Committed, Mark, Sink } from '../../src/model/sink.ts';
import type { Database } from '../../src/sql/database.ts';
import { readChanges } from './memory-sink.ts';

export interface StoredEvent {
  /** From 1, without gaps, over all checkpoints. */
  readonly number: number;
  /** `<table> <create|update|delete> <key>` */
  readonly text: string;
}

/** What outlives the process: published events by checkpoint, and those that are not published yet. */
export class MemoryEventLog {
  readonly published = new Map<number, readonly StoredEvent[]>();
  readonly pending = new Map<number, readonly StoredEvent[]>();

  all(): readonly StoredEvent[] {
    return [...this.published].sort(([a], [b]) => a - b).flatMap(([, events]) => events);
  }
}

interface Prepared {
  readonly events: number;
  readonly total: number;
}

/** An append-only log of events in memory, numbered like the real one. */
export class MemoryEvents implements Sink {
  readonly #db: Database;
  readonly #log: MemoryEventLog;
  #texts: string[] = [];
  #total = 0;

  constructor(db: Database, log: MemoryEventLog) {
    this.#db = db;
    this.#log = log;
  }

  async write(batch: readonly Changes[]): Promise<void> {
    const found: { at: number; text: string }[] = [];
    for (const changes of batch) {
      const rows = await readChanges(this.#db, changes);
      for (const { ordinal, kind, key, oldKey } of rows) {
        const event = (operation: string, of: string): void =>
          void found.push({ at: ordinal, text: `${changes.source} ${operation} ${of}` });
        if (oldKey !== null) event('delete', oldKey);
        if (kind === KIND.delete) event('delete', key);
        else event(kind === KIND.create || oldKey !== null ? 'create' : 'update', key);
      }
    }
    this.#texts.push(...found.sort((a, b) => a.at - b.at).map((event) => event.text));
  }

  async prepare(mark: Mark): Promise<Json> {
    const events = this.#texts.map((text, i): StoredEvent => ({
      number: this.#total + i + 1,
      text,
    }));
    if (events.length > 0) this.#log.pending.set(mark.id, events);
    const prepared: Prepared = { events: events.length, total: this.#total + events.length };
    return { ...prepared };
  }

  async commit(mark: Mark, json: Json): Promise<readonly Committed[]> {
    const prepared = json as unknown as Prepared;
    this.#total = prepared.total;
    this.#texts = [];
    if (prepared.events === 0) return [];
    const events = this.#log.published.get(mark.id) ?? this.#log.pending.get(mark.id);
    if (events === undefined)
      throw new PipelineError('E_BUG', `events of checkpoint ${mark.id} are gone`);
    this.#log.published.set(mark.id, events);
    this.#log.pending.delete(mark.id);
    return [{ what: 'events', rows: events.length }];
  }

  async discard(after: number): Promise<void> {
    this.#texts = [];
    for (const checkpoint of this.#log.pending.keys())
      if (checkpoint > after) this.#log.pending.delete(checkpoint);
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
