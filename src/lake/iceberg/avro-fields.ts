import { PipelineError } from '../../model/errors.ts';
import type { AvroSchema } from '../avro/container.ts';

/**
 * Reads the fields of decoded records by Iceberg field id: names differ between writers and format versions, ids do
 * not. An absent field is null.
 */
export interface FieldReader {
  get(record: object, fieldId: number): unknown;
  /** The record schema of a field, its null branch aside. */
  nested(fieldId: number): FieldReader;
  /** Ids of the fields, in order. */
  readonly ids: readonly number[];
}

interface RecordSchema {
  readonly fields: readonly {
    readonly name: string;
    readonly type: AvroSchema;
    readonly 'field-id'?: number;
  }[];
}

export function fieldReader(schema: AvroSchema): FieldReader {
  const fields = (withoutNull(schema) as unknown as RecordSchema).fields ?? [];
  const byId = new Map(fields.map((f) => [f['field-id'] ?? -1, f]));
  return {
    ids: [...byId.keys()],
    get: (record, fieldId) => {
      const field = byId.get(fieldId);
      return field === undefined ? null : ((record as Record<string, unknown>)[field.name] ?? null);
    },
    nested: (fieldId) => fieldReader(byId.get(fieldId)?.type ?? 'null'),
  };
}

function withoutNull(schema: AvroSchema): AvroSchema {
  return Array.isArray(schema) ? (schema.find((branch) => branch !== 'null') ?? 'null') : schema;
}

/** A count, size or sequence number. @throws E_TABLE_METADATA where there is none, or it is beyond 2^53 */
export function wholeNumber(value: unknown, what: string): number {
  const number = typeof value === 'bigint' ? Number(value) : value;
  if (typeof number === 'number' && Number.isSafeInteger(number)) return number;
  throw new PipelineError(
    'E_TABLE_METADATA',
    `${what} is ${String(value)}, which is no whole number`,
  );
}

export function optionalNumber(value: unknown, what: string): number | null {
  return value === null ? null : wholeNumber(value, what);
}
