import { startPythonJudge } from './start-python-judge.ts';
import { rowsOf, type Rows, type WireRows } from './wire.ts';

/** Maps from a field id to its figure, as a manifest entry holds them. */
type ByField<T> = Readonly<Record<string, T>> | null;

export interface ManifestEntry {
  readonly status: 'EXISTING' | 'ADDED' | 'DELETED';
  readonly snapshotId: string | null;
  readonly sequenceNumber: number | null;
  readonly fileSequenceNumber: number | null;
  readonly content: 'DATA' | 'POSITION_DELETES' | 'EQUALITY_DELETES';
  readonly filePath: string;
  readonly fileFormat: string;
  readonly partition: ReadonlyArray<string | number | null>;
  readonly recordCount: number;
  readonly fileSizeInBytes: number;
  readonly columnSizes: ByField<number>;
  readonly valueCounts: ByField<number>;
  readonly nullValueCounts: ByField<number>;
  readonly nanValueCounts: ByField<number>;
  /** Single-value serialization of the spec, as hex digits. */
  readonly lowerBounds: ByField<string>;
  readonly upperBounds: ByField<string>;
  readonly splitOffsets: readonly number[] | null;
  readonly equalityIds: readonly number[] | null;
  readonly sortOrderId: number | null;
}

export interface Manifest {
  readonly path: string;
  readonly length: number;
  readonly partitionSpecId: number;
  readonly content: 'DATA' | 'DELETES';
  readonly sequenceNumber: number;
  readonly minSequenceNumber: number;
  readonly addedSnapshotId: string | null;
  readonly addedFiles: number | null;
  readonly existingFiles: number | null;
  readonly deletedFiles: number | null;
  readonly addedRows: number | null;
  readonly existingRows: number | null;
  readonly deletedRows: number | null;
  readonly entries: readonly ManifestEntry[];
}

export interface Snapshot {
  /** Snapshot ids go beyond 2^53, so they are text. */
  readonly snapshotId: string;
  readonly parentSnapshotId: string | null;
  readonly sequenceNumber: number;
  readonly timestampMs: number;
  readonly schemaId: number | null;
  readonly operation: 'append' | 'replace' | 'overwrite' | 'delete';
  /** Without the operation. */
  readonly summary: Readonly<Record<string, string>>;
  readonly manifestList: string;
  readonly manifests: readonly Manifest[];
}

export interface IcebergSchema {
  readonly schemaId: number;
  readonly identifierFieldIds: readonly number[];
  readonly fields: ReadonlyArray<{
    readonly id: number;
    readonly name: string;
    readonly type: string;
    readonly required: boolean;
  }>;
}

export interface IcebergTable {
  readonly metadataFile: string;
  readonly formatVersion: number;
  readonly tableUuid: string;
  readonly location: string;
  readonly lastSequenceNumber: number;
  readonly lastColumnId: number;
  readonly currentSnapshotId: string | null;
  readonly properties: Readonly<Record<string, string>>;
  readonly schemas: readonly IcebergSchema[];
  /** The current one. */
  readonly schema: IcebergSchema;
  readonly partitionSpecs: ReadonlyArray<{
    readonly specId: number;
    readonly fields: ReadonlyArray<{
      readonly sourceId: number;
      readonly fieldId: number;
      readonly name: string;
      readonly transform: string;
    }>;
  }>;
  readonly refs: Readonly<Record<string, string>>;
  readonly snapshotLog: ReadonlyArray<{
    readonly snapshotId: string;
    readonly timestampMs: number;
  }>;
  readonly metadataLog: readonly string[];
  readonly snapshots: readonly Snapshot[];
}

/** Judges metadata and manifests. PyIceberg cannot read tables that have equality deletes. */
export interface PyicebergJudge extends AsyncDisposable {
  /** The table as its newest metadata file in `<tableDir>/metadata` says, with every manifest read. */
  inspect(tableDir: string): Promise<IcebergTable>;
  /** @throws JudgeError on equality deletes. */
  scan(tableDir: string): Promise<Rows>;
}

export async function startPyicebergJudge(): Promise<PyicebergJudge> {
  const judge = await startPythonJudge('pyiceberg');
  return {
    inspect: async (table) => (await judge.request({ op: 'inspect', table })) as IcebergTable,
    scan: async (table) => rowsOf((await judge.request({ op: 'scan', table })) as WireRows),
    [Symbol.asyncDispose]: () => judge[Symbol.asyncDispose](),
  };
}
