import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import { join as joinPath } from 'node:path';
import { KIND, type Changes } from '../../model/change.ts';
import type { Json } from '../../model/json.ts';
import type { Stage } from '../../model/stage.ts';
import type { Database } from '../../sql/database.ts';
import { filePath, id, join, raw, sql, type Sql } from '../../sql/sql.ts';

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
  /** Parquet files `(k0 …, origin, hi, lo, ts)`, one a batch; `hi` and `lo` are the halves of an order. */
  files: readonly StateFile[];
}

/**
 * Drops what is not newer than the last change of its key: by position in the source where the records have one; by
 * the source's clock where they have none, and then only what is strictly older. Keys are remembered for `windowMs`
 * of the source's clock.
 */
export class Dedup implements Stage {
  readonly #options: DedupOptions;
  readonly #tables = new Map<string, Table>();
  /** Files of the last saved state: a crash goes back to it. */
  #saved: ReadonlySet<string> = new Set();

  constructor(options: DedupOptions) {
    this.#options = options;
  }

  async apply(changes: Changes): Promise<{ changes: Changes; dropped: number }> {
    if (changes.rows === 0) return { changes, dropped: 0 };
    const key = `${changes.source}\n${changes.target.namespace}.${changes.target.table}`;
    const table: Table = this.#tables.get(key) ?? {
      order: null,
      origin: null,
      ts: null,
      files: [],
    };
    this.#tables.set(key, table);
    if (await this.#isRising(changes, table)) {
      await this.#remember(changes, table);
      return { changes, dropped: 0 };
    }
    const truncates = changes.truncatedAt === null ? 0 : await this.#dropTruncates(changes, table);
    const dropped = truncates + (await this.#drop(changes, table));
    await this.#remember(changes, table);
    const truncatedAt = truncates === 0 ? changes.truncatedAt : await this.#lastTruncate(changes);
    return { changes: { ...changes, rows: changes.rows - dropped, truncatedAt }, dropped };
  }

