import { isSafeNumber, LosslessNumber, parse, stringify } from 'lossless-json';
import { PipelineError } from '../../model/errors.ts';
import { unsupported, type Schema } from './schema.ts';

/*
 * Table metadata (Iceberg v2 spec, Table Metadata Fields), in the shape of its JSON, so that fields of other writers
 * which are not known here are carried on unchanged. The one difference: every `…snapshot-id` is a bigint, because
 * ids do not fit a double. Other whole numbers beyond 2^53 become bigints, fractions stay LosslessNumber.
 */
export interface TableMetadata {
  readonly 'format-version': number;
  readonly 'table-uuid': string;
  readonly location: string;
  readonly 'last-sequence-number': number;
  readonly 'last-updated-ms': number;
  readonly 'last-column-id': number;
  readonly schemas: readonly Schema[];
  readonly 'current-schema-id': number;
  readonly 'partition-specs': readonly PartitionSpec[];
  readonly 'default-spec-id': number;
  readonly 'last-partition-id': number;
  readonly properties?: Readonly<Record<string, string>>;
  /** -1 or null: no snapshot. */
  readonly 'current-snapshot-id'?: bigint | null;
  readonly snapshots?: readonly Snapshot[];
  readonly 'snapshot-log'?: readonly {
    readonly 'timestamp-ms': number;
    readonly 'snapshot-id': bigint;
  }[];
  readonly 'metadata-log'?: readonly {
    readonly 'timestamp-ms': number;
    readonly 'metadata-file': string;
  }[];
  readonly refs?: Readonly<Record<string, SnapshotRef>>;
  readonly [other: string]: unknown;
}

export interface Snapshot {
  readonly 'snapshot-id': bigint;
  readonly 'parent-snapshot-id'?: bigint;
  readonly 'sequence-number': number;
  readonly 'timestamp-ms': number;
  readonly 'manifest-list': string;
  readonly summary: Readonly<Record<string, string>>;
  readonly 'schema-id'?: number;
}

export interface SnapshotRef {
  readonly 'snapshot-id': bigint;
  readonly type: 'branch' | 'tag';
}

export interface PartitionSpec {
  readonly 'spec-id': number;
  readonly fields: readonly PartitionField[];
}

export interface PartitionField {
  readonly 'source-id': number;
  readonly 'field-id': number;
  readonly name: string;
  readonly transform: string;
}

/**
 * Reads metadata JSON of versions 1 and 2; version 1 comes out in the shape of version 2.
 * @throws E_TABLE_METADATA for damaged metadata, E_CONFIG_UNSUPPORTED for a later version
 */
