import { readAvro, writeAvro } from '../avro/container.ts';
import { fieldReader, optionalNumber, wholeNumber } from './avro-fields.ts';
import { MANIFEST_LIST_ENTRY } from './avro-schemas.ts';
import type { ManifestFile } from './data-file.ts';

export interface ListHead {
  readonly snapshotId: bigint;
  readonly parentSnapshotId: bigint | null;
  readonly sequenceNumber: number;
}

export function encodeManifestList(head: ListHead, manifests: readonly ManifestFile[]): Buffer {
  const metadata = new Map([
    ['snapshot-id', String(head.snapshotId)],
    ['parent-snapshot-id', head.parentSnapshotId === null ? 'null' : String(head.parentSnapshotId)],
    ['sequence-number', String(head.sequenceNumber)],
    ['format-version', '2'],
  ]);
  return writeAvro(MANIFEST_LIST_ENTRY, metadata, manifests.map(toAvro));
}

/** Reads lists of format versions 1 and 2; what version 1 lacks is a data manifest of sequence number 0. */
export function decodeManifestList(bytes: Uint8Array, path: string): readonly ManifestFile[] {
  const file = readAvro(bytes, path);
  const fields = fieldReader(file.schema);
  return file.records.map((record) => {
    const get = (fieldId: number): unknown => fields.get(record, fieldId);
    const number = (fieldId: number): number =>
      optionalNumber(get(fieldId), `field ${fieldId} of ${path}`) ?? 0;
    return {
      path: get(500) as string,
      length: wholeNumber(get(501), `manifest_length in ${path}`),
      specId: number(502),
      content: number(517) === 1 ? 'deletes' : 'data',
      sequenceNumber: number(515),
      minSequenceNumber: number(516),
      addedSnapshotId: (get(503) as bigint | null) ?? -1n,
      addedFiles: number(504),
      existingFiles: number(505),
      deletedFiles: number(506),
      addedRows: number(512),
      existingRows: number(513),
      deletedRows: number(514),
      // Carried-over lines must hold an array too: strict readers refuse null.
      partitions: (get(507) as readonly unknown[] | null) ?? [],
      keyMetadata: get(519) as Uint8Array | null,
    };
  });
}

function toAvro(manifest: ManifestFile): object {
  return {
    manifest_path: manifest.path,
    manifest_length: BigInt(manifest.length),
    partition_spec_id: manifest.specId,
    content: manifest.content === 'deletes' ? 1 : 0,
    sequence_number: BigInt(manifest.sequenceNumber),
    min_sequence_number: BigInt(manifest.minSequenceNumber),
    added_snapshot_id: manifest.addedSnapshotId,
    added_files_count: manifest.addedFiles,
    existing_files_count: manifest.existingFiles,
    deleted_files_count: manifest.deletedFiles,
    added_rows_count: BigInt(manifest.addedRows),
    existing_rows_count: BigInt(manifest.existingRows),
    deleted_rows_count: BigInt(manifest.deletedRows),
    partitions: manifest.partitions,
    key_metadata: manifest.keyMetadata === null ? null : Buffer.from(manifest.keyMetadata),
  };
}
