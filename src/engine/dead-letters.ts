/**
 * Records that could not be represented, kept with the checkpoint that met them. An append-only log: a file
 * `<checkpoint>.ndjson` for each checkpoint that has something to say of dead letters. Files of checkpoints that were
 * never saved do not count.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurably } from '../lib/durable-file.ts';
import { KIND, type Changes, type Place, type Rejected } from '../model/change.ts';
import { PipelineError, type ErrorCode } from '../model/errors.ts';
import type { Database } from '../sql/database.ts';
import { keyOf } from './compute.ts';
import { id, join as joinSql, sql } from '../sql/sql.ts';

export interface DeadLetter {
  readonly id: string;
  readonly code: ErrorCode;
  readonly message: string;
  readonly table: string | null;
  readonly key: string | null;
  readonly file: string;
  readonly line: number;
  readonly byte: number;
  readonly checkpoint: number;
  readonly bytes: Uint8Array;
  /** JSON list of the texts of the target's key; null: unknown. */
  readonly targetKey: string | null;
  /** A later change of the key is in the table, so that the record must not be applied any more. */
  readonly isSuperseded: boolean;
}

type Entry =
  | {
      readonly type: 'letter';
      readonly id: string;
      readonly code: ErrorCode;
      readonly message: string;
      readonly table: string | null;
      readonly key: string | null;
      readonly file: string;
      readonly line: number;
      readonly byte: number;
      readonly targetKey: string | null;
      readonly bytes: string;
    }
  | { readonly type: 'resolved'; readonly id: string; readonly how: Resolution }
  | { readonly type: 'superseded'; readonly id: string };

export type Resolution = 'replayed' | 'superseded' | 'discarded';

export interface DeadLetterOptions {
  readonly folder: string;
}

export class DeadLetters {
  readonly #options: DeadLetterOptions;
  readonly #letters = new Map<string, DeadLetter>();
  #fresh: Entry[] = [];
  readonly #metAgain = new Set<string>();

  constructor(options: DeadLetterOptions) {
    this.#options = options;
  }

  /** Reads the log up to a checkpoint. */
  async load(upTo: number): Promise<void> {
    this.#letters.clear();
    this.#fresh = [];
    for (const name of await this.#files()) {
      const checkpoint = Number(name.slice(0, 12));
      if (checkpoint > upTo) {
        await rm(join(this.#options.folder, name), { force: true });
        continue;
      }
      const lines = (await readFile(join(this.#options.folder, name), 'utf8'))
        .split('\n')
        .filter((line) => line !== '');
      for (const line of lines) this.#apply(JSON.parse(line) as Entry, checkpoint);
    }
  }

  /** Those that wait, in feed order of their meeting. */
  pending(): readonly DeadLetter[] {
    return [...this.#letters.values()];
  }

  get hasNews(): boolean {
    return this.#fresh.length > 0;
  }

  /** Takes records in; one that waits already does not count again. Returns how many are new. */
  add(rejected: readonly Rejected[]): number {
    let added = 0;
    for (const record of rejected) {
      const { code, message, table, key, place } = record;
      const letterId = letterIdOf(record.place);
      const known = this.#letters.get(letterId);
      // A line that was cut when it was first met is another one now.
      if (known !== undefined && Buffer.from(known.bytes).equals(record.bytes)) {
        this.#metAgain.add(letterId);
        continue;
      }
      const entry: Entry = {
        type: 'letter',
        id: letterId,
        code,
        message,
        table,
        key,
        ...place,
        targetKey: record.targetKey ?? null,
        bytes: Buffer.from(record.bytes).toString('base64'),
      };
      this.#note(entry);
      added += 1;
    }
    return added;
  }

  /** Whether a letter was added again since the log was read: it still cannot be represented. */
  wasMetAgain(letterId: string): boolean {
    return this.#metAgain.has(letterId);
  }

  resolve(letterId: string, how: Resolution): void {
    if (this.#letters.has(letterId)) this.#note({ type: 'resolved', id: letterId, how });
  }

  /**
   * Marks letters whose key changes, or whose table is emptied, in a later record.
   *
   * @param after ordinal of the last row that does not stand behind a letter; -1: all do
   */
  async supersede(
    db: Database,
    changes: Changes,
    after: (letter: DeadLetter) => number,
  ): Promise<void> {
    const waiting = this.pending().filter(
      (letter) => letter.table === changes.source && !letter.isSuperseded,
    );
    if (waiting.length === 0 || changes.rows === 0) return;
    const { truncatedAt, columns, relation, ord } = changes;
    const emptied = waiting.filter((letter) => truncatedAt !== null && after(letter) < truncatedAt);
    const keys = [...new Set(waiting.flatMap((letter) => letter.targetKey ?? []))];
    const last = new Map<string, number>();
    for (const isOld of changes.hasMoves ? [false, true] : [false]) {
      const found =
        keys.length === 0
          ? []
          : await db.rows(sql`SELECT key, max(ord) AS ord FROM (SELECT ${keyOf(columns, isOld)} AS key, ${ord} AS ord
        FROM ${id(relation)} WHERE kind <> ${KIND.truncate}${isOld ? sql` AND moved` : sql``}) WHERE key IN (${joinSql(keys)}) GROUP BY key`);
      for (const row of found) {
        const key = String(row['key']);
        last.set(key, Math.max(last.get(key) ?? -1, Number(row['ord'])));
      }
    }
    const changed = waiting.filter(
      (letter) => letter.targetKey !== null && (last.get(letter.targetKey) ?? -1) > after(letter),
    );
    for (const letter of new Set([...emptied, ...changed]))
      this.#note({ type: 'superseded', id: letter.id });
  }

  /** Makes the news durable; they count once the checkpoint is saved. @throws E_STATE_WRITE */
  async prepare(checkpoint: number): Promise<void> {
    if (this.#fresh.length === 0) return;
    const { folder } = this.#options;
    try {
      await mkdir(folder, { recursive: true });
      await writeDurably(
        folder,
        `${String(checkpoint).padStart(12, '0')}.ndjson`,
        this.#fresh.map((entry) => `${JSON.stringify(entry)}\n`).join(''),
      );
    } catch (error) {
      throw new PipelineError('E_STATE_WRITE', `cannot write dead letters to ${folder}`, {
        cause: error,
      });
    }
  }

  committed(): void {
    this.#fresh = [];
  }

  #note(entry: Entry): void {
    this.#fresh.push(entry);
    this.#apply(entry, 0);
  }

  #apply(entry: Entry, checkpoint: number): void {
    const known = this.#letters.get(entry.id);
    if (entry.type === 'letter') {
      const { type: _, bytes, ...rest } = entry;
      this.#letters.set(entry.id, {
        ...rest,
        checkpoint,
        bytes: Buffer.from(bytes, 'base64'),
        isSuperseded: known?.isSuperseded ?? false,
      });
    } else if (entry.type === 'resolved') this.#letters.delete(entry.id);
    else if (known !== undefined) this.#letters.set(entry.id, { ...known, isSuperseded: true });
  }

  async #files(): Promise<readonly string[]> {
    const names = await readdir(this.#options.folder).catch(() => []);
    return names.filter((name) => /^\d{12}\.ndjson$/.test(name)).sort();
  }
}

/** The same for the same line of the same file. */
export function letterIdOf(place: Place): string {
  return createHash('sha256').update(`${place.file}\n${place.byte}`).digest('hex').slice(0, 8);
}
