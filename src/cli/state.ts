/** What a pipeline has kept and how far its feed is read, while it may be running: nothing is locked or removed. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { stateFolders } from '../app.ts';
import { lockState } from '../checkpoint/lock.ts';
import { FolderCheckpointStore } from '../checkpoint/store.ts';
import { DeadLetters, type DeadLetter } from '../engine/dead-letters.ts';
import type { Checkpoint } from '../model/checkpoint-store.ts';
import { isPipelineError } from '../model/errors.ts';
import type { PipelineSpec } from '../model/spec.ts';
import type { Column } from '../model/types.ts';
import { listFiles, matches, type FeedFile } from '../sources/debezium-files/files.ts';
import { parsePosition, type FileProgress } from '../sources/debezium-files/position.ts';
import { Database } from '../sql/database.ts';

/** @throws E_STATE_VERSION, E_STATE_DAMAGED */
export async function lastCheckpoint(spec: PipelineSpec): Promise<Checkpoint | null> {
  return await new FolderCheckpointStore(
    stateFolders(spec.checkpoint.state_dir).checkpoints,
  ).latest();
}

/** The dead letters that wait, of checkpoints that were saved. @throws E_STATE_VERSION, E_STATE_DAMAGED */
export async function waitingLetters(spec: PipelineSpec): Promise<readonly DeadLetter[]> {
  const last = (await lastCheckpoint(spec))?.mark.id ?? 0;
  const letters = new DeadLetters({
    folder: stateFolders(spec.checkpoint.state_dir).deadLetters,
  });
  // Up to no limit: loading up to a checkpoint removes what a running pipeline is about to save.
  await letters.load(Number.MAX_SAFE_INTEGER);
  return letters.pending().filter(({ checkpoint }) => checkpoint <= last);
}

export interface FeedState {
  /** In reading order. `progress`: how far the last checkpoint has read it; null: not at all. */
  readonly files: readonly (FeedFile & { readonly progress: FileProgress | null })[];
  /** Names of files that were read and are gone or are others now. */
  readonly changed: readonly string[];
  /** Columns of the source tables that were met. */
  readonly columns: Readonly<Record<string, readonly Column[]>>;
}

/** @throws E_SOURCE_PATH, E_STATE_VERSION, E_STATE_DAMAGED */
export async function feedState(spec: PipelineSpec, last: Checkpoint | null): Promise<FeedState> {
  const position = parsePosition(last?.mark.position ?? null);
  const found = await listFiles(spec.source.path ?? '.');
  const files = found.map((file) => ({ ...file, progress: position.files[file.name] ?? null }));
  const changed = Object.keys(position.files).filter(
    (name) => !found.some((file) => file.name === name),
  );
  for (const { name, path, progress } of files) {
    if (progress !== null && !(await matches(path, progress.fingerprint))) changed.push(name);
  }
  return { files, changed, columns: position.columns };
}

/** Bytes of a file that no checkpoint has read yet; null: compressed and grown, so nobody knows. */
export function unreadBytes({
  bytes,
  compression,
  progress,
}: FeedState['files'][number]): number | null {
  if (progress === null) return compression === 'none' ? bytes : null;
  if (compression === 'none') return Math.max(0, bytes - progress.byte);
  return bytes === progress.fileBytes ? 0 : null;
}

/** What a run has before it; null where that cannot be told: compressed files, a feed that is followed, or a fault. */
export async function unreadFeedBytes(spec: PipelineSpec): Promise<number | null> {
  if (spec.source.watch) return null;
  try {
    const { files } = await feedState(spec, await lastCheckpoint(spec));
    return files
      .map(unreadBytes)
      .reduce<number | null>((sum, part) => (sum === null || part === null ? null : sum + part), 0);
  } catch {
    return null; // the run itself meets the fault, and tells it
  }
}

/** Who runs the pipeline right now, in a sentence; null: nobody. */
export async function lockHolder(spec: PipelineSpec): Promise<string | null> {
  const { state_dir: stateDir } = spec.checkpoint;
  if (!existsSync(join(stateDir, 'lock.duckdb'))) return null;
  await using db = await Database.open();
  try {
    const release = await lockState(db, stateDir, spec.pipeline_id);
    await release();
    return null;
  } catch (error) {
    if (!isPipelineError(error, 'E_PIPELINE_LOCKED')) throw error;
    return error.message;
  }
}
