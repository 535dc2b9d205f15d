import type { DuckDBConnection } from '@duckdb/node-api';
import { assert, PipelineError } from '../../model/errors.ts';
import { id, join, sql, type Sql } from '../../sql/sql.ts';
import type { FileMetrics } from '../iceberg/data-file.ts';
import {
  BOUND_LENGTH,
  booleanBytes,
  decimalBytes,
  floatBytes,
  intBytes,
  isDecimal,
  longBytes,
  lowerBinary,
  lowerText,
  upperBinary,
  upperText,
} from '../iceberg/bounds.ts';
import type { ParquetColumn } from './column.ts';

/** Counts and bounds of a file's columns, taken from its rows. */
export interface ColumnFigures {
  readonly rows: number;
  readonly metrics: Omit<FileMetrics, 'columnSizes'>;
}

type Side = 'lower' | 'upper';

/**
 * One aggregate over the rows. The engine's own file statistics are text cut at some length, with zeros of either sign
 * mixed and names quoted, so they do not serve as bounds.
 */
export async function measureColumns(
  connection: DuckDBConnection,
  select: Sql,
  columns: readonly ParquetColumn[],
): Promise<ColumnFigures> {
  const aggregates = columns.flatMap((column, i) => aggregatesOf(column, `c${i}`));
  const list = join([sql`count(*) AS rows`, ...aggregates]);
  const reader = await connection.runAndReadAll(
    sql`SELECT ${list} FROM (${select}) AS measured`.text,
  );
  const row = reader.getRowObjects()[0] ?? {};
  const rows = Number(row['rows']);
  const valueCounts = new Map<number, number>();
  const nullValueCounts = new Map<number, number>();
  const nanValueCounts = new Map<number, number>();
  const lowerBounds = new Map<number, Uint8Array>();
  const upperBounds = new Map<number, Uint8Array>();
  for (const [i, column] of columns.entries()) {
    const cell = (what: string): unknown => row[`c${i}_${what}`] ?? null;
    const nulls = rows - Number(cell('filled'));
    if (Number(cell('misfits') ?? 0) > 0) throw misfit(column);
    valueCounts.set(column.fieldId, rows);
    nullValueCounts.set(column.fieldId, nulls);
    if (isFloat(column)) nanValueCounts.set(column.fieldId, Number(cell('nans')));
    const lower = boundBytes(column, cell('lower'), 'lower');
    const upper = boundBytes(column, cell('upper'), 'upper');
    if (lower !== null) lowerBounds.set(column.fieldId, lower);
    if (upper !== null) upperBounds.set(column.fieldId, upper);
  }
  return {
    rows,
    metrics: { valueCounts, nullValueCounts, nanValueCounts, lowerBounds, upperBounds },
  };
}

function aggregatesOf(column: ParquetColumn, alias: string): Sql[] {
  const name = id(column.name);
  const parts = [sql`count(${name}) AS ${id(`${alias}_filled`)}`];
  if (isFloat(column))
    parts.push(sql`count(*) FILTER (WHERE isnan(${name})) AS ${id(`${alias}_nans`)}`);
  const length = fixedLength(column);
  if (length !== null) {
    parts.push(
      sql`count(*) FILTER (WHERE octet_length(${name}) <> ${length}) AS ${id(`${alias}_misfits`)}`,
    );
  }
  const lower = boundSql(column, 'lower');
  const upper = boundSql(column, 'upper');
  if (lower !== null) parts.push(sql`${lower} AS ${id(`${alias}_lower`)}`);
  if (upper !== null) parts.push(sql`${upper} AS ${id(`${alias}_upper`)}`);
  return parts;
}

function fixedLength(column: ParquetColumn): number | null {
  const match = typeof column.type === 'string' ? /^fixed\[(\d+)\]$/.exec(column.type) : null;
  return match === null ? null : Number(match[1]);
}

function misfit(column: ParquetColumn): PipelineError {
  const message = `The column ${JSON.stringify(column.name)} holds values that are not ${JSON.stringify(column.type)}`;
  return new PipelineError('E_VALUE_BINARY', message, { subject: { column: column.name } });
}

function isFloat(column: ParquetColumn): boolean {
  return column.type === 'float' || column.type === 'double';
}

// The bound in a form that JavaScript takes over exactly: whole numbers as BIGINT, decimals as text, long texts cut
// one code point behind the bound's length, which says that they were longer. UUIDs have no bounds, because readers
// do not agree on their order; infinite dates and timestamps have none either.
function boundSql(column: ParquetColumn, side: Side): Sql | null {
  const name = id(column.name);
  const pick = (value: Sql): Sql => (side === 'lower' ? sql`min(${value})` : sql`max(${value})`);
  const { type } = column;
  if (typeof type !== 'string') return null;
  if (isDecimal(type)) return sql`CAST(${pick(name)} AS VARCHAR)`;
  switch (type) {
    case 'boolean':
      return pick(name);
    case 'int':
    case 'long':
      return sql`CAST(${pick(name)} AS BIGINT)`;
    case 'float':
    case 'double':
      return sql`${pick(name)} FILTER (WHERE NOT isnan(${name}))`;
    case 'date':
      return sql`CASE WHEN isfinite(${pick(name)}) THEN CAST(${pick(name)} - DATE '1970-01-01' AS BIGINT) END`;
    case 'timestamp':
    case 'timestamptz':
    case 'time':
      return sql`epoch_us(${pick(name)})`;
    case 'string':
      return sql`left(${pick(name)}, ${BOUND_LENGTH + 1})`;
    case 'uuid':
      return null;
    default:
      return sql`array_slice(${pick(name)}, 1, ${BOUND_LENGTH + 1})`;
  }
}

function boundBytes(column: ParquetColumn, value: unknown, side: Side): Uint8Array | null {
  if (value === null) return null;
  const type = column.type as string;
  if (isDecimal(type)) return decimalBytes(value as string);
  switch (type) {
    case 'boolean':
      return booleanBytes(value as boolean);
    case 'int':
    case 'date':
      return intBytes(value as bigint);
    case 'long':
    case 'timestamp':
    case 'timestamptz':
    case 'time':
      return longBytes(value as bigint);
    case 'float':
    case 'double':
      return floatBytes(value as number, type, side);
    case 'string':
      return side === 'lower' ? lowerText(value as string) : upperText(value as string);
    default: {
      const { bytes } = value as { bytes?: Uint8Array };
      assert(bytes !== undefined, `a bound of ${type} is no blob`);
      return side === 'lower' ? lowerBinary(bytes) : upperBinary(bytes);
    }
  }
}
