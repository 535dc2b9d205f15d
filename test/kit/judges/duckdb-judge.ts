import { startPythonJudge } from './start-python-judge.ts';
import { rowsOf, type Rows, type WireRows } from './wire.ts';

/** DuckDB with its own iceberg extension, in another process and another version than the product's. */
export interface DuckdbJudge extends AsyncDisposable {
  /** Rows of an Iceberg table, which the query calls `t`. Reads position and equality deletes. */
  read(tableDir: string, sql?: string): Promise<Rows>;
  /** The table's snapshots, oldest first: sequence_number, snapshot_id, timestamp_ms, manifest_list. */
  snapshots(tableDir: string): Promise<Rows>;
  query(sql: string): Promise<Rows>;
}

export async function startDuckdbJudge(): Promise<DuckdbJudge> {
  const judge = await startPythonJudge('duckdb');
  const rows = async (body: Record<string, unknown>): Promise<Rows> =>
    rowsOf((await judge.request(body)) as WireRows);
  return {
    read: (table, sql = 'SELECT * FROM t') => rows({ op: 'read', table, sql }),
    snapshots: (table) => rows({ op: 'snapshots', table }),
    query: (sql) => rows({ op: 'query', sql }),
    [Symbol.asyncDispose]: () => judge[Symbol.asyncDispose](),
  };
}
