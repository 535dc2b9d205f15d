import type { DataFile } from './data-file.ts';

/** What a commit adds or removes, by kind of file. Plain numbers, so that it travels in a staged commit. */
export interface FileTotals {
  readonly dataFiles: number;
  readonly records: number;
  readonly equalityFiles: number;
  readonly equalityDeletes: number;
  readonly positionFiles: number;
  readonly positionDeletes: number;
  readonly bytes: number;
}

export type Operation = 'append' | 'delete' | 'overwrite';

export function totalsOf(files: readonly DataFile[]): FileTotals {
  const of = (content: DataFile['content']): readonly DataFile[] =>
    files.filter((f) => f.content === content);
  const rows = (some: readonly DataFile[]): number =>
    some.reduce((sum, f) => sum + f.recordCount, 0);
  return {
    dataFiles: of('data').length,
    records: rows(of('data')),
    equalityFiles: of('equality').length,
    equalityDeletes: rows(of('equality')),
    positionFiles: of('position').length,
    positionDeletes: rows(of('position')),
    bytes: files.reduce((sum, f) => sum + f.fileSizeBytes, 0),
  };
}

/** The operation that Iceberg's own row delta would name (Iceberg v2 spec, Snapshots: operation). */
export function operationOf(added: FileTotals, removed: FileTotals): Operation {
  const deletes = added.equalityFiles + added.positionFiles > 0;
  const removes = removed.dataFiles + removed.equalityFiles + removed.positionFiles > 0;
  if (!deletes && !removes) return 'append';
  return added.dataFiles === 0 ? 'delete' : 'overwrite';
}

/**
 * The summary of a snapshot (Iceberg v2 spec, Appendix F: Optional Snapshot Summary Fields): zeros are left out, but
 * for the running totals, which go on from the parent's and are left out where the parent does not know them.
 */
export function summaryOf(
  added: FileTotals,
  removed: FileTotals,
  parent: Readonly<Record<string, string>> | null,
): Record<string, string> {
  const counts: Record<string, number> = {
    'added-data-files': added.dataFiles,
    'deleted-data-files': removed.dataFiles,
    'added-records': added.records,
    'deleted-records': removed.records,
    'added-files-size': added.bytes,
    'removed-files-size': removed.bytes,
    'changed-partition-count': 1,
    'added-delete-files': added.equalityFiles + added.positionFiles,
    'removed-delete-files': removed.equalityFiles + removed.positionFiles,
    'added-equality-delete-files': added.equalityFiles,
    'removed-equality-delete-files': removed.equalityFiles,
    'added-position-delete-files': added.positionFiles,
    'removed-position-delete-files': removed.positionFiles,
    'added-equality-deletes': added.equalityDeletes,
    'removed-equality-deletes': removed.equalityDeletes,
    'added-position-deletes': added.positionDeletes,
    'removed-position-deletes': removed.positionDeletes,
  };
  const known = Object.entries(counts).filter(([, n]) => n > 0);
  return {
    ...Object.fromEntries(known.map(([key, n]) => [key, String(n)])),
    ...runningTotals(added, removed, parent),
  };
}

function runningTotals(
  added: FileTotals,
  removed: FileTotals,
  parent: Readonly<Record<string, string>> | null,
): Record<string, string> {
  const deleteFiles = (t: FileTotals): number => t.equalityFiles + t.positionFiles;
  const changes: Record<string, number> = {
    'total-records': added.records - removed.records,
    'total-files-size': added.bytes - removed.bytes,
    'total-data-files': added.dataFiles - removed.dataFiles,
    'total-delete-files': deleteFiles(added) - deleteFiles(removed),
    'total-position-deletes': added.positionDeletes - removed.positionDeletes,
    'total-equality-deletes': added.equalityDeletes - removed.equalityDeletes,
  };
  const totals: Record<string, string> = {};
  for (const [key, change] of Object.entries(changes)) {
    const before = parent === null ? 0 : Number(parent[key] ?? Number.NaN);
    const total = before + change;
    if (Number.isSafeInteger(total) && total >= 0) totals[key] = String(total);
  }
  return totals;
}
