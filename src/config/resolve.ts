/** The checked file → the spec of the engine: defaults in, paths absolute, maps in the file's order as lists. */
import type {
  FieldMapping,
  PipelineSpec,
  ProcessingSpec,
  SchemaMapping,
  SourceTable,
} from '../model/spec.ts';
import { assert } from '../model/errors.ts';
import { normalType } from './column-type.ts';
import { localPath } from './local-path.ts';
import type { Node } from './node-tree.ts';
import { childOf, entriesOf } from './node-tree.ts';
import type { CompleteFile } from './schema.ts';
import { PIPELINE_ID } from './schema.ts';

/** @param tree what `file` was read from: it has the order of names and the digits of numbers */
export function resolveSpec(file: CompleteFile, tree: Node, baseDir: string): PipelineSpec {
  const absolute = (path: string): string => {
    const local = localPath(path.replaceAll(PIPELINE_ID, file.pipeline_id), baseDir);
    assert('path' in local, 'a path was not checked before it was resolved');
    return local.path;
  };
  const { sink, checkpoint, error_handling: errors } = file;
  return {
    pipeline_id: file.pipeline_id,
    display_name: file.display_name.replaceAll(PIPELINE_ID, file.pipeline_id),
    engine: 'embedded',
    source: sourceOf(file.source, absolute),
    processing: processingOf(file.processing, childOf(tree, 'processing')),
    sink: {
      iceberg_enabled: sink.iceberg_enabled,
      iceberg_catalog: 'hadoop',
      iceberg_warehouse: absolute(sink.iceberg_warehouse),
      iceberg: { ...sink.iceberg, delete_mode: 'equality' },
      event_bus_enabled: sink.event_bus_enabled,
      event_bus: { path: absolute(sink.event_bus.path) },
    },
    checkpoint: {
      interval_ms: checkpoint.interval_ms,
      min_pause_ms: checkpoint.min_pause_ms,
      timeout_ms: checkpoint.timeout_ms,
      max_bytes: checkpoint.max_bytes,
      state_dir: absolute(checkpoint.state_dir),
    },
    error_handling: {
      max_retries: errors.max_retries,
      retry_interval_ms: errors.retry_interval_ms,
      dead_letter_enabled: errors.dead_letter_enabled,
      skip_corrupted: errors.skip_corrupted,
    },
  };
}

function sourceOf(
  source: CompleteFile['source'],
  absolute: (path: string) => string,
): PipelineSpec['source'] {
  return {
    ...source,
    path: source.path === undefined ? undefined : absolute(source.path),
    tables: (source.tables ?? []).map(tableOf),
  };
}

type FileTable = NonNullable<CompleteFile['source']['tables']>[number];

function tableOf(table: FileTable): SourceTable {
  if (typeof table === 'string') return { table };
  if (table.columns === undefined) return { table: table.table, primary_key: table.primary_key };
  const columns = Object.entries(table.columns).map(([name, column]) => {
    const { type, from } = typeof column === 'string' ? { type: column, from: undefined } : column;
    return [name, { type: normalType(type), from }] as const;
  });
  return {
    table: table.table,
    primary_key: table.primary_key,
    columns: Object.fromEntries(columns),
  };
}

function processingOf(
  processing: CompleteFile['processing'],
  tree: Node | undefined,
): ProcessingSpec {
  const { cleansing, deduplication, filter, routes, schema_mapping: mappings } = processing;
  return {
    schema_mapping:
      mappings === undefined
        ? undefined
        : entriesOf(childOf(tree, 'schema_mapping')).map(({ key, node }) =>
            mappingOf(key, mappings[key], node),
          ),
    cleansing,
    deduplication: {
      enabled: deduplication.enabled,
      window_ms: deduplication.dedup_window_ms ?? deduplication.window_ms,
    },
    filter: typeof filter === 'string' ? { '*': filter } : filter,
    routes,
  };
}

type FileMapping = NonNullable<CompleteFile['processing']['schema_mapping']>[string];

function mappingOf(key: string, mapping: FileMapping | undefined, node: Node): SchemaMapping {
  assert(mapping !== undefined, 'a mapping of the file was lost');
  const fields = entriesOf(childOf(node, 'field_mappings'));
  return {
    ...mapping,
    source_table: mapping.source_table ?? key,
    field_mappings: fields.map((field) =>
      fieldOf(field.key, mapping.field_mappings[field.key], field.node),
    ),
  };
}

function fieldOf(
  key: string,
  field: FileMapping['field_mappings'][string] | undefined,
  node: Node,
): FieldMapping {
  assert(field !== undefined, 'a field mapping of the file was lost');
  const column = field.source_column ?? key;
  const text = childOf(node, 'default_value');
  return {
    source_column: column,
    target_property: field.target_property ?? column,
    type_conversion: field.type_conversion,
    default_value: text?.kind === 'scalar' ? text.literal : undefined,
    nullable: field.nullable,
  };
}
