/** Two tables of one key, compared by checksums over ranges of the key's hash, then row by row where these differ. */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { ColumnType } from '../model/types.ts';
import { id, join, sql, type Sql } from '../sql/sql.ts';
import { canonical, shown } from './convert.ts';

export interface RangeReport {
  readonly range: number;
  readonly expectedRows: number;
  readonly actualRows: number;
  /** Sum of the rows' 64-bit hashes, decimal; "0" for no rows. */
  readonly expectedChecksum: string;
  readonly actualChecksum: string;
}

export interface CellReport {
  readonly column: string;
  /** Null: the cell is null, or the row is not there. */
  readonly expected: string | null;
  readonly actual: string | null;
}

export interface RowReport {
  readonly kind: 'missing' | 'extra' | 'different';
  readonly key: Readonly<Record<string, string | null>>;
  /** Of a different row those that differ, else all. */
  readonly cells: readonly CellReport[];
}

export interface Side {
  /** SELECT with the columns `k0`… and `c0`…. */
  readonly rows: Sql;
  readonly keyTypes: readonly ColumnType[];
  readonly types: readonly ColumnType[];
}

export interface Comparison {
  readonly ranges: readonly RangeReport[];
  readonly missing: number;
  readonly extra: number;
  readonly different: number;
  readonly rows: readonly RowReport[];
}

const EXPECTED = id('reconcile_expected_hashes');
const ACTUAL = id('reconcile_actual_hashes');
const DIFFERENT = id('reconcile_different');

export async function compareTables(
  connection: DuckDBConnection,
  sides: { expected: Side; actual: Side },
  names: { keys: readonly string[]; columns: readonly string[] },
  limits: { ranges: number; rows: number },
): Promise<Comparison> {
  await hashSide(connection, EXPECTED, sides.expected, limits.ranges);
  await hashSide(connection, ACTUAL, sides.actual, limits.ranges);
  const ranges = await compareRanges(connection, limits.ranges);
  if (ranges.every(isEqualRange)) return { ranges, missing: 0, extra: 0, different: 0, rows: [] };
  const totals = await listDifferent(connection, sides.expected.keyTypes.length);
  return { ranges, ...totals, rows: await showRows(connection, sides, names, limits.rows) };
}

export function isEqualRange(range: RangeReport): boolean {
  return range.expectedRows === range.actualRows && range.expectedChecksum === range.actualChecksum;
}

export async function dropComparison(connection: DuckDBConnection): Promise<void> {
  for (const name of [EXPECTED, ACTUAL, DIFFERENT])
    await connection.run(sql`DROP TABLE IF EXISTS ${name}`.text);
}

async function hashSide(
  connection: DuckDBConnection,
  name: Sql,
  side: Side,
  ranges: number,
): Promise<void> {
  const keys = side.keyTypes.map((type, i) => canonical(id(`k${i}`), type));
  const cells = side.types.map((type, i) => canonical(id(`c${i}`), type));
  const named = join(keys.map((key, i) => sql`${key} AS ${id(`k${i}`)}`));
  await connection.run(
    sql`CREATE OR REPLACE TEMP TABLE ${name} AS
    SELECT ${named}, CAST(hash(${join(keys)}) % ${ranges} AS INTEGER) AS range, hash(${join([...keys, ...cells])}) AS h
    FROM (${side.rows})`.text,
  );
}

async function compareRanges(connection: DuckDBConnection, ranges: number): Promise<RangeReport[]> {
  const side = (name: Sql): Sql =>
    sql`(SELECT range, count(*) AS n, CAST(sum(h) AS VARCHAR) AS s FROM ${name} GROUP BY range)`;
  const found = await connection.runAndReadAll(
    sql`SELECT r, coalesce(e.n, 0), coalesce(a.n, 0), coalesce(e.s, '0'), coalesce(a.s, '0')
    FROM range(${ranges}) AS t(r) LEFT JOIN ${side(EXPECTED)} AS e ON e.range = r LEFT JOIN ${side(ACTUAL)} AS a ON a.range = r ORDER BY r`
      .text,
  );
  return found
    .getRows()
    .map(([range, expectedRows, actualRows, expectedChecksum, actualChecksum]) => ({
      range: Number(range),
      expectedRows: Number(expectedRows),
      actualRows: Number(actualRows),
      expectedChecksum: String(expectedChecksum),
      actualChecksum: String(actualChecksum),
    }));
}

