import { randomUUID } from 'node:crypto';
import { systemClock, type Clock } from '../../lib/clock.ts';
import { isPipelineError, PipelineError } from '../../model/errors.ts';
import { tableText, type Catalog, type Table, type TableRef } from '../catalog/catalog.ts';
import type { ManifestFile } from './data-file.ts';
import { applySchemaPlan, type SchemaPlan } from './evolve.ts';
import { decodeManifestList, encodeManifestList } from './manifest-list.ts';
import { findMark, markProperty, type CommitMark } from './mark.ts';
import { mergeManifests } from './merge.ts';
import { ancestors, currentSchema, currentSnapshot, snapshotById, type Snapshot, type TableMetadata } from './metadata.ts';
import { withProperties, withSnapshot, withVersionLogged } from './next-metadata.ts';
import { removeAllFiles, type Rewriter } from './rewrite.ts';
import { checkWritable, type StagedCommit } from './stage.ts';
import { operationOf, summaryOf, totalsOf } from './summary.ts';

export interface CommitOptions {
  /** Properties for the snapshot's summary; the figures that Iceberg defines are computed and win over them. */
  readonly summary?: Readonly<Record<string, string>>;
  /** Makes the commit idempotent: where main carries the mark, nothing is done. Its properties join the summary. */
  readonly mark?: CommitMark;
  /** A schema change that becomes visible in the same step. */
  readonly schemaPlan?: SchemaPlan | null;
  /** The schema the files were written with; the current one where it is left out. */
  readonly schemaId?: number;
  /** Attempts after the first, 100 ms to 5 s apart. */
  readonly retries?: number;
  readonly clock?: Clock;
}

export interface CommitResult {
  /** The snapshot that carries the delta; null where an empty delta made none. */
  readonly snapshotId: bigint | null;
  /** False: the commit stood already, or the delta was empty. */
  readonly isNew: boolean;
  /** The table as it is afterwards. */
  readonly table: Table;
}

const RETRIES = 10;

/**
 * Makes a staged delta visible as one snapshot, exactly once: call it as often as needed with the same mark. When it
 * fails otherwise than by a conflict, the outcome may be unknown; nothing is removed then, and a later call finds out.
 * @throws E_COMMIT_CONFLICT when all attempts were lost or the schema moved on, E_TABLE_FOREIGN when the table was
 * replaced by another, E_NOT_FOUND, E_CONFIG_UNSUPPORTED, E_TABLE_METADATA, E_WAREHOUSE_WRITE
 */
export async function commitStaged(
  catalog: Catalog,
  ref: TableRef,
  staged: StagedCommit,
  options: CommitOptions = {},
): Promise<CommitResult> {
  const { clock = systemClock, retries = RETRIES } = options;
  const run = newCommitRun(staged, options);
  for (let attempt = 0; ; attempt++) {
    const table = await loadExpected(catalog, ref, staged);
    const done = committedBefore(table.metadata, staged, options.mark);
    if (done !== null) return { snapshotId: done, isNew: false, table };
    const next = await nextMetadata(run, table, attempt, clock.now());
    if (next === null) return { snapshotId: null, isNew: false, table };
    try {
      const committed = await catalog.commitMetadata(table, next.metadata);
      await discard(run, table, next.used);
      return { snapshotId: next.snapshotId, isNew: next.snapshotId !== null, table: committed };
    } catch (error) {
      if (!isPipelineError(error, 'E_COMMIT_CONFLICT')) throw error;
      if (next.list !== null) await table.store.remove(next.list);
      if (attempt >= retries) {
        await discard(run, table, new Set());
        throw error;
      }
    }
    await clock.sleep(Math.min(5_000, 100 * 2 ** attempt));
  }
}

/** What the attempts of one commit share. */
interface CommitRun {
  readonly staged: StagedCommit;
  readonly options: CommitOptions;
  readonly uuid: string;
  readonly made: Map<string, ManifestFile>;
}

// File names of a call are its own: after a crash another call may commit the same staging.
function newCommitRun(staged: StagedCommit, options: CommitOptions): CommitRun {
  return { staged, options, uuid: randomUUID(), made: new Map() };
}

interface NextMetadata {
  readonly metadata: TableMetadata;
  readonly snapshotId: bigint | null;
  readonly list: string | null;
  /** Paths of the manifests that the new snapshot lists. */
  readonly used: ReadonlySet<string>;
}

async function loadExpected(catalog: Catalog, ref: TableRef, staged: StagedCommit): Promise<Table> {
  const subject = { table: tableText(ref) };
  const table = await catalog.loadTable(ref);
  if (table === null) throw new PipelineError('E_NOT_FOUND', `There is no table ${tableText(ref)}`, { subject });
  if (table.metadata['table-uuid'] !== staged.tableUuid) {
    const message = `${tableText(ref)} was replaced by another table since the commit was prepared`;
    throw new PipelineError('E_TABLE_FOREIGN', message, { subject });
  }
  checkWritable(table.metadata, tableText(ref));
  return table;
}

function committedBefore(
  metadata: TableMetadata,
  staged: StagedCommit,
  mark: CommitMark | undefined,
): bigint | null {
  const snapshotId = BigInt(staged.snapshotId);
  if (ancestors(metadata).some((s) => s['snapshot-id'] === snapshotId)) return snapshotId;
  const marked = mark === undefined ? null : findMark(metadata, mark);
  if (marked !== null) return marked.snapshotId;
  if (snapshotById(metadata, snapshotId) === null) return null;
  const message = `${metadata.location}: snapshot ${snapshotId} was committed and then rolled back by another writer`;
  throw new PipelineError('E_COMMIT_CONFLICT', message);
}

