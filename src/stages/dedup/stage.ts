import { mkdir, readdir, rm } from 'node:fs/promises';
import { join as joinPath } from 'node:path';
import type { Changes } from '../../model/change.ts';
import type { Json } from '../../model/json.ts';
import type { Stage } from '../../model/stage.ts';
import type { Database } from '../../sql/database.ts';
import { id, join, raw, sql, type Sql } from '../../sql/sql.ts';

export interface DedupOptions {
  readonly db: Database;
  readonly windowMs: number;
  /** Folder for the positions of recently changed keys. */
  readonly stateDir: string;
}

interface StateFile {
  readonly name: string;
  /** Epoch milliseconds of the source's clock; null: its rows carry none, and it never expires by time. */
  readonly maxTs: number | null;
}

/** What is kept of one source table on its way to one target. Orders are decimal text: they exceed 2^53. */
interface Table {
  order: string | null;
  origin: string | null;
  ts: number | null;
  files: readonly StateFile[];
  /** Changes since the last checkpoint: a relation `(k0 …, origin, seq, ts)`. */
  recent: string | null;
}

/**
 * Drops what is not newer than the last change of its key: by position in the source where the records have one; by
 * the source's clock where they have none, and then only what is strictly older. Keys are remembered for `windowMs`
 * of the source's clock.
 */
export class Dedup implements Stage {
  readonly #options: DedupOptions;
  readonly #tables = new Map<string, Table>();
  #fileNumber = 0;

  constructor(options: DedupOptions) {
    this.#options = options;
  }

