import type { ObjectStore } from '../../storage/object-store.ts';
import type { DataFile, ManifestFile } from './data-file.ts';
import { describeManifest, encodeManifest, type NewEntry } from './manifest.ts';
import { readManifest } from './read-manifests.ts';
import { specById, type TableMetadata } from './metadata.ts';
import { unsupported, type Schema } from './schema.ts';

/*
 * Old manifests are rewritten for two reasons: their files are removed, or many small ones become one. Both are redone
 * on fresh metadata at every attempt to commit, so results are kept by what they were made of.
 */
export interface Rewriter {
  readonly store: ObjectStore;
  readonly metadata: TableMetadata;
  readonly schema: Schema;
  readonly snapshotId: bigint;
  readonly sequenceNumber: number;
  /** A fresh location for a manifest. */
  readonly nextPath: () => string;
  /** Inputs' paths → the manifest made of them, by attempts before this one. */
  readonly made: Map<string, ManifestFile>;
}

/**
 * Marks every live file of the manifests as deleted.
 * @returns the manifests that say so, and the files
 */
export async function removeAllFiles(
  rewriter: Rewriter,
  manifests: readonly ManifestFile[],
): Promise<{ manifests: ManifestFile[]; files: DataFile[] }> {
  const written: ManifestFile[] = [];
  const files: DataFile[] = [];
  for (const manifest of manifests) {
    const live = (await readManifest(rewriter.store, manifest)).filter(
      (e) => e.status !== 'deleted',
    );
    if (live.length === 0) continue;
    files.push(...live.map((e) => e.file));
    const deleted = live.map((e) => ({
      ...e,
      status: 'deleted' as const,
      snapshotId: rewriter.snapshotId,
    }));
    written.push(await writeOnce(rewriter, `-${manifest.path}`, manifest, deleted));
  }
  return { manifests: written, files };
}

/** One manifest of the entries of many: what earlier commits added is existing, what they deleted is left out. */
export async function mergeInto(
  rewriter: Rewriter,
  manifests: readonly ManifestFile[],
): Promise<ManifestFile> {
  const [first] = manifests as readonly [ManifestFile];
  const entries: NewEntry[] = [];
  for (const manifest of manifests) {
    for (const entry of await readManifest(rewriter.store, manifest)) {
      const isOurs = entry.snapshotId === rewriter.snapshotId;
      if (entry.status === 'added') entries.push(isOurs ? entry : { ...entry, status: 'existing' });
      else if (entry.status === 'existing' || isOurs) entries.push(entry);
    }
  }
  return writeOnce(rewriter, manifests.map((m) => m.path).join('\n'), first, entries);
}

async function writeOnce(
  rewriter: Rewriter,
  key: string,
  like: ManifestFile,
  entries: readonly NewEntry[],
): Promise<ManifestFile> {
  const { snapshotId, sequenceNumber } = rewriter;
  if (specById(rewriter.metadata, like.specId).fields.length > 0) {
    throw unsupported('removing files of a partitioned table', rewriter.metadata.location);
  }
  const head = { schema: rewriter.schema, specId: like.specId, content: like.content };
  const made = rewriter.made.get(key);
  if (made !== undefined) {
    return describeManifest(head, entries, {
      path: made.path,
      length: made.length,
      snapshotId,
      sequenceNumber,
    });
  }
  const bytes = encodeManifest(head, entries);
  const path = rewriter.nextPath();
  await rewriter.store.createExclusive(path, bytes);
  const manifest = describeManifest(head, entries, {
    path,
    length: bytes.length,
    snapshotId,
    sequenceNumber,
  });
  rewriter.made.set(key, manifest);
  return manifest;
}
