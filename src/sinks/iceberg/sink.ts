import { randomUUID } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import { hadoopCatalog } from '../../lake/catalog/hadoop.ts';
import { tableText, type Catalog, type TableRef } from '../../lake/catalog/catalog.ts';
import { commitStaged } from '../../lake/iceberg/commit.ts';
import type { DataFile } from '../../lake/iceberg/data-file.ts';
import type { SchemaPlan } from '../../lake/iceberg/evolve.ts';
import { lastMark, type CommitMark } from '../../lake/iceberg/mark.ts';
import { currentSnapshot } from '../../lake/iceberg/metadata.ts';
import type { Field, Schema } from '../../lake/iceberg/schema.ts';
import { dataFileLocation, stageRowDelta, type StagedCommit } from '../../lake/iceberg/stage.ts';
import { writeParquet, type ParquetFile } from '../../lake/parquet/write.ts';
import { localLocation, localStore } from '../../storage/local.ts';
import type { Changes } from '../../model/change.ts';
import { PipelineError } from '../../model/errors.ts';
import type { Json } from '../../model/json.ts';
import type { Committed, Mark, Sink } from '../../model/sink.ts';
import type { ColumnType } from '../../model/types.ts';
import { duckdbType } from '../../sql/casts.ts';
import type { Database } from '../../sql/database.ts';
import { id, join, raw, sql, type Sql } from '../../sql/sql.ts';
import { Accumulator, dataRows } from './accumulator.ts';
import { readyTable, type ReadyTable } from './table-schema.ts';

export interface IcebergSinkOptions {
  readonly db: Database;
  readonly warehouse: string;
  readonly pipelineId: string;
  readonly clock: Clock;
  /** What the snapshots say of where the feed was read up to. */
  readonly describePosition: (position: string) => string;
}

const OWNER = 'lakeward.pipeline-id';
const CHECKPOINT = 'lakeward.checkpoint-id';
/** More than twice the rows that a batch can have. */
const BATCH_STRIDE = 1n << 40n;

interface PreparedTable {
  readonly namespace: string;
  readonly name: string;
  readonly staged: StagedCommit;
  readonly plan: SchemaPlan | null;
  readonly schemaId: number;
  readonly rows: number;
}

/**
 * Writes tables by key to Iceberg v2, deletes as equality deletes. One snapshot for each table that a checkpoint
 * touches; its summary carries the mark.
 */
export class IcebergSink implements Sink {
  readonly #options: IcebergSinkOptions;
  readonly #catalog: Catalog;
  readonly #targets = new Map<string, { ref: TableRef; accumulator: Accumulator }>();
  /** Tables that checkpoints of this pipeline have written. */
  #known: readonly string[] = [];
  #batches = 0n;
  #lastId = 0;

