/**
 * What a pipeline file says a table on the lake must hold. Derived here a second time, apart from the engine's own
 * reading of the file, so that a fault of the one is not repeated by the other.
 */
import type {
  Conversion,
  FieldMapping,
  PipelineSpec,
  SchemaMapping,
  SourceTable,
} from '../model/spec.ts';
import type { Column, ColumnType, Encoding } from '../model/types.ts';
import { and, or, raw, sql, type Sql } from '../sql/sql.ts';

export interface SourceColumn {
  readonly name: string;
  /** Null: not declared; taken from the table on the lake, or guessed from the feed where only a filter needs it. */
  readonly type: ColumnType | null;
  readonly from?: Encoding | undefined;
}

/** How one column of the target is made from one column of the source. */
export interface ExpectedValue {
  readonly column: string;
  readonly source: string;
  readonly type: ColumnType | null;
  /** Type of the source column, where it is declared. */
  readonly sourceType?: ColumnType | undefined;
  readonly from?: Encoding | undefined;
  readonly conversion?: Conversion | undefined;
  readonly defaultValue?: string | undefined;
  readonly nullable: boolean;
}

export interface ExpectedRid {
  /** `{object_type}` and `{pk}` are filled in. */
  readonly template: string;
  readonly objectType: string;
  /** The source column that gives `{pk}`. */
  readonly column: string;
}

export interface ExpectedSource {
  /** `schema.table` or `db.table`. */
  readonly table: string;
  /** Lines that do not say their table belong to this one. */
  readonly onlyTable: boolean;
  /** Source columns of the key. */
  readonly key: readonly string[];
  /** Known columns of the source, those a filter or a route may name. */
  readonly columns: readonly SourceColumn[];
  /** Null: every column of the table on the lake, by its own name. */
  readonly values: readonly ExpectedValue[] | null;
  readonly rid?: ExpectedRid | undefined;
  /** SQL predicate over the source's columns; a row that fails it is not in the table. */
  readonly filter?: Sql | undefined;
  /** SQL predicate that routes a row to this table. */
  readonly include?: Sql | undefined;
}

export interface ExpectedTable {
  readonly namespace: string;
  readonly name: string;
  /** Key columns of the table on the lake. */
  readonly key: readonly string[];
  readonly sources: readonly ExpectedSource[];
  readonly trim: boolean;
  readonly nullTokens: readonly string[];
  /** Drop what is not newer than the key's last change. */
  readonly deduplicate: boolean;
  /** `t` empties the table. */
  readonly truncate: boolean;
}

/** Columns and key of the source tables as a run found them, by source table name. */
export type DiscoveredTables = Readonly<
  Record<string, { readonly columns: readonly Column[]; readonly key: readonly string[] }>
>;

interface Target {
  readonly namespace: string;
  readonly name: string;
  readonly include?: Sql;
}

/**
 * Every table that the pipeline writes, in the file's order. Tables known only by a `*` pattern appear when
 * `discovered` names them.
 */
export function expectedTables(
  spec: PipelineSpec,
  discovered: DiscoveredTables = {},
): ExpectedTable[] {
  const byName = new Map<string, ExpectedTable>();
  for (const name of sourceNames(spec, discovered)) {
    const source = describeSource(spec, name, discovered);
    if (source === null) continue;
    const mapping = mappingOf(spec, name);
    for (const target of targetsOf(spec, name, mapping)) {
      const key = mapping === undefined ? source.key : ['rid'];
      const routed = target.include === undefined ? source : { ...source, include: target.include };
      const full = `${target.namespace}.${target.name}`;
      const known = byName.get(full);
      byName.set(full, {
        namespace: target.namespace,
        name: target.name,
        key: known?.key ?? key,
        sources: addSource(known?.sources ?? [], routed),
        trim: spec.processing.cleansing.trim,
        nullTokens: spec.processing.cleansing.null_tokens,
        deduplicate: spec.processing.deduplication.enabled,
        truncate: spec.source.on_truncate === 'apply',
      });
    }
  }
  return [...byName.values()];
}

/** Two routes of one table to one target are one source, whose rows meet either. */
function addSource(sources: readonly ExpectedSource[], added: ExpectedSource): ExpectedSource[] {
  const same = sources.find((source) => source.table === added.table);
  if (same === undefined) return [...sources, added];
  const either =
    same.include === undefined || added.include === undefined
      ? undefined
      : or([same.include, added.include]);
  return sources.map((source) => (source === same ? { ...added, include: either } : source));
}

/** `PumpStation` → `pump_station`, `HTTPPump2` → `http_pump2`; what is neither letter nor digit parts words. */
export function snakeCase(word: string): string {
  const parted = word
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1_$2')
    .replace(/([\p{Ll}\p{Lo}\p{N}])(\p{Lu})/gu, '$1_$2');
  return parted
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((part) => part !== '')
    .join('_')
    .toLowerCase();
}

/** `*` stands for any run of characters. */
export function matchesPattern(pattern: string, name: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(name);
}

function sourceNames(spec: PipelineSpec, discovered: DiscoveredTables): string[] {
  const said = [
    ...spec.source.tables.map((entry) => entry.table),
    ...(spec.source.tables.length === 0
      ? (spec.processing.schema_mapping ?? []).map((m) => m.source_table)
      : []),
  ].filter((name) => !name.includes('*'));
  const found = Object.keys(discovered).filter(
    (name) =>
      spec.source.tables.length === 0 ||
      spec.source.tables.some((entry) => matchesPattern(entry.table, name)),
  );
  return [...new Set([...said, ...found])];
}

