import { rowsOfEach, startJavaJudge } from './start-java-judge.ts';
import type { Rows } from './wire.ts';

export interface FlinkOptions {
  /** Streaming reads and writes changelogs; batch reads tables. */
  readonly mode?: 'streaming' | 'batch';
  /** For each statement that starts a job. */
  readonly timeoutMs?: number;
}

/**
 * Flink SQL on one core, results awaited, UTC. The catalog `lake` is the Iceberg hadoop catalog of the warehouse
 * folder. Temporary tables and SETs end with the call that made them.
 */
export interface FlinkJudge extends AsyncDisposable {
  /** One result for each statement; statements without rows have none. Streaming by default. */
  sql(warehouse: string, statements: readonly string[], options?: FlinkOptions): Promise<Rows[]>;
  /** All rows of `namespace.table`, read in batch mode. */
  read(warehouse: string, table: string): Promise<Rows>;
}

const TIMEOUT_MS = 60_000;

export async function startFlinkJudge(): Promise<FlinkJudge> {
  const judge = await startJavaJudge('flink');
  const sql: FlinkJudge['sql'] = (warehouse, statements, options = {}) => {
    const { mode = 'streaming', timeoutMs = TIMEOUT_MS } = options;
    return rowsOfEach(judge, { warehouse: `file://${warehouse}`, statements, mode, timeoutMs });
  };
  return {
    sql,
    read: async (warehouse, table) => {
      const [rows] = await sql(warehouse, [`SELECT * FROM lake.${table}`], { mode: 'batch' });
      return rows ?? { columns: [], rows: [] };
    },
    [Symbol.asyncDispose]: () => judge[Symbol.asyncDispose](),
  };
}
