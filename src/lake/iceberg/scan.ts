import { PipelineError } from '../../model/errors.ts';
import { tableText, type Table } from '../catalog/catalog.ts';
import type { DataFile, ManifestEntry } from './data-file.ts';
import {
  currentSchema,
  currentSnapshot,
  schemaById,
  snapshotById,
  specById,
  type Snapshot,
} from './metadata.ts';
import { readManifest, readManifestList } from './read-manifests.ts';
import { unsupported, type Schema } from './schema.ts';

/** Which snapshot to read: the current one, one by id, or the one that was current at an instant (epoch ms). */
export type ScanAt = 'current' | { readonly snapshotId: bigint } | { readonly timestampMs: number };

/** A file of a scan with what decides which deletes meet it. */
export interface ScanFile {
  readonly file: DataFile;
  readonly sequenceNumber: number;
  /** Spec and partition tuple as text; files meet deletes of their own scope, and equality deletes of {@link GLOBAL}. */
  readonly scope: string;
}

/** The scope of equality deletes that are written under an unpartitioned spec: they meet every data file. */
export const GLOBAL = '';

/**
 * What a reader has to do for one snapshot (Iceberg v2 spec, Scan Planning):
 * an equality delete removes rows of data files with a *lower* sequence number, a position delete those of files
 * with a lower or *the same* one, each within its scope.
 */
export interface ScanPlan {
  readonly snapshot: Snapshot | null;
  /** The columns that come out. */
  readonly schema: Schema;
  /** All schemas that ever were: a delete may compare a column that was dropped since. */
  readonly schemas: readonly Schema[];
  readonly dataFiles: readonly ScanFile[];
  /** Without those that meet no data file. */
  readonly equalityDeletes: readonly ScanFile[];
  readonly positionDeletes: readonly ScanFile[];
}

/**
 * The current snapshot comes out in the table's schema of today, an older one in its own.
 * @throws E_NOT_FOUND for an unknown snapshot, E_CONFIG_UNSUPPORTED for deletion vectors and other formats, E_TABLE_METADATA
 */
export async function planScan(table: Table, at: ScanAt = 'current'): Promise<ScanPlan> {
  const { metadata } = table;
  const snapshot = snapshotAt(table, at);
  const schemaId = at === 'current' ? undefined : snapshot?.['schema-id'];
  const entries: ManifestEntry[] = [];
  for (const manifest of snapshot === null ? [] : await readManifestList(table.store, snapshot)) {
    if (manifest.addedFiles + manifest.existingFiles === 0 && manifest.deletedFiles > 0) continue;
    entries.push(
      ...(await readManifest(table.store, manifest)).filter((e) => e.status !== 'deleted'),
    );
  }
  const files = entries.map((entry) => scanFile(table, entry));
  const of = (content: DataFile['content']): ScanFile[] =>
    files.filter((f) => f.file.content === content);
  const dataFiles = of('data');
  const oldest = oldestByScope(dataFiles);
  return {
    snapshot,
    schema: schemaId === undefined ? currentSchema(metadata) : schemaById(metadata, schemaId),
    schemas: metadata.schemas,
    dataFiles,
    equalityDeletes: of('equality').filter(
      (d) => (oldest.get(d.scope) ?? Infinity) < d.sequenceNumber,
    ),
    positionDeletes: of('position').filter(
      (d) => (oldest.get(d.scope) ?? Infinity) <= d.sequenceNumber,
    ),
  };
}

/** The lowest sequence number of data files by scope, and of all of them under {@link GLOBAL}. */
function oldestByScope(dataFiles: readonly ScanFile[]): ReadonlyMap<string, number> {
  const oldest = new Map<string, number>();
  for (const { scope, sequenceNumber } of dataFiles) {
    for (const key of [scope, GLOBAL])
      oldest.set(key, Math.min(oldest.get(key) ?? Infinity, sequenceNumber));
  }
  return oldest;
}

function snapshotAt(table: Table, at: ScanAt): Snapshot | null {
  const { metadata } = table;
  if (at === 'current') return currentSnapshot(metadata);
  const wanted =
    'snapshotId' in at
      ? at.snapshotId
      : (metadata['snapshot-log']?.findLast((e) => e['timestamp-ms'] <= at.timestampMs)?.[
          'snapshot-id'
        ] ?? null);
  const found = snapshotById(metadata, wanted);
  if (found !== null) return found;
  const which =
    'snapshotId' in at
      ? `snapshot ${at.snapshotId}`
      : `snapshot at ${new Date(at.timestampMs).toISOString()}`;
  throw new PipelineError('E_NOT_FOUND', `${tableText(table.ref)} has no ${which}`, {
    subject: { table: tableText(table.ref) },
  });
}

function scanFile(table: Table, entry: ManifestEntry): ScanFile {
  const { file } = entry;
  if (file.format !== 'PARQUET') {
    const what = file.format === 'PUFFIN' ? 'deletion vectors' : `${file.format} files`;
    throw unsupported(`reading ${what}`, tableText(table.ref));
  }
  return { file, sequenceNumber: entry.sequenceNumber, scope: scopeOf(table, file) };
}

function scopeOf(table: Table, file: DataFile): string {
  const spec = specById(table.metadata, file.specId);
  if (spec.fields.every((f) => f.transform === 'void')) {
    return file.content === 'equality' ? GLOBAL : `${file.specId}`;
  }
  const values = [...file.partition].map(([fieldId, value]) => [fieldId, plain(value)]);
  return `${file.specId} ${JSON.stringify(values)}`;
}

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;
}
