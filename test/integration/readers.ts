/** The foreign readers of Iceberg tables, our own scan planner beside them, and what it means that they agree. */
import { join } from 'node:path';
import { afterAll, expect, type TestContext } from 'vitest';
import { hadoopCatalog } from '../../src/lake/catalog/hadoop.ts';
import type { Table } from '../../src/lake/catalog/catalog.ts';
import { scanSql } from '../../src/lake/iceberg/scan-sql.ts';
import { planScan, type ScanAt } from '../../src/lake/iceberg/scan.ts';
import { Database, type Cell } from '../../src/sql/database.ts';
import { id, join as joinSql, sql, type Sql } from '../../src/sql/sql.ts';
import { localLocation, localStore } from '../../src/storage/local.ts';
import type { DuckdbJudge } from '../kit/judges/duckdb-judge.ts';
import type { FlinkJudge } from '../kit/judges/flink-judge.ts';
import { judgeOrSkip } from '../kit/judges/judge-or-skip.ts';
import type { SparkJudge } from '../kit/judges/spark-judge.ts';
import { rowsOf, sameRows, type Rows, type WireRows } from '../kit/judges/wire.ts';

export interface Readers {
  readonly spark: Pick<SparkJudge, 'sql'>;
  readonly flink: FlinkJudge;
  /** Null: this table is one that DuckDB's extension cannot read. */
  readonly duckdb: DuckdbJudge | null;
}

/** Those that read equality deletes; PyIceberg does not. Ends the test where one of them is absent. */
export async function readersOrSkip(
  context: TestContext,
): Promise<Readers & { readonly spark: SparkJudge; readonly duckdb: DuckdbJudge }> {
  const [spark, flink, duckdb] = await Promise.all([
    judgeOrSkip('spark', context),
    judgeOrSkip('flink', context),
    judgeOrSkip('duckdb', context),
  ]);
  return { spark, flink, duckdb };
}

export interface TableAt {
  /** Absolute path of the hadoop catalog's folder. */
  readonly warehouse: string;
  /** One level, which is what Flink's catalog can name. */
  readonly namespace: string;
  readonly name: string;
}

export const folderOf = (table: TableAt): string =>
  join(table.warehouse, table.namespace, table.name);

/** For the SQL of Spark and Flink, without the catalog. */
const quotedName = ({ namespace, name }: TableAt): string => `${tick(namespace)}.${tick(name)}`;

const tick = (name: string): string => `\`${name.replaceAll('`', '``')}\``;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Rows as Flink shows them: it has no UUIDs, only their bytes. */
function inFlink(rows: Rows): Rows {
  const cell = (text: string | null): string | null =>
    text !== null && UUID.test(text) ? `0x${text.replaceAll('-', '')}` : text;
  return { columns: rows.columns, rows: rows.rows.map((row) => row.map(cell)) };
}

/** Every reader, each by its name in what is thrown, sees exactly these rows in the table of now. */
export async function everyReaderSees(
  readers: Readers,
  table: TableAt,
  expected: Rows,
): Promise<void> {
  await everyReaderSeesEach(readers, [{ table, expected }]);
}

/** The same for several tables of one warehouse, which costs less than one by one. */
export async function everyReaderSeesEach(
  { spark, flink, duckdb }: Readers,
  tables: readonly { readonly table: TableAt; readonly expected: Rows }[],
): Promise<void> {
  const warehouse = tables[0]?.table.warehouse ?? '';
  const queries = tables.map(({ table }) => `SELECT * FROM lake.${quotedName(table)}`);
  for (const { table, expected } of tables) {
    await sees(`Lakeward on ${table.name}`, ownRows(table), expected);
    if (duckdb === null) continue;
    await sees(`DuckDB on ${table.name}`, duckdb.read(folderOf(table)), expected);
  }
  const inSpark = await spark.sql(warehouse, queries);
  const inFlinkRows = await flink.sql(warehouse, queries, { mode: 'batch' });
  for (const [i, { table, expected }] of tables.entries()) {
    await sees(`Spark on ${table.name}`, inSpark[i], expected);
    await sees(`Flink on ${table.name}`, inFlinkRows[i], inFlink(expected));
  }
}

