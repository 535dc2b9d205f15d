/** The expected table with every type filled in, from the pipeline file first and the table on the lake second. */
import { decimalOf, type Encoding, type ColumnType } from '../model/types.ts';
import { join, sql, type Sql } from '../sql/sql.ts';
import { convert } from './convert.ts';
import type { ReadColumn } from './exact-numbers.ts';
import type {
  ExpectedRid,
  ExpectedSource,
  ExpectedTable,
  ExpectedValue,
} from './expected-table.ts';

export interface ActualColumn {
  readonly name: string;
  readonly type: ColumnType;
}

export interface PlannedSource extends Omit<ExpectedSource, 'values' | 'columns'> {
  readonly values: readonly (ExpectedValue & { readonly type: ColumnType })[];
  /** What a predicate may name. Type null: to be guessed from the feed. */
  readonly scope: readonly {
    readonly name: string;
    readonly type: ColumnType | null;
    readonly from?: Encoding | undefined;
  }[];
}

export interface Plan {
  readonly expected: ExpectedTable;
  readonly sources: readonly PlannedSource[];
  /** Columns of the table as expected, in the order of the table on the lake. */
  readonly columns: readonly ActualColumn[];
}

/** Encodings that the feed's schema part declares, by source table and column. */
export type FeedEncodings = ReadonlyMap<string, ReadonlyMap<string, Encoding>>;

export function planTable(
  expected: ExpectedTable,
  actual: readonly ActualColumn[],
  encodings: FeedEncodings,
): Plan {
  const sources = expected.sources.map((source) =>
    planSource(source, actual, encodings.get(source.table)),
  );
  const columns = new Map<string, ColumnType>();
  for (const source of sources) {
    if (source.rid !== undefined) columns.set('rid', 'string');
    for (const value of source.values) columns.set(value.column, value.type);
  }
  return { expected, sources, columns: [...columns].map(([name, type]) => ({ name, type })) };
}

/** Columns of the source whose type the file leaves open have the encoding of the schema part, if there is one. */
export function needsEncodings(source: ExpectedSource): boolean {
  return source.values === null || source.values.some((value) => value.type === null);
}

function planSource(
  source: ExpectedSource,
  actual: readonly ActualColumn[],
  encodings: ReadonlyMap<string, Encoding> = new Map(),
): PlannedSource {
  const typeOf = (name: string): ColumnType =>
    actual.find((column) => column.name === name)?.type ?? 'string';
  const values =
    source.values ??
    actual.map(({ name, type }) => ({ column: name, source: name, type, nullable: true }));
  const scope = source.columns.length > 0 ? source.columns : values.map((v) => scopeColumn(v));
  return {
    ...source,
    values: values.map((value) => ({
      ...value,
      type: value.type ?? typeOf(value.column),
      ...(value.type === null || source.values === null
        ? { from: encodings.get(value.source) }
        : {}),
    })),
    scope: source.filter === undefined && source.include === undefined ? [] : scope,
  };
}

function scopeColumn(value: ExpectedValue): PlannedSource['scope'][number] {
  return value.conversion === undefined
    ? { name: value.source, type: value.type, from: value.from }
    : { name: value.source, type: null };
}

/** Columns to read of the images: the key ones, and all. A column of two uses is read exactly. */
export function readColumns(plan: Plan): { keys: ReadColumn[]; columns: ReadColumn[] } {
  const keys = new Map<string, ColumnType | null>();
  const columns = new Map<string, ColumnType | null>();
  const add = (to: Map<string, ColumnType | null>, name: string, type: ColumnType | null): void => {
    to.set(name, to.has(name) && to.get(name) !== type ? null : type);
  };
  for (const source of plan.sources) {
    for (const name of source.key) {
      const type = keyType(source, name);
      add(keys, name, type);
      add(columns, name, type);
    }
    for (const value of source.values) add(columns, value.source, value.type);
    for (const { name, type } of source.scope) add(columns, name, type);
  }
  const list = (from: Map<string, ColumnType | null>): ReadColumn[] =>
    [...from].map(([name, type]) => ({ name, type }));
  return { keys: list(keys), columns: list(columns) };
}

function keyType(source: PlannedSource, name: string): ColumnType | null {
  return source.rid === undefined
    ? (source.values.find((v) => v.source === name)?.type ?? null)
    : null;
}

/** Cell → text after cleansing; null tokens and blanks as the file asks for. */
export function cleansed(plan: Plan, cell: Sql): Sql {
  const trimmed = plan.expected.trim ? sql`trim(${cell}, ${' \t\n\r\f\v'})` : cell;
  if (plan.expected.nullTokens.length === 0) return trimmed;
  return sql`CASE WHEN ${trimmed} NOT IN (${join(plan.expected.nullTokens)}) THEN ${trimmed} END`;
}

/** Key columns of the target, as SQL over the cells of one image. */
export function keyOf(plan: Plan, source: PlannedSource, cell: (column: string) => Sql): Sql[] {
  const texts = source.key.map((name) => cleansed(plan, cell(name)));
  if (source.rid !== undefined) return [ridOf(source.rid, cleansed(plan, cell(source.rid.column)))];
  return source.key.map((name, i) => {
    const value = source.values.find((v) => v.source === name);
    return convert(texts[i] ?? sql`NULL`, value?.type ?? 'string', { from: value?.from });
  });
}

function ridOf(rid: ExpectedRid, pk: Sql): Sql {
  const pieces = rid.template.replaceAll('{object_type}', rid.objectType).split('{pk}');
  return sql`(${join(
    pieces.map((piece) => sql`${piece}`),
    ` || ${pk.text} || `,
  )})`;
}

/** What PostgreSQL's connector writes for a large value that did not change; and the same as bytes. */
const UNAVAILABLE = ['__debezium_unavailable_value', 'X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=='];

export interface ValueSql {
  /** NULL also where the text has no meaning in the type. */
  readonly value: Sql;
  /** Whether the row can be represented as far as this column goes. */
  readonly good: Sql;
}

export function valueOf(
  plan: Plan,
  value: ExpectedValue & { type: ColumnType },
  cell: Sql,
): ValueSql {
  const own = cleansed(plan, cell);
  const text =
    value.defaultValue === undefined ? own : sql`coalesce(${own}, ${value.defaultValue})`;
  const converted = convert(text, value.type, value);
  const made = mayBeText(value.type)
    ? sql`CASE WHEN ${text} NOT IN (${join(UNAVAILABLE)}) THEN ${converted} END`
    : converted;
  const missing = value.nullable ? sql`${text} IS NULL` : sql`FALSE`;
  return { value: made, good: sql`(${made} IS NOT NULL OR ${missing})` };
}

function mayBeText(type: ColumnType): boolean {
  return type === 'string' || type === 'binary' || decimalOf(type) !== null;
}
