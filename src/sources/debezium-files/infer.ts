/** Columns of tables whose types nothing but the values tells. */
import type { Column, ColumnType } from '../../model/types.ts';
import type { Database } from '../../sql/database.ts';
import { filePath, join, sql } from '../../sql/sql.ts';
import { tableName, type TableChoice } from './tables.ts';

/**
 * Structure of every wanted table in some files of bare envelopes, by table name; columns in the order of their
 * first appearance. Lines that cannot be read do not count.
 */
export async function inferColumns(
  db: Database,
  paths: readonly string[],
  choice: TableChoice,
): Promise<ReadonlyMap<string, readonly Column[]>> {
  const source = `STRUCT("db" VARCHAR, "schema" VARCHAR, "table" VARCHAR)`;
  const rows =
    await db.rows(sql`SELECT "source"."db" AS db, "source"."schema" AS schema, "source"."table" AS "table",
      json_group_structure(coalesce("after", "before"))::VARCHAR AS structure
    FROM read_json([${join(paths.map(filePath))}], format = 'newline_delimited', ignore_errors = true,
      columns = {'after': 'JSON', 'before': 'JSON', 'source': ${source}})
    WHERE coalesce("after", "before") IS NOT NULL GROUP BY ALL ORDER BY ALL`);
  const found = new Map<string, readonly Column[]>();
  for (const row of rows) {
    const text = (value: unknown): string | undefined =>
      typeof value === 'string' ? value : undefined;
    const name =
      tableName({ db: text(row['db']), schema: text(row['schema']), table: text(row['table']) }) ??
      choice.only?.table;
    if (name === undefined || choice.of(name) === null) continue;
    const structure = JSON.parse(String(row['structure'])) as unknown;
    if (typeof structure !== 'object' || structure === null || Array.isArray(structure)) continue;
    found.set(
      name,
      Object.entries(structure).map(([column, type]): Column => ({
        name: column,
        type: typeOf(type),
        nullable: true,
      })),
    );
  }
  return found;
}

const TYPES: Readonly<Record<string, ColumnType>> = {
  BOOLEAN: 'boolean',
  BIGINT: 'long',
  UBIGINT: 'long',
  HUGEINT: 'decimal(38,0)',
  DOUBLE: 'double',
};

// Mixed, nested and all-null columns are text: JSON text where a value is nested.
function typeOf(structure: unknown): ColumnType {
  return typeof structure === 'string' ? (TYPES[structure] ?? 'string') : 'string';
}
