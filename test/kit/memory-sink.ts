import { KIND, type ChangeColumn, type Changes } from '../../src/model/change.ts';
import { PipelineError } from '../../src/model/errors.ts';
import type { Json } from '../../src/model/json.ts';
import type { Committed, Mark, Sink } from '../../src/model/sink.ts';
import type { Database } from '../../src/sql/database.ts';
import { id, join, sql, type Sql } from '../../src/sql/sql.ts';

/** Texts of a row's columns, in the order of its target's columns. */
export type StoredRow = readonly (string | null)[];

interface StoredTable {
  readonly rows: Map<string, StoredRow>;
  readonly marks: Mark[];
}

/** Last image of each key; null: gone. */
type Folded = Map<string, StoredRow | null>;

interface PendingFile {
  readonly checkpoint: number;
  readonly folded: Folded;
}

/** What outlives the process: tables, and files that are not visible yet. */
export class MemoryTarget {
  readonly tables = new Map<string, StoredTable>();
  readonly pending = new Map<string, PendingFile>();
  #files = 0;

  store(file: PendingFile): string {
    this.#files += 1;
    this.pending.set(`file-${this.#files}`, file);
    return `file-${this.#files}`;
  }

  table(name: string): StoredTable {
    const table = this.tables.get(name) ?? { rows: new Map<string, StoredRow>(), marks: [] };
    this.tables.set(name, table);
    return table;
  }
}

export interface MemorySinkOptions {
  readonly db: Database;
  readonly target: MemoryTarget;
  /** Called between the commits of two tables, where a process can die too. */
  readonly between?: () => void;
}

type Prepared = readonly { readonly table: string; readonly file: string }[];

/** Tables by key in memory: the smallest thing that keeps the contract of a sink. */
export class MemorySink implements Sink {
  readonly #options: MemorySinkOptions;
  readonly #folded = new Map<string, Folded>();

  constructor(options: MemorySinkOptions) {
    this.#options = options;
  }

  async write(batch: readonly Changes[]): Promise<void> {
    for (const changes of batch) {
      if (changes.rows === 0) continue;
      const name = `${changes.target.namespace}.${changes.target.table}`;
      const folded: Folded = this.#folded.get(name) ?? new Map();
      this.#folded.set(name, folded);
      for (const { kind, key, oldKey, row } of await readChanges(this.#options.db, changes)) {
        if (oldKey !== null) folded.set(oldKey, null);
        folded.set(key, kind === KIND.delete || kind === KIND.silentDelete ? null : row);
      }
    }
  }

  async prepare(mark: Mark): Promise<Json> {
    const { target } = this.#options;
    const prepared: Prepared = [...this.#folded].map(([table, folded]) => {
      const last = target.table(table).marks.at(-1)?.id ?? 0;
      if (last >= mark.id)
        throw new PipelineError('E_STATE_STALE', `${table} carries checkpoint ${last} already`);
      return { table, file: target.store({ checkpoint: mark.id, folded: new Map(folded) }) };
    });
    return prepared;
  }

  async commit(mark: Mark, json: Json): Promise<readonly Committed[]> {
    const { target, between } = this.#options;
    const committed: Committed[] = [];
    for (const { table, file } of json as Prepared) {
      if (committed.length > 0) between?.();
      const stored = target.table(table);
      const folded = target.pending.get(file)?.folded;
      if (!stored.marks.some((m) => m.id === mark.id)) {
        if (folded === undefined)
          throw new PipelineError('E_BUG', `${file} of checkpoint ${mark.id} is gone`);
        for (const [key, row] of folded)
          if (row === null) stored.rows.delete(key);
          else stored.rows.set(key, row);
        stored.marks.push(mark);
      }
      committed.push({ what: table, rows: folded?.size ?? 0 });
    }
    this.#forget((checkpoint) => checkpoint <= mark.id);
    return committed;
  }

  async discard(after: number): Promise<void> {
    this.#forget((checkpoint) => checkpoint > after);
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #forget(isDone: (checkpoint: number) => boolean): void {
    const { pending } = this.#options.target;
    for (const [name, file] of pending) if (isDone(file.checkpoint)) pending.delete(name);
    this.#folded.clear();
  }
}

interface StoredChange {
  readonly ordinal: number;
  readonly kind: number;
  readonly key: string;
  /** Of a row whose key changed. */
  readonly oldKey: string | null;
  readonly row: StoredRow;
}

const reading = new WeakMap<Changes, Promise<readonly StoredChange[]>>();

/** The rows of a relation of changes, in feed order; read once, however many sinks ask. */
export function readChanges(db: Database, changes: Changes): Promise<readonly StoredChange[]> {
  const known = reading.get(changes) ?? readRelation(db, changes);
  reading.set(changes, known);
  return known;
}

async function readRelation(db: Database, changes: Changes): Promise<readonly StoredChange[]> {
  const keys = changes.columns.filter((c) => c.isKey);
  const text = (field: (c: ChangeColumn) => string): Sql =>
    sql`concat_ws(',', ${join(keys.map((c) => id(field(c))))})`;
  const fields = changes.columns.map((c) => sql`${id(c.field)}::VARCHAR AS ${id(`v_${c.field}`)}`);
  const rows =
    await db.rows(sql`SELECT ${changes.ord} AS ordinal, kind, ${text((c) => c.field)} AS key, CASE WHEN moved THEN ${text((c) => c.oldField ?? c.field)} END AS old_key, ${join(fields)}
    FROM ${id(changes.relation)} ORDER BY ordinal`);
  return rows.map((row) => ({
    ordinal: Number(row['ordinal']),
    kind: Number(row['kind']),
    key: String(row['key']),
    oldKey: row['old_key'] as string | null,
    row: changes.columns.map((c) => row[`v_${c.field}`] as string | null),
  }));
}
