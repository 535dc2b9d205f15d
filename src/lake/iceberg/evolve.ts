import { isDeepStrictEqual } from 'node:util';
import { systemClock, type Clock } from '../../lib/clock.ts';
import { isPipelineError, PipelineError } from '../../model/errors.ts';
import { decimalOf, type ColumnType } from '../../model/types.ts';
import { tableText, type Catalog, type Table, type TableRef } from '../catalog/catalog.ts';
import { currentSchema, type TableMetadata } from './metadata.ts';
import { withVersionLogged } from './next-metadata.ts';
import {
  canonicalType,
  readerProperties,
  type Field,
  type IcebergType,
  type Schema,
} from './schema.ts';

/** A change of columns that old files survive. */
export interface SchemaChange {
  /** New optional columns, at the end, in this order. */
  readonly addColumns?: readonly {
    readonly name: string;
    readonly type: ColumnType;
    readonly doc?: string;
  }[];
  /** Wider types for columns: int → long, float → double, a decimal of more digits. */
  readonly promoteColumns?: readonly { readonly name: string; readonly type: ColumnType }[];
}

/** A change worked out on a schema: new columns have their ids, so that files can be written before it is committed. Plain JSON. */
export interface SchemaPlan {
  readonly baseSchemaId: number;
  readonly baseLastColumnId: number;
  readonly lastColumnId: number;
  /** Its `schema-id` is the one that it takes when nothing else intervenes. */
  readonly schema: Schema;
}

/**
 * Works a change out; null where the table has it already: a column of that name and type is not added again.
 * @throws E_TARGET_MISMATCH for an unsafe change, E_COLUMN_UNKNOWN
 */
export function planSchemaChange(metadata: TableMetadata, change: SchemaChange): SchemaPlan | null {
  const base = currentSchema(metadata);
  let lastColumnId = metadata['last-column-id'];
  let fields = base.fields.map((field) => promoted(field, change, metadata));
  for (const { name } of change.promoteColumns ?? []) {
    if (!base.fields.some((f) => f.name === name)) {
      throw new PipelineError(
        'E_COLUMN_UNKNOWN',
        `${metadata.location} has no column ${JSON.stringify(name)}`,
      );
    }
  }
  for (const column of change.addColumns ?? []) {
    const present = fields.find((f) => f.name === column.name);
    const type = canonicalType(column.type);
    if (present !== undefined && isDeepStrictEqual(canonicalType(present.type), type)) continue;
    if (present !== undefined) throw mismatch(metadata, column.name, present.type, type);
    const added: Field = {
      id: ++lastColumnId,
      name: column.name,
      required: false,
      type,
      ...docOf(column.doc),
    };
    fields = [...fields, added];
  }
  if (isDeepStrictEqual(fields, base.fields)) return null;
  const schemaId = idOfSchema(metadata, { ...base, fields }) ?? nextSchemaId(metadata);
  return {
    baseSchemaId: base['schema-id'],
    baseLastColumnId: metadata['last-column-id'],
    lastColumnId,
    schema: { ...base, 'schema-id': schemaId, fields },
  };
}

/**
 * The metadata with a planned schema as its current one; the same metadata where it is that already.
 * @throws E_COMMIT_CONFLICT where the schema moved on otherwise since it was planned
 */
export function applySchemaPlan(metadata: TableMetadata, plan: SchemaPlan): TableMetadata {
  const current = currentSchema(metadata);
  if (isDeepStrictEqual(current.fields, plan.schema.fields)) return metadata;
  if (
    current['schema-id'] !== plan.baseSchemaId ||
    metadata['last-column-id'] !== plan.baseLastColumnId
  ) {
    throw new PipelineError(
      'E_COMMIT_CONFLICT',
      `${metadata.location}: another writer changed the columns meanwhile`,
    );
  }
  const known = idOfSchema(metadata, plan.schema);
  const schemaId = known ?? nextSchemaId(metadata);
  return {
    ...metadata,
    'last-column-id': plan.lastColumnId,
    'current-schema-id': schemaId,
    properties: { ...readerProperties(plan.schema.fields), ...metadata.properties },
    schemas:
      known === null
        ? [...metadata.schemas, { ...plan.schema, 'schema-id': schemaId }]
        : metadata.schemas,
  };
}

/** Commits a schema change alone, without a snapshot. Does nothing where the table has it already. @throws as planSchemaChange and commitStaged */
export async function changeSchema(
  catalog: Catalog,
  ref: TableRef,
  change: SchemaChange,
  { retries = 10, clock = systemClock }: { retries?: number; clock?: Clock } = {},
): Promise<Table> {
  for (let attempt = 0; ; attempt++) {
    const table = await catalog.loadTable(ref);
    if (table === null)
      throw new PipelineError('E_NOT_FOUND', `There is no table ${tableText(ref)}`);
    const plan = planSchemaChange(table.metadata, change);
    if (plan === null) return table;
    try {
      const next = applySchemaPlan(table.metadata, plan);
      return await catalog.commitMetadata(table, withVersionLogged(next, table, clock.now()));
    } catch (error) {
      if (!isPipelineError(error, 'E_COMMIT_CONFLICT') || attempt >= retries) throw error;
    }
    await clock.sleep(Math.min(5_000, 100 * 2 ** attempt));
  }
}

function promoted(field: Field, change: SchemaChange, metadata: TableMetadata): Field {
  const wanted = change.promoteColumns?.find((c) => c.name === field.name);
  if (wanted === undefined) return field;
  const type = canonicalType(wanted.type);
  if (isDeepStrictEqual(type, canonicalType(field.type))) return field;
  if (!isPromotion(field.type, type)) throw mismatch(metadata, field.name, field.type, type);
  return { ...field, type };
}

/** Whether readers of the wider type read the narrower one's values (Iceberg v2 spec, Schema Evolution). */
export function isPromotion(from: IcebergType, to: IcebergType): boolean {
  if (typeof from !== 'string' || typeof to !== 'string') return false;
  if (from === 'int') return to === 'long';
  if (from === 'float') return to === 'double';
  const [before, after] = [decimalOf(from), decimalOf(to)];
  if (before === null || after === null) return false;
  return (
    before.scale === after.scale && before.precision < after.precision && after.precision <= 38
  );
}

function idOfSchema(metadata: TableMetadata, schema: Schema): number | null {
  const keyOf = (s: Schema): readonly number[] => s['identifier-field-ids'] ?? [];
  const same = metadata.schemas.find(
    (s) => isDeepStrictEqual(s.fields, schema.fields) && isDeepStrictEqual(keyOf(s), keyOf(schema)),
  );
  return same?.['schema-id'] ?? null;
}

function nextSchemaId(metadata: TableMetadata): number {
  return Math.max(...metadata.schemas.map((s) => s['schema-id'])) + 1;
}

function docOf(doc: string | undefined): { doc?: string } {
  return doc === undefined ? {} : { doc };
}

function mismatch(
  metadata: TableMetadata,
  name: string,
  from: IcebergType,
  to: IcebergType,
): PipelineError {
  const message = `${metadata.location}: the column ${JSON.stringify(name)} is ${JSON.stringify(from)} and cannot become ${JSON.stringify(to)}`;
  return new PipelineError('E_TARGET_MISMATCH', message, { subject: { column: name } });
}
