import { join } from 'node:path';
import { classPathOf, compileJudge, mainClassOf } from '../../../tools/services/java-judge.ts';
import { flinkConfDir } from '../../../tools/services/layout.ts';
import { javaHome, javaOf } from '../../../tools/services/toolchain.ts';
import { FLINK_FLAGS } from './java-flags.ts';
import { startJudge } from './judge-process.ts';
import { rowsOf, type Rows, type WireRows } from './wire.ts';

export interface FlinkOptions {
  /** Streaming reads and writes changelogs; batch reads tables. */
  readonly mode?: 'streaming' | 'batch';
  /** For each statement that starts a job. */
  readonly timeoutMs?: number;
}

/**
 * Flink SQL on one core, results awaited, UTC. The catalog `lake` is the Iceberg hadoop catalog of the warehouse
 * folder. Each call is a session of its own: temporary tables and SETs end with it.
 */
export interface FlinkJudge extends AsyncDisposable {
  /** One result for each statement; statements without rows have none. Streaming by default. */
  sql(warehouse: string, statements: readonly string[], options?: FlinkOptions): Promise<Rows[]>;
  /** All rows of `namespace.table`, read in batch mode. */
  read(warehouse: string, table: string): Promise<Rows>;
}

const TIMEOUT_MS = 60_000;

export async function startFlinkJudge(): Promise<FlinkJudge> {
  const home = await javaHome();
  compileJudge('flink', home);
  const judge = await startJudge({
    name: 'flink',
    command: javaOf(home),
    args: [
      '-Xmx1200m',
      '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1',
      `-Dlog4j.configurationFile=${join(flinkConfDir, 'log4j2.properties')}`,
      ...FLINK_FLAGS,
      '-cp',
      classPathOf('flink'),
      mainClassOf('flink'),
    ],
  });
  const sql: FlinkJudge['sql'] = async (warehouse, statements, options = {}) => {
    const { mode = 'streaming', timeoutMs = TIMEOUT_MS } = options;
    const body = { warehouse: `file://${warehouse}`, statements, mode, timeoutMs };
    return ((await judge.request(body)) as WireRows[]).map(rowsOf);
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
