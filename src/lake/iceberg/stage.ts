import { assert } from '../../model/errors.ts';
import type { Table } from '../catalog/catalog.ts';
import { tableText } from '../catalog/catalog.ts';
import type { DataFile } from './data-file.ts';
import { encodeManifest } from './manifest.ts';
import { currentSchema, specById, type TableMetadata } from './metadata.ts';
import { unsupported, type Schema } from './schema.ts';
import { totalsOf, type FileTotals } from './summary.ts';

export interface RowDelta {
  readonly dataFiles: readonly DataFile[];
  /** They apply to rows of earlier commits only, never to `dataFiles` (Iceberg v2 spec, Scan Planning). */
  readonly deleteFiles: readonly DataFile[];
  /** A fresh UUID for every staging; it names the manifests and gives the snapshot its id. */
  readonly commitUuid: string;
  /** Everything that lives in the table when the delta is committed is removed with it. */
  readonly replaceAll?: boolean;
  /** The schema that the files were written with, where it is to be added by the commit itself. */
  readonly schema?: Schema;
}

/** A delta whose files and manifests are durable and not yet visible. Plain JSON: it can be kept across a crash. */
export interface StagedCommit {
  readonly format: 1;
  readonly tableUuid: string;
  readonly commitUuid: string;
  /** Decimal digits. */
  readonly snapshotId: string;
  readonly replaceAll: boolean;
  readonly manifests: readonly StagedManifest[];
  readonly added: FileTotals;
}

export interface StagedManifest {
  readonly path: string;
  readonly length: number;
  readonly content: 'data' | 'deletes';
  readonly specId: number;
  readonly files: number;
  readonly rows: number;
}

/** Where a new data or delete file goes: one UUID for a run of a writer, files counted from 1 in the order of opening. */
export function dataFileLocation(
  table: Table,
  file: { operationUuid: string; counter: number },
): string {
  const counter = String(file.counter).padStart(5, '0');
  return `${table.metadata.location}/data/00000-0-${file.operationUuid}-${counter}.parquet`;
}

/**
 * Writes the manifests of a delta. Nothing of it is seen by readers before `commitStaged`, and if that never comes,
 * the files are orphans, not damage.
 * @throws E_CONFIG_UNSUPPORTED for a partitioned table or one of another format version, E_WAREHOUSE_WRITE
 */
export async function stageRowDelta(table: Table, delta: RowDelta): Promise<StagedCommit> {
  const { metadata } = table;
  const specId = checkWritable(metadata, tableText(table.ref));
  const snapshotId = snapshotIdOf(delta.commitUuid);
  const schema = delta.schema ?? currentSchema(metadata);
  const manifests: StagedManifest[] = [];
  for (const content of ['data', 'deletes'] as const) {
    const files = content === 'data' ? delta.dataFiles : delta.deleteFiles;
    if (files.length === 0) continue;
    for (const file of files)
      assert((file.content === 'data') === (content === 'data'), `${file.path} is misplaced`);
    const entries = files.map((file) => ({ status: 'added' as const, snapshotId, file }));
    const bytes = encodeManifest({ schema, specId, content }, entries);
    const path = `${metadata.location}/metadata/${delta.commitUuid}-m${manifests.length}.avro`;
    await table.store.createExclusive(path, bytes);
    const rows = files.reduce((sum, f) => sum + f.recordCount, 0);
    manifests.push({ path, length: bytes.length, content, specId, files: files.length, rows });
  }
  return {
    format: 1,
    tableUuid: metadata['table-uuid'],
    commitUuid: delta.commitUuid,
    snapshotId: String(snapshotId),
    replaceAll: delta.replaceAll ?? false,
    manifests,
    added: totalsOf([...delta.dataFiles, ...delta.deleteFiles]),
  };
}

/** The id of the unpartitioned spec that new files take. @throws E_CONFIG_UNSUPPORTED */
export function checkWritable(metadata: TableMetadata, table: string): number {
  if (metadata['format-version'] !== 2)
    throw unsupported(`writing format version ${metadata['format-version']}`, table);
  const specId = metadata['default-spec-id'];
  const fields = specById(metadata, specId).fields;
  const isPartitioned = fields.some((f) => f.transform !== 'void');
  if (isPartitioned)
    throw unsupported(
      `writing to a partitioned table (${fields.map((f) => f.name).join(', ')})`,
      table,
    );
  if (fields.length > 0)
    throw unsupported('writing to a table whose partitioning was dropped', table);
  return specId;
}

// The reference implementation's rule: the halves of a random UUID, XORed, without the sign.
function snapshotIdOf(uuid: string): bigint {
  const hex = uuid.replaceAll('-', '');
  assert(/^[0-9a-f]{32}$/i.test(hex), 'a commit is named by a UUID');
  const mixed = BigInt(`0x${hex.slice(0, 16)}`) ^ BigInt(`0x${hex.slice(16)}`);
  return mixed & 0x7fff_ffff_ffff_ffffn;
}
