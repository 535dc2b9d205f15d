import type { ManifestFile } from './data-file.ts';
import { specById } from './metadata.ts';
import { mergeInto, type Rewriter } from './rewrite.ts';

/**
 * Merges manifests of one content as the reference implementation does, or a commit every few seconds makes the
 * manifest list grow for ever. Manifests are packed from the oldest on into groups of the target size; a group is
 * merged, but the one with the newest manifest only once it has the minimum count.
 *
 * @param manifests of one content, newest first
 */
export async function mergeManifests(
  rewriter: Rewriter,
  manifests: readonly ManifestFile[],
): Promise<readonly ManifestFile[]> {
  const properties = rewriter.metadata.properties ?? {};
  if (properties['commit.manifest-merge.enabled'] === 'false') return manifests;
  const targetBytes = setting(properties, 'commit.manifest.target-size-bytes', 8 * 1024 * 1024);
  const minCount = setting(properties, 'commit.manifest.min-count-to-merge', 100);
  const merged: ManifestFile[] = [];
  for (const group of bySpec(manifests)) {
    const isPartitioned = specById(rewriter.metadata, group[0]?.specId ?? 0).fields.length > 0;
    for (const bin of packFromEnd(group, targetBytes)) {
      const isNewest = manifests[0] !== undefined && bin.includes(manifests[0]);
      const stays = bin.length === 1 || (isNewest && bin.length < minCount) || isPartitioned;
      merged.push(...(stays ? bin : [await mergeInto(rewriter, bin)]));
    }
  }
  return merged;
}

function setting(
  properties: Readonly<Record<string, string>>,
  name: string,
  otherwise: number,
): number {
  const value = Number(properties[name] ?? Number.NaN);
  return Number.isSafeInteger(value) && value > 0 ? value : otherwise;
}

function bySpec(manifests: readonly ManifestFile[]): readonly (readonly ManifestFile[])[] {
  const specIds = [...new Set(manifests.map((m) => m.specId))].sort((a, b) => b - a);
  return specIds.map((specId) => manifests.filter((m) => m.specId === specId));
}

// Full groups hold the oldest manifests, so that they stay the same from commit to commit.
function packFromEnd(
  manifests: readonly ManifestFile[],
  targetBytes: number,
): readonly (readonly ManifestFile[])[] {
  const bins: ManifestFile[][] = [];
  let bytes = 0;
  for (const manifest of manifests.toReversed()) {
    const newest = bins[0];
    if (newest === undefined || bytes + manifest.length > targetBytes) {
      bins.unshift([manifest]);
      bytes = manifest.length;
    } else {
      newest.unshift(manifest);
      bytes += manifest.length;
    }
  }
  return bins;
}
