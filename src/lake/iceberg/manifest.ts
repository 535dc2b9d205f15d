import { PipelineError } from '../../model/errors.ts';
import { readAvro, writeAvro, type AvroFile } from '../avro/container.ts';
import { fieldReader, optionalNumber, wholeNumber, type FieldReader } from './avro-fields.ts';
import { MANIFEST_ENTRY } from './avro-schemas.ts';
import type {
  DataFile,
  EntryStatus,
  FileContent,
  ManifestEntry,
  ManifestFile,
} from './data-file.ts';
import type { Schema } from './schema.ts';

const STATUSES: readonly EntryStatus[] = ['existing', 'added', 'deleted'];
const CONTENTS: readonly FileContent[] = ['data', 'position', 'equality'];

/**
 * An entry to write. An added file leaves both sequence numbers null: readers then take them from the manifest list,
 * so that a commit that lost a race can use the manifest again. The other two must carry them.
 */
export type NewEntry =
  | { readonly status: 'added'; readonly snapshotId: bigint; readonly file: DataFile }
  | ManifestEntry;

export interface ManifestHead {
  readonly schema: Schema;
  /** An unpartitioned spec: partition tuples are not written by this version. */
  readonly specId: number;
  readonly content: 'data' | 'deletes';
}

export function encodeManifest(head: ManifestHead, entries: readonly NewEntry[]): Buffer {
  const metadata = new Map([
    ['schema', JSON.stringify(head.schema)],
    ['schema-id', String(head.schema['schema-id'])],
    ['partition-spec', '[]'],
    ['partition-spec-id', String(head.specId)],
    ['format-version', '2'],
    ['content', head.content],
  ]);
  return writeAvro(MANIFEST_ENTRY, metadata, entries.map(toAvro));
}

/** The manifest's line for the manifest list. `sequenceNumber` is the commit's. */
export function describeManifest(
  head: ManifestHead,
  entries: readonly NewEntry[],
  at: { path: string; length: number; snapshotId: bigint; sequenceNumber: number },
): ManifestFile {
  const count = (status: EntryStatus): number => entries.filter((e) => e.status === status).length;
  const rows = (status: EntryStatus): number =>
    entries.reduce((sum, e) => sum + (e.status === status ? e.file.recordCount : 0), 0);
  const live = entries.flatMap((e) => (e.status === 'existing' ? [e.sequenceNumber] : []));
  return {
    path: at.path,
    length: at.length,
    specId: head.specId,
    content: head.content,
    sequenceNumber: at.sequenceNumber,
    minSequenceNumber: live.reduce((a, b) => Math.min(a, b), at.sequenceNumber),
    addedSnapshotId: at.snapshotId,
    addedFiles: count('added'),
    existingFiles: count('existing'),
    deletedFiles: count('deleted'),
    addedRows: rows('added'),
    existingRows: rows('existing'),
    deletedRows: rows('deleted'),
    partitions: [],
    keyMetadata: null,
  };
}

/**
 * The entries of a manifest of format version 1 or 2, with what they inherit from its line in the manifest list.
 * @throws E_TABLE_METADATA
 */
export function decodeManifest(
  bytes: Uint8Array,
  manifest: ManifestFile,
): readonly ManifestEntry[] {
  const file = readAvro(bytes, manifest.path);
  const read = entryReader(file, manifest);
  return file.records.map(read);
}

function entryReader(file: AvroFile, manifest: ManifestFile): (record: object) => ManifestEntry {
  const entry = fieldReader(file.schema);
  const dataFile = entry.nested(2);
  const partition = dataFile.nested(102);
  return (record) => {
    const status = STATUSES[wholeNumber(entry.get(record, 0), 'status')];
    if (status === undefined) throw damaged(manifest, 'an entry has an unknown status');
    const sequenceNumber = optionalNumber(entry.get(record, 3), 'sequence_number');
    const fileSequenceNumber = optionalNumber(entry.get(record, 4), 'file_sequence_number');
    const inherits = status === 'added' || manifest.sequenceNumber === 0;
    if (sequenceNumber === null && !inherits)
      throw damaged(manifest, 'an old entry has no sequence number');
    return {
      status,
      snapshotId: (entry.get(record, 1) as bigint | null) ?? manifest.addedSnapshotId,
      sequenceNumber: sequenceNumber ?? manifest.sequenceNumber,
      fileSequenceNumber:
        fileSequenceNumber ?? (inherits ? manifest.sequenceNumber : (sequenceNumber ?? 0)),
      file: readDataFile(entry.get(record, 2) as object, dataFile, partition, manifest),
    };
  };
}