  async apply(changes: Changes): Promise<{ changes: Changes; dropped: number }> {
    if (changes.rows === 0) return { changes, dropped: 0 };
    const key = `${changes.source}\n${changes.target.namespace}.${changes.target.table}`;
    const table: Table = this.#tables.get(key) ?? { order: null, origin: null, ts: null, files: [], recent: null };
    this.#tables.set(key, table);
    const dropped = (await this.#isRising(changes, table)) ? 0 : await this.#drop(changes, table);
    await this.#remember(changes, table);
    return { changes: { ...changes, rows: changes.rows - dropped }, dropped };
  }

  async saveState(checkpoint: number): Promise<Json> {
    const { db, stateDir, windowMs } = this.#options;
    await mkdir(stateDir, { recursive: true });
    const before = new Set<string>();
    for (const table of this.#tables.values()) {
      for (const file of table.files) before.add(file.name);
      const horizon = table.ts === null ? null : table.ts - windowMs;
      const kept = table.files.filter((file) => horizon === null || file.maxTs === null || file.maxTs >= horizon);
      table.files = table.recent === null ? kept : [...kept, await this.#saveRecent(table.recent, checkpoint, horizon)];
      if (table.recent !== null) await db.run(sql`DROP TABLE ${id(table.recent)}`);
      table.recent = null;
    }
    await this.#removeOthers(before);
    return Object.fromEntries([...this.#tables].map(([name, { order, origin, ts, files }]) => [name, { order, origin, ts, files }])) as unknown as Json;
  }

  async loadState(state: Json): Promise<void> {
    this.#tables.clear();
    for (const [name, table] of Object.entries((state ?? {}) as unknown as Record<string, Omit<Table, 'recent'>>)) {
      this.#tables.set(name, { ...table, recent: null });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  // The usual case, in one pass: positions rise from row to row and lie beyond all that was seen, so no key can repeat.
  async #isRising(changes: Changes, table: Table): Promise<boolean> {
    if (changes.ord.text !== 'rowid') return false;
    const step = changes.hasOrder
      ? raw(`seq IS NULL OR seq <= lag(seq) OVER () OR origin IS DISTINCT FROM first_value(origin) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)`)
      : raw('ts < lag(ts) OVER ()');
    const facts = await this.#options.db.one(sql`SELECT coalesce(bool_or(falls), FALSE) AS falls, min(seq)::VARCHAR AS seq, min(ts) AS ts, any_value(origin) AS origin
      FROM (SELECT seq, ts, origin, ${step} AS falls FROM ${id(changes.relation)})`);
    if (facts['falls'] === true) return false;
    if (!changes.hasOrder) return table.ts === null || facts['ts'] === null || Number(facts['ts']) >= table.ts;
    return table.order === null || (facts['origin'] === table.origin && facts['seq'] !== null && BigInt(String(facts['seq'])) > BigInt(table.order));
  }

  async #drop(changes: Changes, table: Table): Promise<number> {
    const { db } = this.#options;
    const keys = keysOf(changes);
    const names = join(keys.map((_, i) => id(`k${i}`)));
    const now = sql`SELECT ${join(keys.map((k, i) => sql`${id(k)} AS ${id(`k${i}`)}`))}, origin, seq, ts, ${changes.ord} AS ord FROM ${id(changes.relation)} WHERE kind <> 4`;
    const prior = await this.#prior(table, keys.length);
    const before = (value: string, partition: Sql): Sql => sql`max(${raw(value)}) OVER (PARTITION BY ${partition} ORDER BY ord ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)`;
    const byOrigin = sql`${names}, origin`;
    const own = join(keys.map((_, i) => id('n', `k${i}`)));
    const sameKey = (other: string): Sql => join(keys.map((_, i) => sql`${id(other, `k${i}`)} IS NOT DISTINCT FROM ${id('n', `k${i}`)}`), ' AND ');
    const judged = sql`SELECT n.ord, n.seq, n.ts,
        greatest(${before('n.seq', sql`${own}, n.origin`)}, p.seq) AS last_seq,
        greatest(${before('n.ts', own)}, q.ts) AS last_ts
      FROM (${now}) n
      LEFT JOIN (SELECT ${byOrigin}, max(seq) AS seq FROM (${prior}) GROUP BY ALL) p ON ${sameKey('p')} AND p.origin IS NOT DISTINCT FROM n.origin
      LEFT JOIN (SELECT ${names}, max(ts) AS ts FROM (${prior}) GROUP BY ALL) q ON ${sameKey('q')}`;
    const isOld = raw('CASE WHEN seq IS NOT NULL AND last_seq IS NOT NULL THEN seq <= last_seq WHEN seq IS NULL THEN coalesce(ts < last_ts, FALSE) ELSE FALSE END');
    return await db.run(sql`DELETE FROM ${id(changes.relation)} WHERE ${changes.ord} IN (SELECT ord FROM (${judged}) WHERE ${isOld})`);
  }

  /** `(k0 …, origin, seq, ts)` of everything within the window. */
  async #prior(table: Table, keys: number): Promise<Sql> {
    const files = table.files.map((file) => joinPath(this.#options.stateDir, file.name));
    const parts: Sql[] = [];
    const names = join(Array.from({ length: keys }, (_, i) => id(`k${i}`)));
    if (files.length > 0) parts.push(sql`SELECT ${names}, origin, seq::HUGEINT AS seq, ts FROM read_parquet([${join(files)}])`);
    if (table.recent !== null) parts.push(sql`SELECT ${names}, origin, seq, ts FROM ${id(table.recent)}`);
    if (parts.length === 0) parts.push(sql`SELECT ${join(Array.from({ length: keys }, (_, i) => sql`NULL AS ${id(`k${i}`)}`))}, NULL::VARCHAR AS origin, NULL::HUGEINT AS seq, NULL::BIGINT AS ts WHERE FALSE`);
    return join(parts, ' UNION ALL ');
  }

  async #remember(changes: Changes, table: Table): Promise<void> {
    const { db, windowMs } = this.#options;
    const facts = await db.one(sql`SELECT max(seq)::VARCHAR AS seq, max(ts) AS ts, last(origin) AS origin FROM ${id(changes.relation)}`);
    const order = facts['seq'] === null ? null : String(facts['seq']);
    const origin = (facts['origin'] ?? null) as string | null;
    if (order !== null && (table.order === null || origin !== table.origin || BigInt(order) > BigInt(table.order))) table.order = order;
    table.origin = origin;
    if (facts['ts'] !== null) table.ts = Math.max(table.ts ?? -Infinity, Number(facts['ts']));
    const keys = keysOf(changes);
    const within = table.ts === null ? raw('TRUE') : sql`coalesce(ts >= ${table.ts - windowMs}, TRUE)`;
    const rows = (fields: readonly string[], where: Sql): Sql =>
      sql`SELECT ${join(fields.map((k, i) => sql`${id(k)} AS ${id(`k${i}`)}`))}, origin, seq, ts FROM ${id(changes.relation)} WHERE kind <> 4 AND ${within}${where}`;
    const old = changes.columns.flatMap((c) => (c.isKey && c.oldField !== null ? [c.oldField] : []));
    const all = changes.hasMoves ? sql`${rows(keys, raw(''))} UNION ALL ${rows(old, raw(' AND moved'))}` : rows(keys, raw(''));
    if (table.recent === null) {
      table.recent = db.name('recent');
      await db.run(sql`CREATE TABLE ${id(table.recent)} AS ${all}`);
    } else {
      await db.run(sql`INSERT INTO ${id(table.recent)} ${all}`);
    }
  }

  async #saveRecent(recent: string, checkpoint: number, horizon: number | null): Promise<StateFile> {
    const { db, stateDir } = this.#options;
    this.#fileNumber += 1;
    const name = `${String(checkpoint).padStart(12, '0')}-${this.#fileNumber}.parquet`;
    const within = horizon === null ? raw('TRUE') : sql`coalesce(ts >= ${horizon}, TRUE)`;
    const rows = sql`SELECT * REPLACE (seq::DECIMAL(38, 0) AS seq) FROM (SELECT * EXCLUDE (seq, ts), max(seq) AS seq, max(ts) AS ts FROM ${id(recent)} WHERE ${within} GROUP BY ALL)`;
    await db.run(sql`COPY (${rows}) TO ${joinPath(stateDir, name)} (FORMAT parquet, COMPRESSION zstd)`);
    const { ts } = await db.one(sql`SELECT max(ts) AS ts FROM ${id(recent)}`);
    return { name, maxTs: ts === null ? null : Number(ts) };
  }

  // Files of the state before stay until the next save: a crash now goes back to it.
  async #removeOthers(before: ReadonlySet<string>): Promise<void> {
    const now = new Set([...this.#tables.values()].flatMap((table) => table.files.map((file) => file.name)));
    for (const name of await readdir(this.#options.stateDir)) {
      if (!now.has(name) && !before.has(name)) await rm(joinPath(this.#options.stateDir, name), { force: true });
    }
  }
}

const keysOf = (changes: Changes): readonly string[] => changes.columns.filter((c) => c.isKey).map((c) => c.field);
