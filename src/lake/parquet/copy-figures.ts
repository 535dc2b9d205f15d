import type { DuckDBMapValue, DuckDBResultReader } from '@duckdb/node-api';
import { id } from '../../sql/sql.ts';
import type { ParquetColumn } from './column.ts';

/** What the engine reports about a file that it wrote (`RETURN_STATS`): exact counts and sizes. */
export interface CopyFigures {
  readonly rows: number;
  readonly fileBytes: number;
  /** Column name → bytes, compressed. */
  readonly columnBytes: ReadonlyMap<string, number>;
  readonly nullColumns: ReadonlySet<string>;
}

export function copyFigures(
  reader: DuckDBResultReader,
  columns: readonly ParquetColumn[],
): CopyFigures {
  const row = reader.getRowObjects()[0] ?? {};
  const byColumn = entriesOf(row['column_statistics']);
  const columnBytes = new Map<string, number>();
  const nullColumns = new Set<string>();
  for (const { name } of columns) {
    const figures = entriesOf(byColumn.get(id(name).text)); // the engine names its columns quoted
    const bytes = Number(figures.get('column_size_bytes') ?? Number.NaN);
    if (Number.isSafeInteger(bytes)) columnBytes.set(name, bytes);
    if (Number(figures.get('null_count') ?? 0) > 0) nullColumns.add(name);
  }
  return {
    rows: Number(row['count'] ?? 0),
    fileBytes: Number(row['file_size_bytes'] ?? 0),
    columnBytes,
    nullColumns,
  };
}

function entriesOf(value: unknown): ReadonlyMap<unknown, unknown> {
  const entries = (value as DuckDBMapValue | undefined)?.entries ?? [];
  return new Map(entries.map((entry) => [entry.key, entry.value]));
}
