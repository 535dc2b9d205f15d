/** Another program that writes a table of ours, by the same library and without our marks. */
import { randomUUID } from 'node:crypto';
import { hadoopCatalog } from '../../src/lake/catalog/hadoop.ts';
import type { Catalog, Table, TableRef } from '../../src/lake/catalog/catalog.ts';
import { commitStaged } from '../../src/lake/iceberg/commit.ts';
import { changeSchema, type SchemaChange } from '../../src/lake/iceberg/evolve.ts';
import { currentSchema, type TableMetadata } from '../../src/lake/iceberg/metadata.ts';
import { dataFileLocation, stageRowDelta } from '../../src/lake/iceberg/stage.ts';
import { writeParquet } from '../../src/lake/parquet/write.ts';
import type { ColumnType } from '../../src/model/types.ts';
import { Database } from '../../src/sql/database.ts';
import type { Sql } from '../../src/sql/sql.ts';
import { localLocation, localStore } from '../../src/storage/local.ts';

export interface ForeignWriter {
  /** Appends the rows of a query, whose columns are the table's in their order. */
  append(select: Sql): Promise<void>;
  change(change: SchemaChange): Promise<void>;
  /** Replaces the metadata by what `edit` makes of it. */
  edit(edit: (metadata: TableMetadata) => TableMetadata): Promise<void>;
}

/** @param name `namespace.table` */
export function foreignWriter(warehouse: string, name: string): ForeignWriter {
  const dot = name.indexOf('.');
  const ref: TableRef = { namespace: name.slice(0, dot), name: name.slice(dot + 1) };
  const catalog: Catalog = hadoopCatalog({
    warehouse: localLocation(warehouse),
    store: localStore,
  });
  const load = async (): Promise<Table> => {
    const table = await catalog.loadTable(ref);
    if (table === null) throw new Error(`there is no table ${name} to write to`);
    return table;
  };
  return {
    async append(select) {
      const table = await load();
      const schema = currentSchema(table.metadata);
      const columns = schema.fields.map((field) => ({
        name: field.name,
        fieldId: field.id,
        type: String(field.type).replaceAll(' ', '') as ColumnType,
        required: field.required,
      }));
      const path = dataFileLocation(table, { operationUuid: randomUUID(), counter: 1 });
      await using db = await Database.open();
      const file = await writeParquet(db.connection, { select, columns, path, kind: 'data' });
      const dataFiles = file === null ? [] : [file];
      const delta = { dataFiles, deleteFiles: [], commitUuid: randomUUID() };
      await commitStaged(catalog, ref, await stageRowDelta(table, delta));
    },
    async change(change) {
      await changeSchema(catalog, ref, change);
    },
    async edit(edit) {
      const table = await load();
      await catalog.commitMetadata(table, edit(table.metadata));
    },
  };
}
