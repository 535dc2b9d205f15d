import { tableText, type Table } from '../../lake/catalog/catalog.ts';
import { ancestors, currentSnapshot, type Snapshot } from '../../lake/iceberg/metadata.ts';
import { planScan, type ScanFile, type ScanPlan } from '../../lake/iceberg/scan.ts';
import { localPath } from '../../storage/local.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { printRows, type RowColumn } from '../print-rows.ts';
import type { Terminal } from '../terminal.ts';
import { loadNamed, openWarehouse, scanAtOf, type WarehouseChoice } from '../warehouse.ts';
import { bytes } from '../words.ts';

interface TableRow {
  readonly table: string;
  readonly rows: number | null;
  readonly data_files: number | null;
  readonly delete_files: number | null;
  readonly bytes: number | null;
  readonly snapshots: number;
  readonly snapshot_id: bigint | null;
  readonly committed_at: string | null;
  readonly columns: readonly string[];
  readonly location: string;
}

const TABLE_COLUMNS: readonly RowColumn<TableRow>[] = [
  { title: 'TABLE', text: (row) => row.table },
  { title: 'RECORDS', text: (row) => row.rows },
  { title: 'DATA FILES', text: (row) => row.data_files },
  { title: 'DELETE FILES', text: (row) => row.delete_files },
  { title: 'SIZE', text: (row) => (row.bytes === null ? null : bytes(row.bytes)) },
  { title: 'SNAPSHOTS', text: (row) => row.snapshots },
  { title: 'COMMITTED', text: (row) => row.committed_at },
];

export async function tablesCommand(
  choice: WarehouseChoice,
  terminal: Terminal,
): Promise<ExitCode> {
  const { catalog, dir } = await openWarehouse(choice);
  const rows: TableRow[] = [];
  for (const ref of await catalog.listTables()) {
    const table = await catalog.loadTable(ref);
    if (table !== null) rows.push(tableRow(table));
  }
  await printRows(terminal, rows, TABLE_COLUMNS, `${dir} holds no tables`);
  return EXIT.ok;
}

function tableRow({ ref, metadata }: Table): TableRow {
  const snapshot = currentSnapshot(metadata);
  const total = (name: string): number | null => figure(snapshot, `total-${name}`);
  const schema = metadata.schemas.find((s) => s['schema-id'] === metadata['current-schema-id']);
  return {
    table: tableText(ref),
    rows: total('records'),
    data_files: total('data-files'),
    delete_files: total('delete-files'),
    bytes: total('files-size'),
    snapshots: ancestors(metadata).length,
    snapshot_id: snapshot?.['snapshot-id'] ?? null,
    committed_at: snapshot === null ? null : timeOf(snapshot),
    columns: (schema?.fields ?? []).map(({ name }) => name),
    location: localPath(metadata.location),
  };
}

interface SnapshotRow {
  readonly snapshot_id: bigint;
  readonly parent_id: bigint | null;
  readonly committed_at: string;
  readonly operation: string;
  readonly added_data_files: number;
  readonly added_rows: number;
  readonly added_delete_files: number;
  readonly deleted_data_files: number;
  readonly deleted_rows: number;
  readonly total_rows: number | null;
  readonly schema_id: number | null;
  readonly pipeline_id: string | null;
  readonly checkpoint_id: number | null;
  readonly position: unknown;
}

const SNAPSHOT_COLUMNS: readonly RowColumn<SnapshotRow>[] = [
  { title: 'SNAPSHOT', text: (row) => String(row.snapshot_id) },
  { title: 'COMMITTED', text: (row) => row.committed_at },
  { title: 'OPERATION', text: (row) => row.operation },
  { title: '+FILES', text: (row) => row.added_data_files },
  { title: '+ROWS', text: (row) => row.added_rows },
  { title: '+DELETES', text: (row) => row.added_delete_files },
  { title: '-FILES', text: (row) => row.deleted_data_files },
  { title: 'CHECKPOINT', text: (row) => row.checkpoint_id },
  { title: 'POSITION', text: (row) => positionText(row.position) },
];

