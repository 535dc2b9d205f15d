import { rowsOfEach, startJavaJudge } from './start-java-judge.ts';
import type { Rows } from './wire.ts';

/**
 * Spark SQL with Iceberg's extensions, UTC. The catalog `lake` is the Iceberg hadoop catalog of the warehouse
 * folder. SETs end with the call that made them.
 */
export interface SparkJudge extends AsyncDisposable {
  /** One result for each statement; statements without rows have none. */
  sql(warehouse: string, statements: readonly string[]): Promise<Rows[]>;
  /** All rows of `namespace.table`. */
  read(warehouse: string, table: string): Promise<Rows>;
}

export async function startSparkJudge(): Promise<SparkJudge> {
  const judge = await startJavaJudge('spark');
  const sql: SparkJudge['sql'] = (warehouse, statements) =>
    rowsOfEach(judge, { warehouse: `file://${warehouse}`, statements });
  return {
    sql,
    read: async (warehouse, table) => {
      const [rows] = await sql(warehouse, [`SELECT * FROM lake.${table}`]);
      return rows ?? { columns: [], rows: [] };
    },
    [Symbol.asyncDispose]: () => judge[Symbol.asyncDispose](),
  };
}
