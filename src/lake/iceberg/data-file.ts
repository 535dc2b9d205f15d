/** A data or delete file as a manifest lists it (Iceberg v2 spec, Manifests: data_file). Immutable. */
export interface DataFile {
  readonly content: FileContent;
  /** Location as written; position deletes are matched with it as a string. */
  readonly path: string;
  /** `PARQUET`, `AVRO`, `ORC` or `PUFFIN`, in upper case. */
  readonly format: string;
  readonly specId: number;
  /** Field id of the partition field → value as Avro holds it. Empty when unpartitioned. */
  readonly partition: ReadonlyMap<number, unknown>;
  readonly recordCount: number;
  readonly fileSizeBytes: number;
  readonly metrics: FileMetrics;
  readonly keyMetadata: Uint8Array | null;
  readonly splitOffsets: readonly number[] | null;
  /** Field ids that identify a deleted row; only for equality deletes. */
  readonly equalityIds: readonly number[] | null;
  readonly sortOrderId: number | null;
  /** The one data file that a position delete file is about, where it is about one only. */
  readonly referencedDataFile: string | null;
}

export type FileContent = 'data' | 'position' | 'equality';

/** Figures by field id; null where the writer gave none. Bounds are single-value bytes (Iceberg spec, Appendix D). */
export interface FileMetrics {
  readonly columnSizes: ReadonlyMap<number, number> | null;
  readonly valueCounts: ReadonlyMap<number, number> | null;
  readonly nullValueCounts: ReadonlyMap<number, number> | null;
  readonly nanValueCounts: ReadonlyMap<number, number> | null;
  readonly lowerBounds: ReadonlyMap<number, Uint8Array> | null;
  readonly upperBounds: ReadonlyMap<number, Uint8Array> | null;
}

export type EntryStatus = 'existing' | 'added' | 'deleted';

/** An entry of a manifest, its sequence numbers and snapshot already inherited from the manifest list. */
export interface ManifestEntry {
  readonly status: EntryStatus;
  readonly snapshotId: bigint;
  readonly sequenceNumber: number;
  readonly fileSequenceNumber: number;
  readonly file: DataFile;
}

/** A manifest as the manifest list holds it (Iceberg v2 spec, Manifest Lists: manifest_file). */
export interface ManifestFile {
  readonly path: string;
  readonly length: number;
  readonly specId: number;
  readonly content: 'data' | 'deletes';
  readonly sequenceNumber: number;
  readonly minSequenceNumber: number;
  readonly addedSnapshotId: bigint;
  readonly addedFiles: number;
  readonly existingFiles: number;
  readonly deletedFiles: number;
  readonly addedRows: number;
  readonly existingRows: number;
  readonly deletedRows: number;
  /** As Avro holds them, one per partition field; empty when unpartitioned, never null. */
  readonly partitions: readonly unknown[];
  readonly keyMetadata: Uint8Array | null;
}
