/** From a source table to its targets: mapping, routes and filters of the pipeline file. */
import type { Filter, SourceView, TargetView } from './model/change.ts';
import { matchesPattern } from './model/pattern.ts';
import type { PipelineSpec, RouteSpec, SchemaMapping } from './model/spec.ts';
import { firstHalf, mappedTarget, type TargetName } from './model/target-name.ts';
import type { Database } from './sql/database.ts';
import { cleanse } from './stages/cleansing.ts';
import { makeFilter } from './stages/filter.ts';
import { mapSchema, mirror } from './stages/schema-mapping.ts';

/** The mapping of a table: the one that names it, else the first whose pattern takes it. */
export function mappingOf(spec: PipelineSpec, table: string): SchemaMapping | null {
  const mappings = spec.processing.schema_mapping ?? [];
  return (
    mappings.find((m) => m.source_table === table) ??
    mappings.find((m) => matchesPattern(m.source_table, table)) ??
    null
  );
}

/** Where a table goes when no route says otherwise. */
function usualTarget(spec: PipelineSpec, table: string): TargetName {
  const { namespace } = spec.sink.iceberg;
  const mapping = mappingOf(spec, table);
  const owner = firstHalf(table);
  const name =
    mapping === null
      ? {
          namespace: namespace ?? owner,
          table: owner === '' ? table : table.slice(owner.length + 1),
        }
      : mappedTarget(mapping, table, namespace);
  return name.namespace === '' ? { ...name, namespace: 'default' } : name;
}

/** Whether the pipeline looks at whole before images: for events, and for rows that leave or enter a target. */
export function needsBefore(spec: PipelineSpec, hasEvents: boolean): boolean {
  const { filter, routes, schema_mapping: mappings } = spec.processing;
  return (
    (hasEvents && mappings !== undefined) ||
    Object.keys(filter ?? {}).length > 0 ||
    routes.some((route) => route.when !== undefined)
  );
}

/**
 * Whether more than one source table may write to a target, as far as the pipeline file tells: a pattern may always
 * take in a second one.
 */
export function isShared(spec: PipelineSpec, table: string, target: TargetName): boolean {
  const { tables } = spec.source;
  const { routes, schema_mapping: mappings } = spec.processing;
  const named =
    tables.length > 0 ? tables.map((t) => t.table) : (mappings ?? []).map((m) => m.source_table);
  const isSame = (other: TargetName): boolean =>
    other.namespace === target.namespace && other.table === target.table;
  const reaches = (name: string): boolean => {
    const own = routes
      .filter((route) => matchesPattern(route.source_table, name))
      .map((route) => routeTarget(spec, route, name));
    return [...own, usualTarget(spec, name)].some(isSame);
  };
  const isOpen = named.length === 0 || named.some((name) => name.includes('*'));
  const isUsual =
    mappings === undefined && spec.sink.iceberg.namespace === undefined && routes.length === 0;
  if (isOpen) return !isUsual;
  return named.some((name) => name !== table && reaches(name));
}

/** Compiles the targets of source tables; the predicates of a table are made once. */
export class Targets {
  readonly #db: Database;
  readonly #spec: PipelineSpec;
  readonly #hasEvents: boolean;
  readonly #filters = new Map<string, Filter>();

  constructor(db: Database, spec: PipelineSpec, hasEvents: boolean) {
    this.#db = db;
    this.#spec = spec;
    this.#hasEvents = hasEvents;
  }

  /** @throws E_CONFIG_SQL, E_COLUMN_UNKNOWN */
  async of(source: SourceView): Promise<readonly TargetView[]> {
    const { processing } = this.#spec;
    const view = cleanse(source, processing.cleansing);
    const common: Filter[] = [];
    for (const [pattern, expression] of Object.entries(processing.filter ?? {})) {
      if (matchesPattern(pattern, view.table))
        common.push(await this.#filter(view, expression, 'processing.filter'));
    }
    const routes = processing.routes.filter((route) =>
      matchesPattern(route.source_table, view.table),
    );
    const targets: TargetView[] = [];
    for (const route of routes) {
      const filter =
        route.when === undefined ? [] : [await this.#filter(view, route.when, 'processing.routes')];
      targets.push(
        this.#target(view, routeTarget(this.#spec, route, view.table), [...common, ...filter]),
      );
    }
    if (routes.every((route) => route.when !== undefined)) {
      const others = routes.map((route) => `coalesce((${route.when ?? ''}), FALSE)`).join(' OR ');
      const filter =
        routes.length === 0
          ? []
          : [await this.#filter(view, `NOT (${others})`, 'processing.routes')];
      targets.push(this.#target(view, usualTarget(this.#spec, view.table), [...common, ...filter]));
    }
    return targets;
  }

  #target(view: SourceView, target: TargetName, filters: readonly Filter[]): TargetView {
    const mapping = mappingOf(this.#spec, view.table);
    const plain =
      mapping === null ? mirror(view, target) : mapSchema(view, mapping, target, this.#hasEvents);
    return { ...plain, filters };
  }

  async #filter(view: SourceView, expression: string, where: string): Promise<Filter> {
    const key = `${view.table}\n${expression}\n${view.columns.map((c) => `${c.name} ${c.type} ${c.from ?? ''}`).join(',')}`;
    const known = this.#filters.get(key);
    const filter = known ?? (await makeFilter(this.#db, view, expression, where));
    this.#filters.set(key, filter);
    // The texts are those of this view; the macro is the same for all views of the table.
    return {
      ...filter,
      columns: filter.columns.map((c) => view.columns.find((v) => v.name === c.name) ?? c),
    };
  }
}

function routeTarget(spec: PipelineSpec, route: RouteSpec, table: string): TargetName {
  const owner = firstHalf(table);
  const name = owner === '' ? table : table.slice(owner.length + 1);
  const text = route.target_table.replaceAll('{table}', name).replaceAll('{db}', owner);
  const dot = text.indexOf('.');
  if (dot !== -1) return { namespace: text.slice(0, dot), table: text.slice(dot + 1) };
  return { namespace: usualTarget(spec, table).namespace, table: text };
}
