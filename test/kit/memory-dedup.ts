import type { Changes } from '../../src/model/change.ts';
import type { Json } from '../../src/model/json.ts';
import type { Stage } from '../../src/model/stage.ts';
import type { Database } from '../../src/sql/database.ts';
import { id, join, sql } from '../../src/sql/sql.ts';

/** Drops what the source delivers again, by the greatest place in its log seen so far: a stage with a small state. */
export class MemoryDedup implements Stage {
  readonly #db: Database;
  #last = new Map<string, number>();

  constructor(db: Database) {
    this.#db = db;
  }

  async apply(changes: Changes): Promise<{ changes: Changes; dropped: number }> {
    const rows = await this.#db.rows(
      sql`SELECT ord, seq::BIGINT AS seq FROM ${id(changes.relation)} ORDER BY ord`,
    );
    const old: number[] = [];
    let last = this.#last.get(changes.source) ?? 0;
    for (const row of rows) {
      if (Number(row['seq']) <= last) old.push(Number(row['ord']));
      last = Math.max(last, Number(row['seq']));
    }
    this.#last.set(changes.source, last);
    if (old.length > 0)
      await this.#db.run(sql`DELETE FROM ${id(changes.relation)} WHERE ord IN (${join(old)})`);
    return { changes: { ...changes, rows: changes.rows - old.length }, dropped: old.length };
  }

  async saveState(): Promise<Json> {
    return Object.fromEntries(this.#last);
  }

  async loadState(state: Json): Promise<void> {
    this.#last = new Map(Object.entries((state ?? {}) as Record<string, number>));
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
