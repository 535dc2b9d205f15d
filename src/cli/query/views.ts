/** Tables of a warehouse as views of the engine. */
import type { TableRef } from '../../lake/catalog/catalog.ts';
import { planScan, type ScanAt, type ScanPlan } from '../../lake/iceberg/scan.ts';
import { scanSql } from '../../lake/iceberg/scan-sql.ts';
import type { Database } from '../../sql/database.ts';
import { id, join, raw, sql } from '../../sql/sql.ts';
import { localPath } from '../../storage/local.ts';
import { tablesNamed, type Warehouse } from '../warehouse.ts';

/**
 * Makes a view `ns.t` of every table that is named (null: of all), and a plain `t` where one table alone has the name.
 * From then on the engine reads the files of these tables and nothing else. Returns the names that no table has.
 */
export async function makeViews(
  db: Database,
  { catalog }: Warehouse,
  {
    refs: all,
    names,
    at,
  }: {
    readonly refs: readonly TableRef[];
    readonly names: readonly string[] | null;
    readonly at: ScanAt;
  },
): Promise<readonly string[]> {
  const chosen =
    names === null ? all : [...new Set(names.flatMap((name) => tablesNamed(all, name)))];
  const readable: string[] = [];
  for (const ref of chosen) {
    const table = await catalog.loadTable(ref);
    if (table === null) continue; // dropped meanwhile
    const plan = await planScan(table, at);
    await db.run(sql`CREATE SCHEMA IF NOT EXISTS ${id(ref.namespace)}`);
    await db.run(sql`CREATE VIEW ${id(ref.namespace, ref.name)} AS ${scanSql(plan)}`);
    if (isOnly(ref, all))
      await db.run(sql`CREATE VIEW ${id('main', ref.name)} AS FROM ${id(ref.namespace, ref.name)}`);
    readable.push(...filesOf(plan));
  }
  await lockFiles(db, readable);
  return (names ?? []).filter((name) => !isKnown(name, all));
}

// The engine's functions can read any file of this machine; a query over tables has no business there.
async function lockFiles(db: Database, files: readonly string[]): Promise<void> {
  await db.run(sql`SET allowed_paths = [${join(files)}]`);
  await db.run(raw('SET enable_external_access = false; SET lock_configuration = true'));
}

/** A plain name is no table's where several namespaces have it. */
function isKnown(name: string, all: readonly TableRef[]): boolean {
  const found = tablesNamed(all, name);
  return (
    found.some((ref) => name.includes('.') || isOnly(ref, all)) ||
    /^(?:information_schema|pg_catalog)\./iu.test(name)
  );
}

function isOnly(ref: TableRef, all: readonly TableRef[]): boolean {
  const same = all.filter(({ name }) => name.toLowerCase() === ref.name.toLowerCase());
  return same.length === 1 && ref.namespace.toLowerCase() !== 'main';
}

function filesOf(plan: ScanPlan): readonly string[] {
  return [...plan.dataFiles, ...plan.equalityDeletes, ...plan.positionDeletes].map(({ file }) =>
    localPath(file.path),
  );
}