export async function snapshotsCommand(
  name: string,
  choice: WarehouseChoice,
  terminal: Terminal,
): Promise<ExitCode> {
  const table = await loadNamed(await openWarehouse(choice), name);
  const rows = ancestors(table.metadata).map(snapshotRow);
  await printRows(terminal, rows, SNAPSHOT_COLUMNS, `${tableText(table.ref)} has no snapshots`);
  return EXIT.ok;
}

function snapshotRow(snapshot: Snapshot): SnapshotRow {
  const { summary } = snapshot;
  const checkpoint = summary['lakeward.checkpoint-id'];
  const added = (what: string): number => figure(snapshot, what) ?? 0;
  return {
    snapshot_id: snapshot['snapshot-id'],
    parent_id: snapshot['parent-snapshot-id'] ?? null,
    committed_at: timeOf(snapshot),
    operation: summary['operation'] ?? 'unknown',
    added_data_files: added('added-data-files'),
    added_rows: added('added-records'),
    added_delete_files: added('added-delete-files'),
    deleted_data_files: added('deleted-data-files'),
    deleted_rows: added('deleted-records'),
    total_rows: figure(snapshot, 'total-records'),
    schema_id: snapshot['schema-id'] ?? null,
    pipeline_id: summary['lakeward.pipeline-id'] ?? null,
    checkpoint_id: checkpoint === undefined ? null : Number(checkpoint),
    position: parsed(summary['lakeward.position']),
  };
}

interface FileRow {
  readonly path: string;
  readonly content: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sequence_number: number;
}

const FILE_COLUMNS: readonly RowColumn<FileRow>[] = [
  { title: 'CONTENT', text: (row) => row.content },
  { title: 'ROWS', text: (row) => row.rows },
  { title: 'SIZE', text: (row) => bytes(row.bytes) },
  { title: 'SEQUENCE', text: (row) => row.sequence_number },
  { title: 'PATH', text: (row) => row.path },
];

export async function filesCommand(
  name: string,
  options: WarehouseChoice & { readonly at?: string },
  terminal: Terminal,
): Promise<ExitCode> {
  const at = scanAtOf(options.at);
  const table = await loadNamed(await openWarehouse(options), name);
  const rows = filesOf(await planScan(table, at)).map(fileRow);
  await printRows(terminal, rows, FILE_COLUMNS, `${tableText(table.ref)} has no files`);
  return EXIT.ok;
}

function filesOf(plan: ScanPlan): readonly ScanFile[] {
  const all = [...plan.dataFiles, ...plan.equalityDeletes, ...plan.positionDeletes];
  return all.toSorted((a, b) => a.sequenceNumber - b.sequenceNumber);
}

function fileRow({ file, sequenceNumber }: ScanFile): FileRow {
  return {
    path: localPath(file.path),
    content: file.content === 'data' ? 'data' : `${file.content} deletes`,
    rows: file.recordCount,
    bytes: file.fileSizeBytes,
    sequence_number: sequenceNumber,
  };
}

function figure(snapshot: Snapshot | null, name: string): number | null {
  const text = snapshot?.summary[name];
  return text === undefined ? null : Number(text);
}

const timeOf = (snapshot: Snapshot): string => new Date(snapshot['timestamp-ms']).toISOString();

/** The position is JSON where we wrote it. */
function parsed(text: string | undefined): unknown {
  if (text === undefined) return null;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text; // another writer's words, shown as they are
  }
}

function positionText(position: unknown): string | null {
  if (position === null) return null;
  const { file, line, byte } = position as { file?: string; line?: number | null; byte?: number };
  if (file === undefined) return typeof position === 'string' ? position : JSON.stringify(position);
  return line === null || line === undefined ? `${file} byte ${byte}` : `${file}:${line}`;
}