/** A key that the table holds more than once is one row and extra ones. */
async function listDifferent(
  connection: DuckDBConnection,
  keyCount: number,
): Promise<{ missing: number; extra: number; different: number }> {
  const keys = Array.from({ length: keyCount }, (_, i) => id(`k${i}`));
  const same = join(
    keys.map((k) => sql`e.${k} IS NOT DISTINCT FROM a.${k}`),
    ' AND ',
  );
  const either = join(keys.map((k) => sql`coalesce(e.${k}, a.${k}) AS ${k}`));
  await connection.run(
    sql`CREATE OR REPLACE TEMP TABLE ${DIFFERENT} AS
    SELECT ${either}, e.h IS NOT NULL AND a.n IS NULL AS missing,
      CASE WHEN e.h IS NULL THEN a.n ELSE coalesce(a.n, 1) - 1 END AS extra,
      e.h IS NOT NULL AND a.n IS NOT NULL AND NOT list_contains(a.hs, e.h) AS different
    FROM ${EXPECTED} AS e FULL JOIN (
      SELECT ${join(keys)}, count(*) AS n, list(h) AS hs FROM ${ACTUAL} GROUP BY ${join(keys)}) AS a ON ${same}
    WHERE e.h IS NULL OR a.n IS NULL OR a.n > 1 OR NOT list_contains(a.hs, e.h)`.text,
  );
  const totals = await connection.runAndReadAll(
    sql`SELECT count(*) FILTER (WHERE missing), coalesce(sum(extra), 0), count(*) FILTER (WHERE different) FROM ${DIFFERENT}`
      .text,
  );
  const [missing, extra, different] = (totals.getRows()[0] ?? []).map(Number);
  return { missing: missing ?? 0, extra: extra ?? 0, different: different ?? 0 };
}

interface ShownRow {
  readonly key: readonly (string | null)[];
  readonly cells: readonly (string | null)[];
}

async function showRows(
  connection: DuckDBConnection,
  sides: { expected: Side; actual: Side },
  names: { keys: readonly string[]; columns: readonly string[] },
  limit: number,
): Promise<RowReport[]> {
  const expected = await readRows(connection, sides.expected, limit);
  const actual = await readRows(connection, sides.actual, limit);
  const reports: RowReport[] = [];
  for (const key of new Map(
    [...expected, ...actual].map((row) => [JSON.stringify(row.key), row.key]),
  ).values()) {
    const text = JSON.stringify(key);
    const of = (rows: readonly ShownRow[]): ShownRow[] =>
      rows.filter((row) => JSON.stringify(row.key) === text);
    reports.push(...reportKey(names, key, of(expected)[0], of(actual)));
  }
  return reports.slice(0, limit);
}

function reportKey(
  names: { keys: readonly string[]; columns: readonly string[] },
  key: readonly (string | null)[],
  expected: ShownRow | undefined,
  actual: readonly ShownRow[],
): RowReport[] {
  const named = Object.fromEntries(names.keys.map((name, i) => [name, key[i] ?? null]));
  const report = (
    kind: RowReport['kind'],
    e: ShownRow | undefined,
    a: ShownRow | undefined,
  ): RowReport => ({
    kind,
    key: named,
    cells: names.columns
      .map((column, i) => ({ column, expected: e?.cells[i] ?? null, actual: a?.cells[i] ?? null }))
      .filter((cell) => kind !== 'different' || cell.expected !== cell.actual),
  });
  if (expected === undefined) return actual.map((row) => report('extra', undefined, row));
  if (actual.length === 0) return [report('missing', expected, undefined)];
  const equal = actual.find((row) => JSON.stringify(row.cells) === JSON.stringify(expected.cells));
  const partner = equal ?? actual[0];
  return [
    ...(equal === undefined ? [report('different', expected, partner)] : []),
    ...actual.filter((row) => row !== partner).map((row) => report('extra', undefined, row)),
  ];
}

async function readRows(
  connection: DuckDBConnection,
  side: Side,
  limit: number,
): Promise<ShownRow[]> {
  const names = side.keyTypes.map((_, i) => id(`k${i}`));
  const keys = side.keyTypes.map((type, i) => shown(id(`k${i}`), type));
  const cells = side.types.map((type, i) => shown(id(`c${i}`), type));
  const match = side.keyTypes.map(
    (type, i) =>
      sql`d.${id(`k${i}`)} IS NOT DISTINCT FROM ${canonical(sql`r.${id(`k${i}`)}`, type)}`,
  );
  const found = await connection.runAndReadAll(
    sql`SELECT ${join([...keys, ...cells])}
    FROM (SELECT r.* FROM (${side.rows}) AS r
      SEMI JOIN (SELECT * FROM ${DIFFERENT} ORDER BY ${join(names)} LIMIT ${limit}) AS d ON ${join(match, ' AND ')})
    ORDER BY ALL`.text,
  );
  return found.getRows().map((row) => {
    const texts = row.map((cell) => (cell === null ? null : String(cell)));
    return { key: texts.slice(0, keys.length), cells: texts.slice(keys.length) };
  });
}
