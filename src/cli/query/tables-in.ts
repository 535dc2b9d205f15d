import type { DuckDBConnection } from '@duckdb/node-api';

/** Statements that may read tables which their text does not name. */
const READS_ALL =
  /\b(?:show|describe|desc|pivot|unpivot|information_schema|duckdb_\w+|pg_\w+|sqlite_\w+)\b/iu;

/**
 * The tables that a query names, as `t` or `ns.t`; null: perhaps every one. The engine's own parser finds them, so
 * that comments, quotes and common table expressions are no trouble; it adds aliases.
 */
export function tablesIn(connection: DuckDBConnection, query: string): readonly string[] | null {
  const names = connection.getTableNames(query, true).map(unquoted);
  return names.length === 0 && READS_ALL.test(query) ? null : names;
}

const PART = String.raw`"(?:[^"]|"")*"|[^."\s]+`;
const NAME = new RegExp(String.raw`^(?:${PART})(?:\.(?:${PART}))*`, 'u');

/** `"a.b"."c""d" AS x` → `a.b.c"d`. */
function unquoted(name: string): string {
  const parts = (NAME.exec(name)?.[0] ?? name).match(new RegExp(PART, 'gu')) ?? [];
  return parts
    .map((part) => (part.startsWith('"') ? part.slice(1, -1).replaceAll('""', '"') : part))
    .join('.');
}