/** @throws with the reader's name where it does not see the rows */
export async function sees(
  reader: string,
  actual: Promise<Rows> | Rows | undefined,
  expected: Rows,
): Promise<void> {
  try {
    sameRows((await actual) ?? { columns: [], rows: [] }, expected);
  } catch (cause) {
    throw new Error(`${reader}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

/** One version of a table, as its snapshot left it. */
export interface Version {
  readonly operation: 'append' | 'overwrite' | 'delete' | 'replace';
  readonly rows: Rows;
  /** The same in the columns of today, where those are others: so Flink shows every version. */
  readonly inTodaysColumns?: Rows;
}

/**
 * Every reader knows exactly these versions, oldest first, and sees each one's rows when it travels there.
 */
export async function everyReaderTravels(
  { spark, flink, duckdb }: Readers,
  table: TableAt,
  versions: readonly Version[],
): Promise<void> {
  const snapshots = await ownSnapshots(table);
  const ids = snapshots.map((snapshot) => snapshot.id);
  expect(snapshots.map((snapshot) => snapshot.operation)).toEqual(versions.map((v) => v.operation));
  const known = snapshots.map((snapshot) => [snapshot.id, snapshot.operation]);
  const name = `lake.${quotedName(table)}`;
  const [sparkKnows, ...sparkSees] = await spark.sql(table.warehouse, [
    `SELECT CAST(snapshot_id AS STRING), operation FROM ${name}.snapshots ORDER BY committed_at, snapshot_id`,
    ...ids.map((snapshot) => `SELECT * FROM ${name} VERSION AS OF ${snapshot}`),
  ]);
  expect(sorted(sparkKnows?.rows)).toEqual(sorted(known));
  const duckdbKnows = await duckdb?.snapshots(folderOf(table));
  if (duckdbKnows !== undefined) expect(duckdbKnows.rows.map((row) => row[1])).toEqual(ids);
  const flinkSees = await flink.sql(
    table.warehouse,
    ids.map((snapshot) => `SELECT * FROM ${name} /*+ OPTIONS('snapshot-id'='${snapshot}') */`),
    { mode: 'batch' },
  );
  for (const [i, { rows, inTodaysColumns = rows }] of versions.entries()) {
    const at = `at version ${i + 1}`;
    const snapshot = ids[i] ?? '';
    await sees(`Lakeward ${at}`, ownRows(table, { snapshotId: BigInt(snapshot) }), rows);
    await sees(`Spark ${at}`, sparkSees[i], rows);
    await sees(`Flink ${at}`, flinkSees[i], inFlink(inTodaysColumns));
    if (duckdb === null) continue;
    const query = `SELECT * FROM iceberg_scan('${folderOf(table).replaceAll("'", "''")}', snapshot_from_id = ${snapshot})`;
    await sees(`DuckDB ${at}`, duckdb.query(query), rows);
  }
}

const sorted = (rows: Rows['rows'] | undefined): unknown[] =>
  (rows ?? []).map((row) => JSON.stringify(row)).toSorted();

/** @throws where there is no such table */
async function ownTable({ warehouse, namespace, name }: TableAt): Promise<Table> {
  const catalog = hadoopCatalog({ warehouse: localLocation(warehouse), store: localStore });
  const table = await catalog.loadTable({ namespace, name });
  if (table === null) throw new Error(`there is no table ${namespace}.${name} in the warehouse`);
  return table;
}

export interface OwnSnapshot {
  readonly id: string;
  readonly operation: string;
  readonly summary: Readonly<Record<string, string>>;
}

/** Oldest first. */
export async function ownSnapshots(at: TableAt): Promise<readonly OwnSnapshot[]> {
  const { snapshots = [] } = (await ownTable(at)).metadata;
  return snapshots
    .toSorted((a, b) => a['sequence-number'] - b['sequence-number'])
    .map(({ summary, ...snapshot }) => ({
      id: String(snapshot['snapshot-id']),
      operation: summary['operation'] ?? '',
      summary,
    }));
}

let engine: Promise<Database> | undefined;
afterAll(async () => (await engine)?.[Symbol.asyncDispose]());

/** What our own scan planner sees, in the judges' text. */
export async function ownRows(at: TableAt, version: ScanAt = 'current'): Promise<Rows> {
  engine ??= Database.open();
  const plan = await planScan(await ownTable(at), version);
  const { fields } = plan.schema;
  const texts = fields.map((f) => sql`${textSql(id(f.name), String(f.type))} AS ${id(f.name)}`);
  const found = await (await engine).rows(sql`SELECT ${joinSql(texts)} FROM (${scanSql(plan)})`);
  const rows = found.map((row) => fields.map((f) => wireCell(row[f.name] ?? null, String(f.type))));
  return rowsOf({ columns: fields.map((f) => f.name), rows });
}

function textSql(value: Sql, type: string): Sql {
  if (type === 'float' || type === 'double') return value;
  if (type === 'binary' || type.startsWith('fixed')) return sql`'0x' || lower(hex(${value}))`;
  const text = sql`CAST(${value} AS VARCHAR)`;
  if (type === 'timestamp') return sql`replace(${text}, ' ', 'T')`;
  return type === 'timestamptz' ? sql`replace(replace(${text}, ' ', 'T'), '+00', 'Z')` : text;
}

function wireCell(value: Cell, type: string): WireRows['rows'][number][number] {
  if (value === null || typeof value === 'string') return value;
  const number = Number(value);
  if (!Number.isFinite(number) || Object.is(number, -0))
    return Object.is(number, -0) ? '-0' : String(number);
  return type === 'float' ? { f: number } : number;
}
