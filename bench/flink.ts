/** Flink 1.20 SQL on the same feed, as a process of its own, into an Iceberg table by upsert. */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { startDuckdbJudge } from '../test/kit/judges/duckdb-judge.ts';
import { runFlinkScript } from '../test/kit/judges/flink-process.ts';
import { flinkLibDir } from '../tools/services/layout.ts';
import { contentsOf, contentsQuery } from './contents.ts';
import type { Contestant } from './contestant.ts';
import { childrenCpuMs } from './measure.ts';

export const hasFlink = (): boolean => existsSync(flinkLibDir);

export function flink(folder: string, feed: string): Contestant {
  const warehouse = join(folder, 'warehouse');
  return {
    name: 'flink',
    run: async () => {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(warehouse, { recursive: true });
      const cpuBeforeMs = childrenCpuMs();
      const { wallMs, peakRssBytes } = await runFlinkScript(statements(warehouse, feed));
      return { wallMs, cpuMs: childrenCpuMs() - cpuBeforeMs, peakBytes: peakRssBytes };
    },
    // Another reader than Flink's own, so that the table counts and not what Flink believes of it.
    contents: async () => {
      await using judge = await startDuckdbJudge();
      const { columns, rows } = await judge.read(
        join(warehouse, 'shop/orders'),
        contentsQuery('t'),
      );
      return contentsOf(Object.fromEntries(columns.map((column, i) => [column, rows[0]?.[i]])));
    },
  };
}

/** Parallelism 1 (two are slower here), streaming mode, checkpoints off: one snapshot, as with one checkpoint. */
function statements(warehouse: string, feed: string): readonly string[] {
  const columns =
    'id BIGINT, customer_id BIGINT, status STRING, amount DECIMAL(18, 2), note STRING, qty INT';
  return [
    `CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = 'file://${warehouse}')`,
    `CREATE DATABASE lake.shop`,
    `CREATE TABLE lake.shop.orders (${columns}, updated_at TIMESTAMP_LTZ(6), PRIMARY KEY (id) NOT ENFORCED)` +
      ` WITH ('format-version' = '2', 'write.upsert.enabled' = 'true')`,
    `CREATE TEMPORARY TABLE feed (${columns}, updated_at BIGINT, PRIMARY KEY (id) NOT ENFORCED)` +
      ` WITH ('connector' = 'filesystem', 'path' = 'file://${feed}', 'format' = 'debezium-json')`,
    `INSERT INTO lake.shop.orders SELECT id, customer_id, status, amount, note, qty,` +
      ` TO_TIMESTAMP_LTZ(updated_at, 3) FROM feed`,
  ];
}