function readDataFile(
  record: object,
  fields: FieldReader,
  partitionFields: FieldReader,
  manifest: ManifestFile,
): DataFile {
  const get = (fieldId: number): unknown => fields.get(record, fieldId);
  const content = CONTENTS[optionalNumber(get(134), 'content') ?? 0];
  if (content === undefined) throw damaged(manifest, 'a file has an unknown content');
  const tuple = get(102) ?? {};
  return {
    content,
    path: get(100) as string,
    format: String(get(101)).toUpperCase(),
    specId: manifest.specId,
    partition: new Map(
      partitionFields.ids.map((fieldId) => [fieldId, partitionFields.get(tuple, fieldId)]),
    ),
    recordCount: wholeNumber(get(103), 'record_count'),
    fileSizeBytes: wholeNumber(get(104), 'file_size_in_bytes'),
    metrics: {
      columnSizes: numberMap(get(108)),
      valueCounts: numberMap(get(109)),
      nullValueCounts: numberMap(get(110)),
      nanValueCounts: numberMap(get(137)),
      lowerBounds: pairMap(get(125)),
      upperBounds: pairMap(get(128)),
    },
    keyMetadata: get(131) as Uint8Array | null,
    splitOffsets:
      (get(132) as bigint[] | null)?.map((offset) => wholeNumber(offset, 'split_offsets')) ?? null,
    equalityIds: get(135) as number[] | null,
    sortOrderId: get(140) as number | null,
    referencedDataFile: get(143) as string | null,
  };
}

interface Pair<V> {
  readonly key: number;
  readonly value: V;
}

function pairMap<V>(pairs: unknown): Map<number, V> | null {
  return pairs === null
    ? null
    : new Map((pairs as readonly Pair<V>[]).map((p) => [p.key, p.value]));
}

function numberMap(pairs: unknown): Map<number, number> | null {
  const found = pairMap<bigint>(pairs);
  return found === null
    ? null
    : new Map([...found].map(([id, n]) => [id, wholeNumber(n, 'a metric')]));
}

function toAvro(entry: NewEntry): object {
  const old = entry.status === 'added' ? null : entry;
  return {
    status: STATUSES.indexOf(entry.status),
    snapshot_id: entry.snapshotId,
    sequence_number: old === null ? null : BigInt(old.sequenceNumber),
    file_sequence_number: old === null ? null : BigInt(old.fileSequenceNumber),
    data_file: fileToAvro(entry.file),
  };
}

function fileToAvro(file: DataFile): object {
  const { metrics } = file;
  return {
    content: CONTENTS.indexOf(file.content),
    file_path: file.path,
    file_format: file.format,
    partition: {},
    record_count: BigInt(file.recordCount),
    file_size_in_bytes: BigInt(file.fileSizeBytes),
    column_sizes: pairs(metrics.columnSizes, BigInt),
    value_counts: pairs(metrics.valueCounts, BigInt),
    null_value_counts: pairs(metrics.nullValueCounts, BigInt),
    nan_value_counts: pairs(metrics.nanValueCounts, BigInt),
    lower_bounds: pairs(metrics.lowerBounds, toBuffer),
    upper_bounds: pairs(metrics.upperBounds, toBuffer),
    key_metadata: file.keyMetadata === null ? null : toBuffer(file.keyMetadata),
    split_offsets: file.splitOffsets?.map(BigInt) ?? null,
    equality_ids: file.equalityIds,
    sort_order_id: file.sortOrderId,
    referenced_data_file: file.referencedDataFile,
  };
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function pairs<V, W>(
  map: ReadonlyMap<number, V> | null,
  convert: (value: V) => W,
): Pair<W>[] | null {
  return map === null ? null : [...map].map(([key, value]) => ({ key, value: convert(value) }));
}

function damaged(manifest: ManifestFile, what: string): PipelineError {
  return new PipelineError('E_TABLE_METADATA', `${manifest.path}: ${what}`);
}