  constructor(options: IcebergSinkOptions) {
    this.#options = options;
    this.#catalog = hadoopCatalog({
      warehouse: localLocation(options.warehouse),
      store: localStore,
      clock: options.clock,
    });
  }

  async write(batch: readonly Changes[]): Promise<void> {
    this.#batches += 1n;
    for (const changes of batch) {
      if (changes.rows === 0) continue;
      const ref = { namespace: changes.target.namespace, name: changes.target.table };
      const key = tableText(ref);
      const target = this.#targets.get(key) ?? {
        ref,
        accumulator: new Accumulator(this.#options.db),
      };
      this.#targets.set(key, target);
      await target.accumulator.add(changes, this.#batches * BATCH_STRIDE);
    }
  }

  async prepare(mark: Mark): Promise<Json> {
    const tables: PreparedTable[] = [];
    for (const { ref, accumulator } of this.#targets.values()) {
      if (!accumulator.isEmpty) tables.push(await this.#prepareTable(ref, accumulator, mark));
    }
    const known = [...new Set([...this.#known, ...tables.map(tableText)])].sort();
    return { tables, known } as unknown as Json;
  }

  async commit(mark: Mark, prepared: Json): Promise<readonly Committed[]> {
    const committed: Committed[] = [];
    const { tables, known } = prepared as unknown as {
      tables: readonly PreparedTable[];
      known: readonly string[];
    };
    for (const table of tables) {
      const { namespace, name, staged, plan, schemaId, rows } = table;
      const summary = {
        'lakeward.position': this.#options.describePosition(mark.position),
        'lakeward.schema-id': String(schemaId),
      };
      await commitStaged(this.#catalog, { namespace, name }, staged, {
        summary,
        mark: this.#mark(mark.id),
        schemaPlan: plan,
      });
      committed.push({ what: tableText({ namespace, name }), rows });
    }
    this.#known = known;
    await this.discard(mark.id);
    return committed;
  }

  // Files of a checkpoint that was never saved are orphans that no snapshot names.
  async discard(after: number): Promise<void> {
    for (const { accumulator } of this.#targets.values()) await accumulator.clear();
    this.#targets.clear();
    this.#lastId = after;
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #mark(checkpoint: number): CommitMark {
    return {
      owner: OWNER,
      properties: { [OWNER]: this.#options.pipelineId, [CHECKPOINT]: String(checkpoint) },
    };
  }

  async #prepareTable(ref: TableRef, accumulator: Accumulator, mark: Mark): Promise<PreparedTable> {
    const ready = await readyTable(
      this.#catalog,
      ref,
      accumulator.columns,
      this.#known.includes(tableText(ref)),
    );
    this.#checkNotStale(ready, mark);
    const folded = await accumulator.fold();
    const fields = plainFields(ready.schema);
    const keys = fields.filter((field) =>
      accumulator.columns.some((c) => c.isKey && c.name === field.name),
    );
    const data = await this.#writeFile(ready, 1, fields, dataSelect(ready, accumulator, folded));
    const current = currentSnapshot(ready.table.metadata);
    const hasRows =
      current !== null && current.summary['total-records'] !== '0' && !accumulator.isTruncated;
    const deletes = hasRows
      ? await this.#writeFile(
          ready,
          2,
          keys,
          sql`SELECT ${join(keys.map((key) => named(accumulator, key)))} FROM ${folded}`,
          keys.map((key) => key.id),
        )
      : null;
    const staged = await stageRowDelta(ready.table, {
      dataFiles: data === null ? [] : [data],
      deleteFiles: deletes === null ? [] : [deletes],
      commitUuid: randomUUID(),
      replaceAll: accumulator.isTruncated,
      schema: ready.schema,
    });
    const rows = Number(
      (await this.#options.db.one(sql`SELECT count(*) AS n FROM ${folded}`))['n'],
    );
    return {
      namespace: ref.namespace,
      name: ref.name,
      staged,
      plan: ready.plan,
      schemaId: ready.schema['schema-id'],
      rows,
    };
  }

  async #writeFile(
    ready: ReadyTable,
    counter: number,
    fields: readonly Field[],
    select: Sql,
    equalityIds: readonly number[] = [],
  ): Promise<DataFile | null> {
    const file: ParquetFile = {
      select,
      columns: fields.map((field) => ({
        name: field.name,
        fieldId: field.id,
        type: typeOf(field),
        required: field.required,
      })),
      path: dataFileLocation(ready.table, { operationUuid: ready.uuid, counter }),
      kind: equalityIds.length === 0 ? 'data' : 'equality',
      ...(equalityIds.length === 0 ? {} : { equalityIds }),
    };
    return await this.#options.db.alone((connection) => writeParquet(connection, file));
  }

  #checkNotStale(ready: ReadyTable, mark: Mark): void {
    const last = lastMark(ready.table.metadata, OWNER, this.#options.pipelineId);
    const lastId = Number(last?.summary[CHECKPOINT] ?? 0);
    if (lastId < mark.id) return;
    const table = tableText(ready.table.ref);
    throw new PipelineError(
      'E_STATE_STALE',
      `${table} carries checkpoint ${lastId} of this pipeline, its state folder knows of ${this.#lastId}`,
      {
        subject: { table },
      },
    );
  }
}

// Columns of nested types are left out of our files: they read as null.
const plainFields = (schema: Schema): readonly Field[] =>
  schema.fields.filter((field) => typeof field.type === 'string');

const typeOf = (field: Field): ColumnType =>
  (typeof field.type === 'string' ? field.type.replaceAll(' ', '') : 'string') as ColumnType;

function dataSelect(ready: ReadyTable, accumulator: Accumulator, folded: Sql): Sql {
  return dataRows(
    folded,
    plainFields(ready.schema).map((field) => named(accumulator, field)),
  );
}

/** A column of the table out of the accumulated relation; null where the pipeline does not write it. */
function named(accumulator: Accumulator, field: Field): Sql {
  const column = accumulator.columns.find((c) => c.name === field.name);
  const value = column === undefined ? raw('NULL') : id(column.field);
  return sql`${value}::${duckdbType(typeOf(field))} AS ${id(field.name)}`;
}
