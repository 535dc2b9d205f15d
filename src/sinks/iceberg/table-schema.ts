import { randomUUID } from 'node:crypto';
import { PipelineError } from '../../model/errors.ts';
import { decimalOf, type ColumnType } from '../../model/types.ts';
import { tableText, type Catalog, type Table, type TableRef } from '../../lake/catalog/catalog.ts';
import { planSchemaChange, type SchemaPlan } from '../../lake/iceberg/evolve.ts';
import { currentSchema } from '../../lake/iceberg/metadata.ts';
import { newFields, type Schema } from '../../lake/iceberg/schema.ts';
import type { AccumulatedColumn } from './accumulator.ts';

export interface ReadyTable {
  readonly table: Table;
  /** The schema that the checkpoint's files are written with. */
  readonly schema: Schema;
  readonly plan: SchemaPlan | null;
  readonly uuid: string;
}

/**
 * The table of a target, made where it is absent, and what has to change for the columns to fit.
 *
 * @param isKnown the pipeline has written it before
 * @throws E_TABLE_GONE, E_TARGET_MISMATCH where the table has another key or a column that cannot take the values
 */
export async function readyTable(
  catalog: Catalog,
  ref: TableRef,
  columns: readonly AccumulatedColumn[],
  isKnown: boolean,
): Promise<ReadyTable> {
  const found = await catalog.loadTable(ref);
  if (found === null && isKnown) throw await missing(catalog, ref);
  const table = found ?? (await create(catalog, ref, columns));
  const schema = currentSchema(table.metadata);
  checkKey(ref, schema, columns);
  const addColumns: { name: string; type: ColumnType }[] = [];
  const promoteColumns: { name: string; type: ColumnType }[] = [];
  for (const column of columns) {
    const field = schema.fields.find((f) => f.name === column.name);
    if (field === undefined) addColumns.push({ name: column.name, type: column.type });
    else if (typeof field.type !== 'string' || !fits(column.type, field.type))
      promoteColumns.push({ name: column.name, type: column.type });
  }
  for (const field of schema.fields) {
    if (field.required && !columns.some((c) => c.name === field.name)) {
      throw new PipelineError(
        'E_TARGET_MISMATCH',
        `${tableText(ref)} requires the column ${field.name}, which the pipeline does not write`,
        {
          subject: { table: tableText(ref), column: field.name },
        },
      );
    }
  }
  const plan = planSchemaChange(table.metadata, { addColumns, promoteColumns });
  return { table, schema: plan?.schema ?? schema, plan, uuid: randomUUID() };
}

// A warehouse without any table is more likely one that is not mounted.
async function missing(catalog: Catalog, ref: TableRef): Promise<PipelineError> {
  const subject = { table: tableText(ref) };
  const others = await catalog.listTables();
  if (others.length === 0)
    return new PipelineError(
      'E_WAREHOUSE_WRITE',
      `${tableText(ref)} has been written by this pipeline, and the warehouse holds no table at all`,
      { subject },
    );
  return new PipelineError(
    'E_TABLE_GONE',
    `${tableText(ref)} has been written by this pipeline and is gone`,
    { subject },
  );
}

async function create(
  catalog: Catalog,
  ref: TableRef,
  columns: readonly AccumulatedColumn[],
): Promise<Table> {
  const fields = newFields(columns.map((c) => ({ name: c.name, type: c.type, required: c.isKey })));
  const keys = fields.filter((_, i) => columns[i]?.isKey === true).map((field) => field.id);
  return await catalog.createTable({
    ...ref,
    fields,
    identifierFieldIds: keys,
    properties: { 'write.upsert.enabled': 'true' },
  });
}

function checkKey(ref: TableRef, schema: Schema, columns: readonly AccumulatedColumn[]): void {
  const keys = schema['identifier-field-ids'] ?? [];
  const theirs = schema.fields.filter((f) => keys.includes(f.id)).map((f) => f.name);
  const ours = columns.filter((c) => c.isKey).map((c) => c.name);
  // A table without a declared key takes ours: its rows are then replaced by it.
  if (
    theirs.length === 0 ||
    (theirs.length === ours.length && ours.every((name) => theirs.includes(name)))
  )
    return;
  throw new PipelineError(
    'E_TARGET_MISMATCH',
    `${tableText(ref)} is keyed by (${theirs.join(', ')}), the pipeline writes it by (${ours.join(', ')})`,
    {
      subject: { table: tableText(ref) },
    },
  );
}

/** Whether a column of the table takes every value of a type without a change. */
function fits(type: ColumnType, field: string): boolean {
  const wide = field.replaceAll(' ', '');
  if (wide === type) return true;
  if (type === 'int') return wide === 'long';
  if (type === 'float') return wide === 'double';
  const [ours, theirs] = [decimalOf(type), decimalOf(wide)];
  return (
    ours !== null &&
    theirs !== null &&
    ours.scale === theirs.scale &&
    ours.precision <= theirs.precision
  );
}