function describeSource(
  spec: PipelineSpec,
  name: string,
  discovered: DiscoveredTables,
): ExpectedSource | null {
  const entry = entryOf(spec, name);
  const mapping = mappingOf(spec, name);
  if (spec.processing.schema_mapping !== undefined && mapping === undefined) return null;
  const found = discovered[name];
  const columns = columnsOf(entry, found?.columns);
  const key =
    mapping === undefined ? (entry?.primary_key ?? found?.key ?? []) : [mapping.primary_key_field];
  const only =
    spec.source.tables.length === 1 && !(spec.source.tables[0]?.table ?? '*').includes('*');
  return {
    table: name,
    onlyTable: only,
    key,
    columns,
    values: valuesOf(
      mapping,
      columns,
      entry !== undefined && entry.columns !== undefined,
      found !== undefined,
    ),
    rid: mapping && {
      template: mapping.rid_template,
      objectType: objectTypeOf(mapping),
      column: mapping.primary_key_field,
    },
    filter: filterOf(spec, name),
  };
}

function entryOf(spec: PipelineSpec, name: string): SourceTable | undefined {
  return (
    spec.source.tables.find((entry) => entry.table === name) ??
    spec.source.tables.find((entry) => matchesPattern(entry.table, name))
  );
}

function mappingOf(spec: PipelineSpec, name: string): SchemaMapping | undefined {
  const mappings = spec.processing.schema_mapping ?? [];
  return (
    mappings.find((mapping) => mapping.source_table === name) ??
    mappings.find((mapping) => matchesPattern(mapping.source_table, name))
  );
}

function columnsOf(
  entry: SourceTable | undefined,
  found: readonly Column[] | undefined,
): SourceColumn[] {
  if (entry?.columns !== undefined) {
    return Object.entries(entry.columns).map(([name, { type, from }]) => ({ name, type, from }));
  }
  return (found ?? []).map(({ name, type, from }) => ({ name, type, from }));
}

function valuesOf(
  mapping: SchemaMapping | undefined,
  columns: readonly SourceColumn[],
  declared: boolean,
  discovered: boolean,
): ExpectedValue[] | null {
  if (mapping !== undefined)
    return mapping.field_mappings.map((field) => mappedValue(field, columns));
  if (!declared && !discovered) return null;
  return columns.map(({ name, type, from }) => ({
    column: name,
    source: name,
    type,
    from,
    nullable: true,
  }));
}

const CONVERTED: Readonly<Record<Conversion, ColumnType>> = {
  to_string: 'string',
  to_int: 'long',
  to_float: 'double',
  to_boolean: 'boolean',
  epoch_ms_to_datetime: 'timestamptz',
  cents_to_dollars: 'decimal(18,2)',
};

function mappedValue(field: FieldMapping, columns: readonly SourceColumn[]): ExpectedValue {
  const source = columns.find((column) => column.name === field.source_column);
  return {
    column: field.target_property,
    source: field.source_column,
    type:
      field.type_conversion === undefined
        ? (source?.type ?? null)
        : CONVERTED[field.type_conversion],
    sourceType: source?.type ?? undefined,
    from: source?.from,
    conversion: field.type_conversion,
    defaultValue: field.default_value,
    nullable: field.nullable,
  };
}

function objectTypeOf(mapping: SchemaMapping): string {
  return mapping.target_object_type_rid.split('.').at(-1) ?? mapping.target_object_type_rid;
}

/** Every predicate whose pattern names the table must hold. */
function filterOf(spec: PipelineSpec, name: string): Sql | undefined {
  const found = Object.entries(spec.processing.filter ?? {}).filter(([pattern]) =>
    matchesPattern(pattern, name),
  );
  return found.length === 0 ? undefined : and(found.map(([, text]) => predicate(text)));
}

/** A predicate of the pipeline file; unknown counts as false. The line break ends a trailing comment. */
function predicate(text: string): Sql {
  return sql`coalesce((${raw(text)}
), FALSE)`;
}

/** A row takes every route that it meets; what meets none goes to the table's own target. */
function targetsOf(spec: PipelineSpec, name: string, mapping: SchemaMapping | undefined): Target[] {
  const [first, second] = splitName(name);
  const own =
    mapping === undefined ? second : (mapping.target_table ?? snakeCase(objectTypeOf(mapping)));
  const usual =
    mapping === undefined
      ? { namespace: spec.sink.iceberg.namespace ?? first, name: own }
      : qualify(own, spec.sink.iceberg.namespace ?? first);
  const routes = spec.processing.routes.filter((route) => matchesPattern(route.source_table, name));
  const routed = routes.map(({ target_table: text, when }): Target => {
    const target = qualify(
      text.replaceAll('{table}', second).replaceAll('{db}', first),
      usual.namespace,
    );
    return when === undefined ? target : { ...target, include: predicate(when) };
  });
  if (routed.some((target) => target.include === undefined)) return routed;
  const met = routed.map(({ include }) => sql`NOT ${include ?? raw('TRUE')}`);
  return [...routed, met.length === 0 ? usual : { ...usual, include: and(met) }];
}

function qualify(text: string, namespace: string): Target {
  const dot = text.indexOf('.');
  return dot < 0
    ? { namespace, name: text }
    : { namespace: text.slice(0, dot), name: text.slice(dot + 1) };
}

function splitName(name: string): [string, string] {
  const dot = name.indexOf('.');
  return dot < 0 ? ['default', name] : [name.slice(0, dot), name.slice(dot + 1)];
}
