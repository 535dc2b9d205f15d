import { PipelineError } from '../../model/errors.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import type { ManifestEntry, ManifestFile } from './data-file.ts';
import { decodeManifest } from './manifest.ts';
import { decodeManifestList } from './manifest-list.ts';
import type { Snapshot } from './metadata.ts';

/** @throws E_TABLE_METADATA, E_CONFIG_UNSUPPORTED for a snapshot of the days before manifest lists */
export async function readManifestList(
  store: ObjectStore,
  snapshot: Snapshot,
): Promise<readonly ManifestFile[]> {
  const path: string | undefined = snapshot['manifest-list'];
  if (path === undefined) {
    const message = `snapshot ${snapshot['snapshot-id']} has no manifest list, which is not supported`;
    throw new PipelineError('E_CONFIG_UNSUPPORTED', message);
  }
  return decodeManifestList(await present(store, path), path);
}

/** @throws E_TABLE_METADATA */
export async function readManifest(
  store: ObjectStore,
  manifest: ManifestFile,
): Promise<readonly ManifestEntry[]> {
  const bytes = await present(store, manifest.path);
  // An Avro file that was cut between two blocks looks whole; its length tells.
  if (bytes.length !== manifest.length) {
    const message = `${manifest.path} has ${bytes.length} bytes, not ${manifest.length}`;
    throw new PipelineError('E_TABLE_METADATA', message);
  }
  return decodeManifest(bytes, manifest);
}

async function present(store: ObjectStore, path: string): Promise<Uint8Array> {
  const bytes = await store.read(path);
  if (bytes === null) throw new PipelineError('E_TABLE_METADATA', `${path} is gone`);
  return bytes;
}
