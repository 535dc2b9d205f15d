/**
 * A pipeline as the engine sees it: the pipeline file, validated, with every default filled in. Key names are those
 * of the file, in YAML, JSON and TypeScript alike. `config/schema.ts` is the zod schema that yields it.
 */
import type { ColumnType, Encoding } from './types.ts';

export type SourceType =
  | 'mysql'
  | 'mariadb'
  | 'postgresql'
  | 'oracle'
  | 'mongodb'
  | 'sqlserver'
  | 'debezium_json'
  | 'debezium_avro'
  | 'kafka';

export type Conversion =
  | 'to_string'
  | 'to_int'
  | 'to_float'
  | 'to_boolean'
  | 'epoch_ms_to_datetime'
  | 'cents_to_dollars';

export interface ColumnSpec {
  readonly type: ColumnType;
  readonly from?: Encoding | undefined;
}

/** One entry of `source.tables`. A plain string in the file is `{ table }`. `table` may hold `*` patterns. */
export interface SourceTable {
  readonly table: string;
  readonly primary_key?: readonly string[] | undefined;
  /** What it leaves out is not mirrored. File order is column order. */
  readonly columns?: Readonly<Record<string, ColumnSpec>> | undefined;
}

export interface SourceSpec {
  readonly source_type: SourceType;
  /** Absolute path of a file, folder or glob (already resolved against the pipeline file's folder). */
  readonly path?: string | undefined;
  /** Follow growing and new files instead of ending at the end of the feed. */
  readonly watch: boolean;
  readonly tables: readonly SourceTable[];
  readonly startup_mode:
    | 'initial'
    | 'earliest'
    | 'latest-offset'
    | 'timestamp'
    | 'specific-offset'
    | 'snapshot-only';
  readonly startup_timestamp?: number | undefined;
  readonly on_truncate: 'apply' | 'ignore' | 'dead_letter' | 'stop';
  readonly max_line_bytes: number;
  readonly max_nesting: number;
  /** Connection fields of the seed; debezium_json needs none of them. */
  readonly hostname?: string | undefined;
  readonly port?: number | undefined;
  readonly database?: string | undefined;
  readonly username?: string | undefined;
  readonly password_secret_ref?: string | undefined;
  readonly server_id?: number | undefined;
  readonly slot_name?: string | undefined;
}

export interface FieldMapping {
  readonly source_column: string;
  readonly target_property: string;
  readonly type_conversion?: Conversion | undefined;
  /** Text, number or boolean of the file, as text; applies to a missing or null value, before the conversion. */
  readonly default_value?: string | undefined;
  readonly nullable: boolean;
}

export interface SchemaMapping {
  /** A table name or a `*` pattern; the key of the mapping where the file leaves it out. */
  readonly source_table: string;
  readonly target_object_type_rid: string;
  readonly field_mappings: readonly FieldMapping[];
  readonly primary_key_field: string;
  /** `{object_type}` and `{pk}` are filled in. */
  readonly rid_template: string;
  /** `t` or `ns.t`; default: the object type in snake_case. */
  readonly target_table?: string | undefined;
}

export interface CleansingSpec {
  readonly trim: boolean;
  /** Texts that mean null. */
  readonly null_tokens: readonly string[];
}

export interface RouteSpec {
  /** Source table or `*` pattern. */
  readonly source_table: string;
  /** SQL predicate over the source's columns; absent: every row. */
  readonly when?: string | undefined;
  /** `t` or `ns.t`; `{table}` and `{db}` are filled in. */
  readonly target_table: string;
}

export interface ProcessingSpec {
  /** In the file's order; absent: each table is mirrored as it is, by its own key. */
  readonly schema_mapping?: readonly SchemaMapping[] | undefined;
  readonly cleansing: CleansingSpec;
  readonly deduplication: { readonly enabled: boolean; readonly window_ms: number };
  /** SQL predicate over the source's columns; by table name or pattern, `*` for all. */
  readonly filter?: Readonly<Record<string, string>> | undefined;
  readonly routes: readonly RouteSpec[];
}

export interface SinkSpec {
  readonly iceberg_enabled: boolean;
  readonly iceberg_catalog: 'hadoop';
  /** Absolute folder. */
  readonly iceberg_warehouse: string;
  readonly iceberg: { readonly namespace?: string | undefined; readonly delete_mode: 'equality' };
  readonly event_bus_enabled: boolean;
  /** Absolute folder of the event log. */
  readonly event_bus: { readonly path: string };
}

export interface CheckpointSpec {
  /** 0: only at the end of a bounded run (and at schema changes). */
  readonly interval_ms: number;
  readonly min_pause_ms: number;
  readonly timeout_ms: number;
  /** A checkpoint is due when that many bytes of feed have been read; absent: no limit by bytes. */
  readonly max_bytes?: number | undefined;
  readonly state_dir: string;
}

export interface ErrorHandlingSpec {
  readonly max_retries: number;
  readonly retry_interval_ms: number;
  readonly dead_letter_enabled: boolean;
  readonly skip_corrupted: boolean;
}

export interface PipelineSpec {
  readonly pipeline_id: string;
  readonly display_name: string;
  readonly engine: 'embedded';
  readonly source: SourceSpec;
  readonly processing: ProcessingSpec;
  readonly sink: SinkSpec;
  readonly checkpoint: CheckpointSpec;
  readonly error_handling: ErrorHandlingSpec;
}