async function nextMetadata(
  run: CommitRun,
  table: Table,
  attempt: number,
  nowMs: number,
): Promise<NextMetadata | null> {
  const { options } = run;
  const plan = options.schemaPlan ?? null;
  const evolved = plan === null ? table.metadata : applySchemaPlan(table.metadata, plan);
  const log = (metadata: TableMetadata): TableMetadata => withVersionLogged(metadata, table, nowMs);
  const built = await buildSnapshot(run, { ...table, metadata: evolved }, attempt, nowMs);
  if (built === null) {
    if (evolved === table.metadata) return null;
    return { metadata: log(evolved), snapshotId: null, list: null, used: new Set() };
  }
  const { snapshot, used } = built;
  const snapshotId = snapshot['snapshot-id'];
  const { mark } = options;
  const kept = mark === undefined ? {} : markProperty(mark, snapshotId, { ...options.summary, ...mark.properties });
  const metadata = log(withProperties(withSnapshot(evolved, snapshot), kept));
  return { metadata, snapshotId, list: snapshot['manifest-list'], used };
}

async function buildSnapshot(
  run: CommitRun,
  table: Table,
  attempt: number,
  nowMs: number,
): Promise<{ snapshot: Snapshot; used: ReadonlySet<string> } | null> {
  const { staged, options } = run;
  const { metadata, store } = table;
  const parent = currentSnapshot(metadata);
  const sequenceNumber = metadata['last-sequence-number'] + 1;
  const snapshotId = BigInt(staged.snapshotId);
  const rewriter = rewriterOf(run, table, sequenceNumber);
  const old = parent === null ? [] : await liveManifests(table, parent);
  const kept = staged.replaceAll ? await removeAllFiles(rewriter, old) : { manifests: old, files: [] };
  const removed = totalsOf(kept.files);
  const fresh = staged.manifests.map((m) => manifestFileOf(m, snapshotId, sequenceNumber));
  if (fresh.length === 0 && kept.files.length === 0) return null;
  const manifests = await mergedByContent(rewriter, [...fresh, ...kept.manifests]);
  const path = `${metadata.location}/metadata/snap-${snapshotId}-${attempt + 1}-${run.uuid}.avro`;
  const list = encodeManifestList(
    { snapshotId, parentSnapshotId: parent?.['snapshot-id'] ?? null, sequenceNumber },
    manifests,
  );
  await store.createExclusive(path, list);
  const used = new Set(manifests.map((m) => m.path));
  const snapshot: Snapshot = {
    'sequence-number': sequenceNumber,
    'snapshot-id': snapshotId,
    ...(parent !== null && { 'parent-snapshot-id': parent['snapshot-id'] }),
    'timestamp-ms': Math.max(nowMs, metadata['last-updated-ms']),
    summary: {
      ...options.summary,
      ...options.mark?.properties,
      operation: operationOf(staged.added, removed),
      ...summaryOf(staged.added, removed, parent?.summary ?? (parent === null ? null : {})),
      ...manifestCounts(old, manifests, snapshotId, used),
    },
    'manifest-list': path,
    'schema-id': options.schemaId ?? metadata['current-schema-id'],
  };
  return { snapshot, used };
}

function rewriterOf(run: CommitRun, table: Table, sequenceNumber: number): Rewriter {
  return {
    store: table.store,
    metadata: table.metadata,
    schema: currentSchema(table.metadata),
    snapshotId: BigInt(run.staged.snapshotId),
    sequenceNumber,
    nextPath: () => `${table.metadata.location}/metadata/${run.uuid}-m${run.made.size}.avro`,
    made: run.made,
  };
}

/** The manifests that a new snapshot goes on with: those that only say what was deleted have done their service. */
async function liveManifests(table: Table, snapshot: Snapshot): Promise<readonly ManifestFile[]> {
  const manifests = await readManifestList(table, snapshot);
  return manifests.filter((m) => m.addedFiles + m.existingFiles > 0 || m.deletedFiles === 0);
}

/** @throws E_TABLE_METADATA, E_CONFIG_UNSUPPORTED */
export async function readManifestList(table: Table, snapshot: Snapshot): Promise<readonly ManifestFile[]> {
  const path = snapshot['manifest-list'];
  if (path === undefined) {
    throw new PipelineError('E_CONFIG_UNSUPPORTED', `${table.metadataLocation}: a snapshot without a manifest list`);
  }
  const bytes = await table.store.read(path);
  if (bytes === null) throw new PipelineError('E_TABLE_METADATA', `${path} is gone`);
  return decodeManifestList(bytes, path);
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

async function mergedByContent(rewriter: Rewriter, manifests: readonly ManifestFile[]): Promise<ManifestFile[]> {
  const of = (content: ManifestFile['content']): ManifestFile[] => manifests.filter((m) => m.content === content);
  return [...(await mergeManifests(rewriter, of('data'))), ...(await mergeManifests(rewriter, of('deletes')))];
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

// Only what this call wrote and no snapshot lists. Best effort: a leftover is an orphan, not damage.
async function discard(run: CommitRun, table: Table, used: ReadonlySet<string>): Promise<void> {
  const unused = [...run.made.values()].filter((m) => !used.has(m.path));
  await Promise.allSettled(unused.map((m) => table.store.remove(m.path)));
}

