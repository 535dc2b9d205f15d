import { DOUBLE, DuckDBDataChunk, VARCHAR } from '@duckdb/node-api';
import type { Database } from './database.ts';
import { id, join, raw, sql, type Sql } from './sql.ts';

const CHUNK_ROWS = 2048;

/**
 * Makes a table of VARCHAR columns from rows in memory: `rows[i][j]` is the text of column `names[j]`. For rows that
 * had to be read one by one; the usual path never hands rows over.
 */
export async function createTextTable(
  db: Database,
  table: string,
  names: readonly string[],
  rows: readonly (readonly (string | null)[])[],
): Promise<Sql> {
  const columns = join(names.map((name) => sql`${id(name)} VARCHAR`));
  await db.run(sql`CREATE OR REPLACE TABLE ${id(table)} (${columns})`);
  await db.alone(async (connection) => {
    const appender = await connection.createAppender(table);
    try {
      for (let from = 0; from < rows.length; from += CHUNK_ROWS) {
        const part = rows.slice(from, from + CHUNK_ROWS);
        const chunk = DuckDBDataChunk.create(
          names.map(() => VARCHAR),
          part.length,
        );
        chunk.setColumns(names.map((_, j) => part.map((row) => row[j] ?? null)));
        appender.appendDataChunk(chunk);
      }
    } finally {
      appender.closeSync();
    }
  });
  return raw(id(table).text);
}

/** Makes a table of DOUBLE columns: `columns[j]` are the values of `names[j]`, all of one length. */
export async function createNumberTable(
  db: Database,
  table: string,
  names: readonly string[],
  columns: readonly Float64Array[],
): Promise<void> {
  await db.run(
    sql`CREATE OR REPLACE TABLE ${id(table)} (${join(names.map((name) => sql`${id(name)} DOUBLE`))})`,
  );
  await db.alone(async (connection) => {
    const appender = await connection.createAppender(table);
    try {
      const rows = columns[0]?.length ?? 0;
      for (let from = 0; from < rows; from += CHUNK_ROWS) {
        const parts = columns.map((values) => values.subarray(from, from + CHUNK_ROWS));
        const chunk = DuckDBDataChunk.create(
          names.map(() => DOUBLE),
          parts[0]?.length ?? 0,
        );
        for (const [j, part] of parts.entries())
          chunk.setColumnValues(j, part as unknown as readonly number[]);
        appender.appendDataChunk(chunk);
      }
    } finally {
      appender.closeSync();
    }
  });
}