export function parseMetadata(text: string, path: string): TableMetadata {
  let json: unknown;
  try {
    json = parse(text, reviveIds, { parseNumber });
  } catch (cause) {
    throw damaged(path, 'not JSON', cause);
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw damaged(path, 'not a JSON object');
  const found = json as Record<string, unknown>;
  const version = found['format-version'];
  if (version !== 1 && version !== 2)
    throw unsupported(`format version ${String(version)} of ${path}`);
  const metadata = version === 1 ? fromVersion1(found) : found;
  for (const [key, type] of REQUIRED) {
    if (!type(metadata[key])) throw damaged(path, `\`${key}\` is missing or of another type`);
  }
  const result = metadata as unknown as TableMetadata;
  if (currentSnapshotId(result) !== null && currentSnapshot(result) === null) {
    throw damaged(path, 'the current snapshot is not among its snapshots');
  }
  if (!result.schemas.some((s) => s['schema-id'] === result['current-schema-id'])) {
    throw damaged(path, 'the current schema is not among its schemas');
  }
  return result;
}

/** Metadata as JSON, a line for each part. */
export function formatMetadata(metadata: TableMetadata): string {
  const parts = Object.entries(metadata).filter(([, value]) => value !== undefined);
  const lines = parts.map(([key, value]) => `${JSON.stringify(key)}: ${partText(value)}`);
  return `{\n${lines.join(',\n')}\n}\n`;
}

function partText(value: unknown): string {
  if (!Array.isArray(value) || value.length === 0) return String(stringify(value));
  return `[\n${value.map(elementText).join(',\n')}\n]`;
}

// Snapshots and log entries never change, and there are thousands of them: each is written out once in its life.
const elementTexts = new WeakMap<object, string>();

function elementText(element: unknown): string {
  if (typeof element !== 'object' || element === null) return String(stringify(element));
  const known = elementTexts.get(element);
  if (known !== undefined) return known;
  const text = String(stringify(element));
  elementTexts.set(element, text);
  return text;
}

export function currentSchema(metadata: TableMetadata): Schema {
  return schemaById(metadata, metadata['current-schema-id']);
}

/** @throws E_TABLE_METADATA */
export function schemaById(metadata: TableMetadata, schemaId: number): Schema {
  const found = metadata.schemas.find((s) => s['schema-id'] === schemaId);
  if (found === undefined) throw damaged(metadata.location, `there is no schema ${schemaId}`);
  return found;
}

/** @throws E_TABLE_METADATA */
export function specById(metadata: TableMetadata, specId: number): PartitionSpec {
  const found = metadata['partition-specs'].find((s) => s['spec-id'] === specId);
  if (found === undefined) throw damaged(metadata.location, `there is no partition spec ${specId}`);
  return found;
}

/** The id of main's snapshot; null for a table that has none. */
export function currentSnapshotId(metadata: TableMetadata): bigint | null {
  const current = metadata['current-snapshot-id'];
  return current === undefined || current === null || current === -1n ? null : current;
}

export function currentSnapshot(metadata: TableMetadata): Snapshot | null {
  return snapshotById(metadata, currentSnapshotId(metadata));
}

export function snapshotById(metadata: TableMetadata, snapshotId: bigint | null): Snapshot | null {
  return metadata.snapshots?.find((s) => s['snapshot-id'] === snapshotId) ?? null;
}

/** Main's snapshots, newest first, as far back as they have not expired. */
export function ancestors(metadata: TableMetadata): readonly Snapshot[] {
  const byId = new Map((metadata.snapshots ?? []).map((s) => [s['snapshot-id'], s]));
  const line: Snapshot[] = [];
  let at = currentSnapshot(metadata) ?? undefined;
  while (at !== undefined && line.length <= byId.size) {
    line.push(at);
    const parent: bigint | undefined = at['parent-snapshot-id'];
    at = parent === undefined ? undefined : byId.get(parent);
  }
  return line;
}

function parseNumber(text: string): unknown {
  if (!/^-?\d+$/.test(text)) return new LosslessNumber(text);
  return isSafeNumber(text) && Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text);
}

function reviveIds(key: string, value: unknown): unknown {
  return key.endsWith('snapshot-id') && typeof value === 'number' ? BigInt(value) : value;
}

const isWhole = (value: unknown): boolean => Number.isSafeInteger(value);
const REQUIRED: readonly (readonly [string, (value: unknown) => boolean])[] = [
  ['table-uuid', (value) => typeof value === 'string'],
  ['location', (value) => typeof value === 'string'],
  ['last-sequence-number', isWhole],
  ['last-updated-ms', isWhole],
  ['last-column-id', isWhole],
  ['schemas', Array.isArray],
  ['current-schema-id', isWhole],
  ['partition-specs', Array.isArray],
  ['default-spec-id', isWhole],
];

// Version 1 has one schema and one spec at the top level, and no sequence numbers (Iceberg spec, Appendix E).
function fromVersion1(found: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const schema = found['schema'] as Schema | undefined;
  return {
    ...found,
    'last-sequence-number': found['last-sequence-number'] ?? 0,
    schemas: found['schemas'] ?? (schema === undefined ? undefined : [withSchemaId(schema)]),
    'current-schema-id': found['current-schema-id'] ?? schema?.['schema-id'] ?? 0,
    'partition-specs': found['partition-specs'] ?? [
      { 'spec-id': 0, fields: found['partition-spec'] ?? [] },
    ],
    'default-spec-id': found['default-spec-id'] ?? 0,
    'last-partition-id': found['last-partition-id'] ?? 999,
  };
}

function withSchemaId(schema: Schema): Schema {
  return { ...schema, 'schema-id': schema['schema-id'] ?? 0 };
}

function damaged(path: string, what: string, cause?: unknown): PipelineError {
  return new PipelineError(
    'E_TABLE_METADATA',
    `${path}: ${what}`,
    cause === undefined ? {} : { cause },
  );
}
