import type { ObjectStore } from '../../storage/object-store.ts';
import type { Field } from '../iceberg/schema.ts';
import type { TableMetadata } from '../iceberg/metadata.ts';

/** Names a table. Levels of a nested namespace are joined by a dot. */
export interface TableRef {
  readonly namespace: string;
  readonly name: string;
}

/** A table as it was when it was loaded. */
export interface Table {
  readonly ref: TableRef;
  readonly metadata: TableMetadata;
  /** Where `metadata` was read from. */
  readonly metadataLocation: string;
  /** Where its files live. */
  readonly store: ObjectStore;
}

export interface NewTable extends TableRef {
  readonly fields: readonly Field[];
  /** The key: required fields of exact types. Empty: none. */
  readonly identifierFieldIds: readonly number[];
  readonly properties?: Readonly<Record<string, string>>;
}

/** Where tables are found, and the one place where a commit becomes visible. */
export interface Catalog {
  /**
   * @throws E_COMMIT_CONFLICT where the table exists; E_KEY_TYPE, E_CONFIG_VALUE for a key or name that cannot be;
   * E_WAREHOUSE_WRITE
   */
  createTable(table: NewTable): Promise<Table>;
  /** Null where there is no such table. @throws E_TABLE_METADATA, E_CONFIG_UNSUPPORTED (a later format version) */
  loadTable(ref: TableRef): Promise<Table | null>;
  /** All tables, by name. */
  listTables(): Promise<readonly TableRef[]>;
  /**
   * Replaces the metadata that `table` was loaded with; atomic among all writers.
   * @throws E_COMMIT_CONFLICT where the table has moved on, E_WAREHOUSE_WRITE where the outcome may be unknown
   */
  commitMetadata(table: Table, metadata: TableMetadata): Promise<Table>;
}

export function tableText(ref: TableRef): string {
  return `${ref.namespace}.${ref.name}`;
}
