import type { Table } from '../catalog/catalog.ts';
import type { Snapshot, TableMetadata } from './metadata.ts';

/** Main moves to a new snapshot. */
export function withSnapshot(metadata: TableMetadata, snapshot: Snapshot): TableMetadata {
  const snapshotId = snapshot['snapshot-id'];
  const at = { 'timestamp-ms': snapshot['timestamp-ms'], 'snapshot-id': snapshotId };
  return {
    ...metadata,
    'last-sequence-number': snapshot['sequence-number'],
    'current-snapshot-id': snapshotId,
    // A branch may carry retention settings of its own.
    refs: {
      ...metadata.refs,
      main: { ...metadata.refs?.['main'], 'snapshot-id': snapshotId, type: 'branch' },
    },
    snapshots: [...(metadata.snapshots ?? []), snapshot],
    'snapshot-log': [...(metadata['snapshot-log'] ?? []), at],
  };
}

export function withProperties(
  metadata: TableMetadata,
  properties: Readonly<Record<string, string>>,
): TableMetadata {
  return { ...metadata, properties: { ...metadata.properties, ...properties } };
}

/** Every new version notes the one it follows, and when it was made; the clock of a table never goes back. */
export function withVersionLogged(
  metadata: TableMetadata,
  previous: Table,
  nowMs: number,
): TableMetadata {
  const kept = Number(metadata.properties?.['write.metadata.previous-versions-max'] ?? 100);
  const log = [
    ...(metadata['metadata-log'] ?? []),
    {
      'timestamp-ms': previous.metadata['last-updated-ms'],
      'metadata-file': previous.metadataLocation,
    },
  ];
  return {
    ...metadata,
    'last-updated-ms': Math.max(nowMs, previous.metadata['last-updated-ms']),
    'metadata-log': log.slice(-Math.max(1, Number.isSafeInteger(kept) ? kept : 100)),
  };
}
