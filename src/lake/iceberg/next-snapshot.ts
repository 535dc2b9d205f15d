import type { Table } from '../catalog/catalog.ts';
import type { ManifestFile } from './data-file.ts';
import { encodeManifestList } from './manifest-list.ts';
import { mergeManifests } from './merge.ts';
import { currentSchema, currentSnapshot, type Snapshot } from './metadata.ts';
import { readManifestList } from './read-manifests.ts';
import { removeAllFiles, type Rewriter } from './rewrite.ts';
import type { StagedCommit } from './stage.ts';
import { operationOf, summaryOf, totalsOf } from './summary.ts';

export interface SnapshotRequest {
  /** The table to go on from. */
  readonly table: Table;
  readonly staged: StagedCommit;
  /** Properties of the caller for the summary. */
  readonly properties: Readonly<Record<string, string>>;
  readonly schemaId: number;
  readonly attempt: number;
  readonly nowMs: number;
  /** Names the files of this call. */
  readonly uuid: string;
  /** Manifests that attempts of this call rewrote, by what they were made of. */
  readonly made: Map<string, ManifestFile>;
}

export interface NextSnapshot {
  readonly snapshot: Snapshot;
  /** Paths of the manifests that it lists. */
  readonly used: ReadonlySet<string>;
}

/**
 * Writes the manifest list of a staged delta on top of the current snapshot, and describes the snapshot. Null where the
 * delta changes nothing. New manifests come first, and data before deletes, as the reference implementation orders them.
 */
export async function buildSnapshot(request: SnapshotRequest): Promise<NextSnapshot | null> {
  const { staged, table } = request;
  const { metadata, store } = table;
  const parent = currentSnapshot(metadata);
  const parentId = parent?.['snapshot-id'];
  const sequenceNumber = metadata['last-sequence-number'] + 1;
  const snapshotId = BigInt(staged.snapshotId);
  const rewriter = rewriterOf(request, sequenceNumber);
  const old = parent === null ? [] : await liveManifests(table, parent);
  const kept = staged.replaceAll
    ? await removeAllFiles(rewriter, old)
    : { manifests: old, files: [] };
  const fresh = staged.manifests.map((m) => manifestFileOf(m, snapshotId, sequenceNumber));
  if (fresh.length === 0 && kept.files.length === 0) return null;
  const manifests = await mergedByContent(rewriter, [...fresh, ...kept.manifests]);
  const used = new Set(manifests.map((m) => m.path));
  const removed = totalsOf(kept.files);
  const path = `${metadata.location}/metadata/snap-${snapshotId}-${request.attempt + 1}-${request.uuid}.avro`;
  const head = { snapshotId, parentSnapshotId: parentId ?? null, sequenceNumber };
  await store.createExclusive(path, encodeManifestList(head, manifests));
  const snapshot: Snapshot = {
    'sequence-number': sequenceNumber,
    'snapshot-id': snapshotId,
    ...(parentId !== undefined && { 'parent-snapshot-id': parentId }),
    'timestamp-ms': Math.max(request.nowMs, metadata['last-updated-ms']),
    summary: {
      ...request.properties,
      operation: operationOf(staged.added, removed),
      ...summaryOf(staged.added, removed, parent === null ? null : (parent.summary ?? {})),
      ...manifestCounts(old, manifests, snapshotId, used),
    },
    'manifest-list': path,
    'schema-id': request.schemaId,
  };
  return { snapshot, used };
}

function rewriterOf(request: SnapshotRequest, sequenceNumber: number): Rewriter {
  const { store, metadata } = request.table;
  return {
    store,
    metadata,
    schema: currentSchema(metadata),
    snapshotId: BigInt(request.staged.snapshotId),
    sequenceNumber,
    nextPath: () => `${metadata.location}/metadata/${request.uuid}-m${request.made.size}.avro`,
    made: request.made,
  };
}

/** The manifests that a new snapshot goes on with: those that only say what was deleted have done their service. */
async function liveManifests(table: Table, snapshot: Snapshot): Promise<readonly ManifestFile[]> {
  const manifests = await readManifestList(table.store, snapshot);
  return manifests.filter((m) => m.addedFiles + m.existingFiles > 0 || m.deletedFiles === 0);
}

function manifestFileOf(
  manifest: StagedCommit['manifests'][number],
  snapshotId: bigint,
  sequenceNumber: number,
): ManifestFile {
  return {
    path: manifest.path,
    length: manifest.length,
    specId: manifest.specId,
    content: manifest.content,
    sequenceNumber,
    minSequenceNumber: sequenceNumber,
    addedSnapshotId: snapshotId,
    addedFiles: manifest.files,
    existingFiles: 0,
    deletedFiles: 0,
    addedRows: manifest.rows,
    existingRows: 0,
    deletedRows: 0,
    partitions: [],
    keyMetadata: null,
  };
}

async function mergedByContent(
  rewriter: Rewriter,
  manifests: readonly ManifestFile[],
): Promise<ManifestFile[]> {
  const of = (content: ManifestFile['content']): ManifestFile[] =>
    manifests.filter((m) => m.content === content);
  return [
    ...(await mergeManifests(rewriter, of('data'))),
    ...(await mergeManifests(rewriter, of('deletes'))),
  ];
}

function manifestCounts(
  old: readonly ManifestFile[],
  manifests: readonly ManifestFile[],
  snapshotId: bigint,
  used: ReadonlySet<string>,
): Record<string, string> {
  const created = manifests.filter((m) => m.addedSnapshotId === snapshotId).length;
  return {
    'manifests-created': String(created),
    'manifests-kept': String(manifests.length - created),
    'manifests-replaced': String(old.filter((m) => !used.has(m.path)).length),
  };
}
