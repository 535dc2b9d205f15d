/** Changes of one target between two checkpoints, folded by key batch by batch. */
import { KIND, type Changes, type ChangeColumn } from '../../model/change.ts';
import { PipelineError } from '../../model/errors.ts';
import type { ColumnType } from '../../model/types.ts';
import { duckdbType } from '../../sql/casts.ts';
import type { Database } from '../../sql/database.ts';
import { id, join, raw, sql, type Sql } from '../../sql/sql.ts';

export interface AccumulatedColumn {
  readonly name: string;
  readonly type: ColumnType;
  readonly isKey: boolean;
  readonly nullable: boolean;
  /** Its column in the relation: names of the feed's own would meet those used here. */
  readonly field: string;
}

/** Rows `(seq BIGINT, gone BOOLEAN, v0 …)`: of a key, the one with the greatest `seq` holds. */
export class Accumulator {
  readonly #db: Database;
  readonly #table: string;
  #columns: readonly AccumulatedColumn[] = [];
  #isFolded = true;
  #rows = 0;
  /** `seq` of the last truncate: what lies before it is gone, in whatever order it is added. */
  #truncatedAt: bigint | null = null;

  constructor(db: Database) {
    this.#db = db;
    this.#table = db.name('accumulated');
  }

  get columns(): readonly AccumulatedColumn[] {
    return this.#columns;
  }

  get isEmpty(): boolean {
    return this.#rows === 0 && !this.isTruncated;
  }

  get isTruncated(): boolean {
    return this.#truncatedAt !== null;
  }

  /** @param base greater than every `seq` of batches before */
  async add(changes: Changes, base: bigint): Promise<void> {
    this.#check(changes);
    await this.#widen(changes.columns);
    const { ord, relation, truncatedAt } = changes;
    const names = join(changes.columns.map((c) => id(this.#fieldOf(c.name))));
    if (truncatedAt !== null) {
      const at = base + BigInt(truncatedAt) * 2n;
      await this.#db.run(sql`DELETE FROM ${id(this.#table)} WHERE seq < ${at}`);
      this.#truncatedAt =
        this.#truncatedAt === null || at > this.#truncatedAt ? at : this.#truncatedAt;
    }
    const after =
      this.#truncatedAt === null ? raw('') : sql` AND ${base} + ${ord} * 2 > ${this.#truncatedAt}`;
    const rowsBefore = this.#rows;
    if (changes.hasMoves) {
      const old = join(
        changes.columns.map((c) => (c.oldField === null ? raw('NULL') : id(c.oldField))),
      );
      this.#rows += await this.#db.run(sql`INSERT INTO ${id(this.#table)} (seq, gone, ${names})
        SELECT ${base} + ${ord} * 2, TRUE, ${old} FROM ${id(relation)} WHERE moved${after}`);
    }
    this.#rows += await this.#db.run(
      sql`INSERT INTO ${id(this.#table)} (seq, gone, ${names}) ${foldRows(changes, base, after)}`,
    );
    if (rowsBefore > 0 || changes.hasMoves) this.#isFolded = false;
  }

  /** A relation with one row of each key. */
  async fold(): Promise<Sql> {
    if (!this.#isFolded) {
      const keys = join(this.#columns.filter((c) => c.isKey).map((c) => id(c.field)));
      const folded = this.#db.name('folded');
      await this.#db.run(sql`CREATE TABLE ${id(folded)} AS SELECT * FROM ${id(this.#table)}
        WHERE seq IN (SELECT max(seq) FROM ${id(this.#table)} GROUP BY ${keys});
        DROP TABLE ${id(this.#table)}; ALTER TABLE ${id(folded)} RENAME TO ${id(this.#table)}`);
      this.#isFolded = true;
    }
    return id(this.#table);
  }

  async clear(): Promise<void> {
    if (this.#columns.length > 0) await this.#db.run(sql`DROP TABLE IF EXISTS ${id(this.#table)}`);
    this.#columns = [];
    this.#rows = 0;
    this.#isFolded = true;
    this.#truncatedAt = null;
  }

  // Several source tables may share a target if their columns agree.
  #check({ columns, source, target }: Changes): void {
    for (const column of columns) {
      const known = this.#columns.find((c) => c.name === column.name);
      if (known === undefined || (known.type === column.type && known.isKey === column.isKey))
        continue;
      const table = `${target.namespace}.${target.table}`;
      throw new PipelineError(
        'E_TARGET_MISMATCH',
        `${source} writes column ${column.name} of ${table} as ${describe(column)}, another source table as ${describe(known)}`,
        { subject: { table, column: column.name } },
      );
    }
  }

  #fieldOf(name: string): string {
    return this.#columns.find((c) => c.name === name)?.field ?? '';
  }

  async #widen(columns: readonly ChangeColumn[]): Promise<void> {
    const table = id(this.#table);
    const fresh = columns.filter((column) => !this.#columns.some((c) => c.name === column.name));
    const added = fresh.map(({ name, type, isKey, nullable }, i): AccumulatedColumn => ({
      name,
      type,
      isKey,
      nullable,
      field: `v${this.#columns.length + i}`,
    }));
    const typed = added.map((c) => sql`${id(c.field)} ${duckdbType(c.type)}`);
    if (this.#columns.length === 0) {
      await this.#db.run(
        sql`CREATE OR REPLACE TABLE ${table} (seq BIGINT, gone BOOLEAN, ${join(typed)})`,
      );
    } else {
      for (const column of typed)
        await this.#db.run(sql`ALTER TABLE ${table} ADD COLUMN ${column}`);
    }
    this.#columns = [...this.#columns, ...added];
  }
}

const describe = (c: { readonly type: ColumnType; readonly isKey: boolean }): string =>
  c.isKey ? `key ${c.type}` : c.type;

/** The last change of each key of a batch. @param after predicate on rows, beginning with AND; empty: all */
export function foldRows(changes: Changes, base: bigint, after: Sql): Sql {
  const { ord, relation } = changes;
  const keys = join(changes.columns.filter((c) => c.isKey).map((c) => id(c.field)));
  return sql`SELECT ${base} + ${ord} * 2 + 1 AS seq, kind IN (${KIND.delete}, ${KIND.silentDelete}) AS gone, ${join(changes.columns.map((c) => id(c.field)))}
    FROM ${id(relation)} WHERE ${ord} IN (SELECT max(${ord}) FROM ${id(relation)} WHERE kind <> ${KIND.truncate}${after} GROUP BY ${keys})`;
}

/** The rows of a folded relation that are there. */
export function dataRows(folded: Sql, columns: readonly Sql[]): Sql {
  return sql`SELECT ${join(columns)} FROM ${folded} WHERE NOT gone`;
}
