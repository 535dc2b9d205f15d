import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { classPathOf, compileJudge, mainClassOf } from '../../../tools/services/java-judge.ts';
import { javaHome, javaOf } from '../../../tools/services/toolchain.ts';
import { SPARK_FLAGS } from './java-flags.ts';
import { startJudge } from './judge-process.ts';
import { rowsOf, type Rows, type WireRows } from './wire.ts';

/**
 * Spark SQL with Iceberg's extensions, UTC. The catalog `lake` is the Iceberg hadoop catalog of the warehouse
 * folder. Each call is a session of its own.
 */
export interface SparkJudge extends AsyncDisposable {
  /** One result for each statement; statements without rows have none. */
  sql(warehouse: string, statements: readonly string[]): Promise<Rows[]>;
  /** All rows of `namespace.table`. */
  read(warehouse: string, table: string): Promise<Rows>;
}

export async function startSparkJudge(): Promise<SparkJudge> {
  const home = await javaHome();
  compileJudge('spark', home);
  const judge = await startJudge({
    name: 'spark',
    command: javaOf(home),
    args: [
      '-Xmx1200m',
      '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1',
      ...SPARK_FLAGS,
      '-cp',
      classPathOf('spark'),
      mainClassOf('spark'),
      join(tmpdir(), 'spark-warehouse'),
    ],
  });
  const sql: SparkJudge['sql'] = async (warehouse, statements) => {
    const body = { warehouse: `file://${warehouse}`, statements };
    return ((await judge.request(body)) as WireRows[]).map(rowsOf);
  };
  return {
    sql,
    read: async (warehouse, table) => {
      const [rows] = await sql(warehouse, [`SELECT * FROM lake.${table}`]);
      return rows ?? { columns: [], rows: [] };
    },
    [Symbol.asyncDispose]: () => judge[Symbol.asyncDispose](),
  };
}
