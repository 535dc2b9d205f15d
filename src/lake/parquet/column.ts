import type { IcebergType } from '../iceberg/schema.ts';

/** A column of a Parquet file: its name in the SELECT and in the file, and the Iceberg field that it holds. */
export interface ParquetColumn {
  readonly name: string;
  readonly fieldId: number;
  /** A primitive Iceberg type. */
  readonly type: IcebergType;
  readonly required: boolean;
}