  async saveState(): Promise<Json> {
    const { stateDir, windowMs } = this.#options;
    await mkdir(stateDir, { recursive: true });
    for (const table of this.#tables.values()) {
      const horizon = table.ts === null ? null : table.ts - windowMs;
      table.files = table.files.filter(
        (file) => horizon === null || file.maxTs === null || file.maxTs >= horizon,
      );
    }
    await Promise.all(
      this.#files()
        .filter((name) => !this.#saved.has(name))
        .map((name) => syncFile(joinPath(stateDir, name))),
    );
    await this.#removeOthers();
    return Object.fromEntries(
      [...this.#tables].map(([name, table]) => [name, { ...table }]),
    ) as unknown as Json;
  }

  async loadState(state: Json): Promise<void> {
    this.#tables.clear();
    for (const [name, table] of Object.entries((state ?? {}) as unknown as Record<string, Table>))
      this.#tables.set(name, { ...table });
    this.#saved = new Set(this.#files());
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  // The usual case, in one pass: positions rise from row to row and lie beyond all that was seen, so no key can repeat.
  async #isRising(changes: Changes, table: Table): Promise<boolean> {
    if (changes.ord.text !== 'rowid') return false;
    const step = changes.hasOrder
      ? raw(
          `seq IS NULL OR seq <= lag(seq) OVER () OR origin IS DISTINCT FROM first_value(origin) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)`,
        )
      : raw('ts < lag(ts) OVER ()');
    const facts = await this.#options.db
      .one(sql`SELECT coalesce(bool_or(falls), FALSE) AS falls, min(seq)::VARCHAR AS seq, min(ts) AS ts, any_value(origin) AS origin
      FROM (SELECT seq, ts, origin, ${step} AS falls FROM ${id(changes.relation)})`);
    if (facts['falls'] === true) return false;
    if (!changes.hasOrder)
      return table.ts === null || facts['ts'] === null || Number(facts['ts']) >= table.ts;
    return (
      table.order === null ||
      (facts['origin'] === table.origin &&
        facts['seq'] !== null &&
        BigInt(String(facts['seq'])) > BigInt(table.order))
    );
  }

  // A truncate is about all keys, so all changes of the table have to be older. It holds the table's lock in its source,
  // so that no other change can overtake it.
  async #dropTruncates(changes: Changes, table: Table): Promise<number> {
    const rows = sql`SELECT ${changes.ord} AS ord, kind, seq, max(seq) OVER (PARTITION BY origin ORDER BY ${changes.ord}
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before, origin FROM ${id(changes.relation)}`;
    const prior =
      table.order === null
        ? raw('NULL')
        : sql`CASE WHEN origin IS NOT DISTINCT FROM ${table.origin} THEN ${table.order}::HUGEINT END`;
    return await this.#options.db
      .run(sql`DELETE FROM ${id(changes.relation)} WHERE ${changes.ord} IN (
      SELECT ord FROM (${rows}) WHERE kind = ${KIND.truncate} AND seq <= greatest(before, ${prior}))`);
  }

  async #lastTruncate(changes: Changes): Promise<number | null> {
    const { at } = await this.#options.db.one(
      sql`SELECT max(${changes.ord}) AS at FROM ${id(changes.relation)} WHERE kind = ${KIND.truncate}`,
    );
    return typeof at === 'number' ? at : null;
  }

  async #drop(changes: Changes, table: Table): Promise<number> {
    const { db } = this.#options;
    const keys = keysOf(changes);
    const names = join(keys.map((_, i) => id(`k${i}`)));
    const rows = (fields: readonly string[], isOld: boolean): Sql =>
      sql`SELECT ${join(fields.map((k, i) => sql`${id(k)} AS ${id(`k${i}`)}`))}, origin, seq, ts, ${changes.ord} AS ord, ${isOld} AS is_old
      FROM ${id(changes.relation)} WHERE kind <> ${KIND.truncate}${isOld ? raw(' AND moved') : raw('')}`;
    // A key that a row moved away from has changed too, though the row is another one's now.
    const now = changes.hasMoves
      ? sql`${rows(keys, false)} UNION ALL ${rows(oldKeysOf(changes), true)}`
      : rows(keys, false);
    const prior = await this.#prior(table, keys.length);
    const before = (value: string, partition: Sql): Sql =>
      sql`max(${raw(value)}) OVER (PARTITION BY ${partition} ORDER BY ord ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)`;
    const byOrigin = sql`${names}, origin`;
    const own = join(keys.map((_, i) => id('n', `k${i}`)));
    const sameKey = (other: string): Sql =>
      join(
        keys.map((_, i) => sql`${id(other, `k${i}`)} IS NOT DISTINCT FROM ${id('n', `k${i}`)}`),
        ' AND ',
      );
    const judged = sql`SELECT n.ord, n.seq, n.ts, n.is_old,
        greatest(${before('n.seq', sql`${own}, n.origin`)}, p.seq) AS last_seq,
        greatest(${before('n.ts', own)}, q.ts) AS last_ts
      FROM (${now}) n
      LEFT JOIN (SELECT ${byOrigin}, max(seq) AS seq FROM (${prior}) GROUP BY ALL) p ON ${sameKey('p')} AND p.origin IS NOT DISTINCT FROM n.origin
      LEFT JOIN (SELECT ${names}, max(ts) AS ts FROM (${prior}) GROUP BY ALL) q ON ${sameKey('q')}`;
    const isOld = raw(
      'CASE WHEN seq IS NOT NULL AND last_seq IS NOT NULL THEN seq <= last_seq WHEN seq IS NULL THEN coalesce(ts < last_ts, FALSE) ELSE FALSE END',
    );
    return await db.run(
      sql`DELETE FROM ${id(changes.relation)} WHERE ${changes.ord} IN (SELECT ord FROM (${judged}) WHERE NOT is_old AND ${isOld})`,
    );
  }

  /** `(k0 …, origin, seq, ts)` of everything within the window. */
  async #prior(table: Table, keys: number): Promise<Sql> {
    const files = table.files.map((file) => joinPath(this.#options.stateDir, file.name));
    const parts: Sql[] = [];
    const names = join(Array.from({ length: keys }, (_, i) => id(`k${i}`)));
    if (files.length > 0)
      parts.push(
        sql`SELECT ${names}, origin, hi::HUGEINT * 18446744073709551616 + lo AS seq, ts FROM read_parquet([${join(files.map(filePath))}])`,
      );
    if (parts.length === 0)
      parts.push(
        sql`SELECT ${join(Array.from({ length: keys }, (_, i) => sql`NULL AS ${id(`k${i}`)}`))}, NULL::VARCHAR AS origin, NULL::HUGEINT AS seq, NULL::BIGINT AS ts WHERE FALSE`,
      );
    return join(parts, ' UNION ALL ');
  }

  async #remember(changes: Changes, table: Table): Promise<void> {
    const { db, windowMs } = this.#options;
    const facts = await db.one(
      sql`SELECT max(seq)::VARCHAR AS seq, max(ts) AS ts, last(origin) AS origin FROM ${id(changes.relation)}`,
    );
    const order = facts['seq'] === null ? null : String(facts['seq']);
    const origin = (facts['origin'] ?? null) as string | null;
    if (
      order !== null &&
      (table.order === null || origin !== table.origin || BigInt(order) > BigInt(table.order))
    )
      table.order = order;
    table.origin = origin;
    if (facts['ts'] !== null) table.ts = Math.max(table.ts ?? -Infinity, Number(facts['ts']));
    const keys = keysOf(changes);
    const within =
      table.ts === null ? raw('TRUE') : sql`coalesce(ts >= ${table.ts - windowMs}, TRUE)`;
    const rows = (fields: readonly string[], where: Sql): Sql =>
      sql`SELECT ${join(fields.map((k, i) => sql`${id(k)} AS ${id(`k${i}`)}`))}, origin, (seq >> 64)::BIGINT AS hi, (seq & 18446744073709551615)::UBIGINT AS lo, ${changes.hasOrder ? raw('CASE WHEN seq IS NULL THEN ts END') : raw('ts')} AS ts FROM ${id(changes.relation)} WHERE kind <> ${KIND.truncate} AND ${within}${where}`;
    const all = changes.hasMoves
      ? sql`${rows(keys, raw(''))} UNION ALL ${rows(oldKeysOf(changes), raw(' AND moved'))}`
      : rows(keys, raw(''));
    const name = `${randomUUID()}.parquet`;
    await mkdir(this.#options.stateDir, { recursive: true });
    const written = await db.run(
      sql`COPY (${all}) TO ${joinPath(this.#options.stateDir, name)} (FORMAT parquet, COMPRESSION uncompressed)`,
    );
    table.files = [
      ...table.files,
      { name, maxTs: facts['ts'] === null ? null : Number(facts['ts']) },
    ];
    if (written === 0) table.files = table.files.slice(0, -1);
  }

  #files(): readonly string[] {
    return [...this.#tables.values()].flatMap((table) => table.files.map((file) => file.name));
  }

  async #removeOthers(): Promise<void> {
    const now = new Set(this.#files());
    for (const name of await readdir(this.#options.stateDir)) {
      if (!now.has(name) && !this.#saved.has(name))
        await rm(joinPath(this.#options.stateDir, name), { force: true });
    }
    this.#saved = now;
  }
}

async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const oldKeysOf = (changes: Changes): readonly string[] =>
  changes.columns.flatMap((c) => (c.isKey && c.oldField !== null ? [c.oldField] : []));

const keysOf = (changes: Changes): readonly string[] =>
  changes.columns.filter((c) => c.isKey).map((c) => c.field);
