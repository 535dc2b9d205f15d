import { hadoopCatalog } from '../../src/lake/catalog/hadoop.ts';
import type { Table } from '../../src/lake/catalog/catalog.ts';
import { scanSql } from '../../src/lake/iceberg/scan-sql.ts';
import { planScan } from '../../src/lake/iceberg/scan.ts';
import { localLocation, localStore } from '../../src/storage/local.ts';
import { raw, sql, type Sql } from '../../src/sql/sql.ts';
import type { Database, Row } from '../../src/sql/database.ts';

/** What a reader of the lake sees, through our own scan planner. */
export interface LakeEyes {
  table(namespace: string, name: string): Promise<Table | null>;
  /** Rows of a table; none where there is no such table. @param columns what to select, default all */
  rows(namespace: string, name: string, columns?: Sql): Promise<readonly Row[]>;
  /** Ids of the checkpoints of a pipeline that the snapshots of a table carry, oldest first. */
  marks(namespace: string, name: string, pipelineId: string): Promise<readonly number[]>;
}

export function lakeEyes(db: Database, warehouse: string): LakeEyes {
  const catalog = hadoopCatalog({ warehouse: localLocation(warehouse), store: localStore });
  const table = (namespace: string, name: string): Promise<Table | null> =>
    catalog.loadTable({ namespace, name });
  return {
    table,
    async rows(namespace, name, columns = raw('*')) {
      const found = await table(namespace, name);
      return found === null
        ? []
        : await db.rows(sql`SELECT ${columns} FROM (${scanSql(await planScan(found))})`);
    },
    async marks(namespace, name, pipelineId) {
      const snapshots = (await table(namespace, name))?.metadata.snapshots ?? [];
      const ours = snapshots.filter((s) => s.summary['lakeward.pipeline-id'] === pipelineId);
      return ours
        .toSorted((a, b) => a['sequence-number'] - b['sequence-number'])
        .map((s) => Number(s.summary['lakeward.checkpoint-id']));
    },
  };
}
