import { randomUUID } from 'node:crypto';
import { systemClock, type Clock } from '../../lib/clock.ts';
import { isPipelineError, PipelineError } from '../../model/errors.ts';
import { tableText, type Catalog, type Table, type TableRef } from '../catalog/catalog.ts';
import type { ManifestFile } from './data-file.ts';
import { applySchemaPlan, type SchemaPlan } from './evolve.ts';
import { findMark, markProperty, type CommitMark } from './mark.ts';
import { ancestors, snapshotById, type TableMetadata } from './metadata.ts';
import { withProperties, withSnapshot, withVersionLogged } from './next-metadata.ts';
import { buildSnapshot } from './next-snapshot.ts';
import { checkWritable, type StagedCommit } from './stage.ts';

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
      if (next.snapshotId !== null) await discard(run, table, next.used);
      return { snapshotId: next.snapshotId, isNew: next.snapshotId !== null, table: committed };
    } catch (error) {
      if (!isPipelineError(error, 'E_COMMIT_CONFLICT')) throw error;
      if (next.list !== null) await table.store.remove(next.list);
      if (attempt >= retries) {
        await discard(run, table, null);
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
  if (table === null)
    throw new PipelineError('E_NOT_FOUND', `There is no table ${tableText(ref)}`, { subject });
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
  const { staged, options, uuid, made } = run;
  const plan = options.schemaPlan ?? null;
  const evolved = plan === null ? table.metadata : applySchemaPlan(table.metadata, plan);
  const properties = { ...options.summary, ...options.mark?.properties };
  const next = await buildSnapshot({
    table: { ...table, metadata: evolved },
    staged,
    properties,
    schemaId: options.schemaId ?? evolved['current-schema-id'],
    attempt,
    nowMs,
    uuid,
    made,
  });
  if (next === null) {
    if (evolved === table.metadata) return null;
    const metadata = withVersionLogged(evolved, table, nowMs);
    return { metadata, snapshotId: null, list: null, used: new Set() };
  }
  const { snapshot, used } = next;
  const snapshotId = snapshot['snapshot-id'];
  const kept = options.mark === undefined ? {} : markProperty(options.mark, snapshotId, properties);
  const changed = withProperties(withSnapshot(evolved, snapshot), kept);
  const metadata = withVersionLogged(changed, table, nowMs);
  return { metadata, snapshotId, list: snapshot['manifest-list'], used };
}

// Manifests that this call rewrote or, once it has won, staged, and that no snapshot lists. Best effort: a leftover is an
// orphan, not damage. What was staged stays as long as the commit can be tried again.
async function discard(
  run: CommitRun,
  table: Table,
  used: ReadonlySet<string> | null,
): Promise<void> {
  const staged = used === null ? [] : run.staged.manifests;
  const paths = [...run.made.values(), ...staged].map((m) => m.path);
  const unused = paths.filter((path) => !used?.has(path));
  await Promise.allSettled(unused.map((path) => table.store.remove(path)));
}
