import { parse } from 'lossless-json';
import { ancestors, snapshotById, type Snapshot, type TableMetadata } from './metadata.ts';

/**
 * What identifies a commit for good, as summary properties. `owner` names the one whose value says who writes, for
 * example `lakeward.pipeline-id`; the others tell that writer's commits apart.
 */
export interface CommitMark {
  readonly owner: string;
  readonly properties: Readonly<Record<string, string>>;
}

/** The last commit of a writer: its id and the summary properties that the writer gave it. */
export interface LastMark {
  readonly snapshotId: bigint;
  readonly summary: Readonly<Record<string, string>>;
}

const PREFIX = 'lakeward.last-commit.';

/**
 * The newest commit on main whose summary says `owner = value`, or null. Where its snapshot has expired, the table
 * property that every marked commit renews still knows it; where main was rolled back behind it, it does not count.
 */
export function lastMark(metadata: TableMetadata, owner: string, value: string): LastMark | null {
  const found = ancestors(metadata).find((s) => s.summary?.[owner] === value);
  if (found !== undefined) return { snapshotId: found['snapshot-id'], summary: found.summary };
  const kept = keptMark(metadata, owner, value);
  const isRolledBack = kept !== null && snapshotById(metadata, kept.snapshotId) !== null;
  return isRolledBack ? null : kept;
}

/** The commit that carries the mark, or null where main has none. */
export function findMark(metadata: TableMetadata, mark: CommitMark): LastMark | null {
  const carries = (summary: Readonly<Record<string, string>> | undefined): boolean =>
    Object.entries(mark.properties).every(([key, value]) => summary?.[key] === value);
  const found = ancestors(metadata).find((s: Snapshot) => carries(s.summary));
  if (found !== undefined) return { snapshotId: found['snapshot-id'], summary: found.summary };
  const last = lastMark(metadata, mark.owner, mark.properties[mark.owner] ?? '');
  return last !== null && carries(last.summary) ? last : null;
}

/** The table property that keeps a mark beyond the life of its snapshot. */
export function markProperty(
  mark: CommitMark,
  snapshotId: bigint,
  summary: Readonly<Record<string, string>>,
): Record<string, string> {
  const kept = { 'snapshot-id': String(snapshotId), summary };
  return { [propertyName(mark.owner, mark.properties[mark.owner] ?? '')]: JSON.stringify(kept) };
}

function keptMark(metadata: TableMetadata, owner: string, value: string): LastMark | null {
  const text = metadata.properties?.[propertyName(owner, value)];
  if (text === undefined) return null;
  try {
    const kept = parse(text) as { 'snapshot-id': string; summary: Record<string, string> };
    return { snapshotId: BigInt(kept['snapshot-id']), summary: kept.summary };
  } catch {
    return null; // a user changed the property by hand; the snapshots remain
  }
}

function propertyName(owner: string, value: string): string {
  return `${PREFIX}${owner}=${value}`;
}
