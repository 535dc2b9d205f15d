import { PipelineError } from '../../model/errors.ts';
import { matchesPattern } from '../../model/pattern.ts';
import type { SourceTable } from '../../model/spec.ts';
import type { Column, ColumnType } from '../../model/types.ts';

/** What the pipeline wants of a table, before anything of the feed is known. */
export interface Wanted {
  readonly table: string;
  /** Columns that the pipeline file spells out; null: they come from the feed. */
  readonly columns: readonly Column[] | null;
  /** Of columns that come from the feed, only these are read; null: all. */
  readonly needed: readonly string[] | null;
  readonly key: readonly string[];
}

/** What a mapping wants of a table. `columns` is null where types have to come from the feed. */
export interface MappingWish {
  readonly columns: readonly Column[] | null;
  readonly needed: readonly string[] | null;
  readonly key: readonly string[];
}

/** Tables of a feed that the pipeline mirrors, as far as the file says. */
export interface TableChoice {
  /** The wish for a table of that name; null: it is not mirrored. */
  of(table: string): Wanted | null;
  /** The one table that rows without a `source` block belong to; null: there is no such one. */
  readonly only: Wanted | null;
  /** All wanted tables, where the file names each with its columns; null: the feed has to tell. */
  readonly closed: readonly Wanted[] | null;
}

export interface TableWishes {
  readonly tables: readonly SourceTable[];
  /** Null: there are no mappings, and every table is mirrored as it is. */
  readonly mapping: ((table: string) => MappingWish | null) | null;
  /** Patterns that the mappings name. */
  readonly mapped: readonly string[];
}

export function chooseTables(wishes: TableWishes): TableChoice {
  const { tables, mapping } = wishes;
  const known = new Map<string, Wanted | null>();
  const of = (table: string): Wanted | null => {
    let wanted = known.get(table);
    if (wanted !== undefined) return wanted;
    const entry =
      tables.find((t) => t.table === table) ?? tables.find((t) => matchesPattern(t.table, table));
    const mapped = mapping === null ? null : mapping(table);
    const isWanted =
      (tables.length === 0 || entry !== undefined) && (mapping === null || mapped !== null);
    wanted = isWanted ? wish(table, entry, mapped) : null;
    known.set(table, wanted);
    return wanted;
  };
  const names = tables.length > 0 ? tables.map((t) => t.table) : wishes.mapped;
  const isPlain = names.length > 0 && names.every((name) => !name.includes('*'));
  const all = isPlain ? names.map(of).filter((wanted) => wanted !== null) : [];
  return {
    of,
    only: all.length === 1 ? (all[0] ?? null) : null,
    closed: isPlain && all.every((w) => w.columns !== null) ? all : null,
  };
}

function wish(table: string, entry: SourceTable | undefined, mapped: MappingWish | null): Wanted {
  const key = mapped?.key ?? entry?.primary_key ?? [];
  const columns =
    entry?.columns === undefined
      ? (mapped?.columns ?? null)
      : Object.entries(entry.columns).map(([name, spec]): Column => ({
          name,
          type: spec.type,
          nullable: true,
          ...(spec.from === undefined ? {} : { from: spec.from }),
        }));
  return { table, columns, needed: mapped?.needed ?? null, key };
}

/** The name that a pipeline file calls a table by. */
export function tableName(parts: {
  db?: string | undefined;
  schema?: string | undefined;
  table?: string | undefined;
}): string | null {
  if (parts.table === undefined || parts.table === '') return null;
  const owner = parts.schema !== undefined && parts.schema !== '' ? parts.schema : parts.db;
  return owner === undefined || owner === '' ? parts.table : `${owner}.${parts.table}`;
}

const WIDER: Readonly<Record<string, readonly ColumnType[]>> = { int: ['long'], float: ['double'] };

/** Whether every value of `from` is one of `to`, as Iceberg's type promotions have it. */
function isPromotion(from: ColumnType, to: ColumnType): boolean {
  if (from === to) return true;
  const [a, b] = [/^decimal\((\d+),(\d+)\)$/.exec(from), /^decimal\((\d+),(\d+)\)$/.exec(to)];
  if (a !== null && b !== null) return a[2] === b[2] && Number(a[1]) <= Number(b[1]);
  return WIDER[from]?.includes(to) ?? false;
}

/**
 * The columns of a table after a change of its schema: old ones keep their place, new ones follow. A column that is
 * gone stays and reads null; a narrower type leaves the wider one in place.
 */
export function mergeColumns(
  table: string,
  old: readonly Column[],
  next: readonly Column[],
): readonly Column[] {
  const byName = new Map(next.map((column) => [column.name, column]));
  const kept = old.map((column): Column => {
    const now = byName.get(column.name);
    byName.delete(column.name);
    if (now === undefined) return { ...column, nullable: true };
    const nullable = column.nullable || now.nullable;
    if (isPromotion(column.type, now.type)) return { ...now, nullable };
    if (isPromotion(now.type, column.type)) return { ...now, type: column.type, nullable };
    throw new PipelineError(
      'E_TARGET_MISMATCH',
      `column ${column.name} of ${table} changes its type from ${column.type} to ${now.type} in the feed, which no table can follow`,
      { subject: { table, column: column.name } },
    );
  });
  return [...kept, ...[...byName.values()].map((column) => ({ ...column, nullable: true }))];
}
