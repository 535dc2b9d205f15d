/** The tables of a warehouse, by the names that people type. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { nearest } from '../config/did-you-mean.ts';
import { tableText, type Catalog, type Table, type TableRef } from '../lake/catalog/catalog.ts';
import { hadoopCatalog } from '../lake/catalog/hadoop.ts';
import type { ScanAt } from '../lake/iceberg/scan.ts';
import { PipelineError } from '../model/errors.ts';
import { localLocation, localStore } from '../storage/local.ts';
import { usage } from './fail.ts';
import { DEFAULT_PIPELINE } from './tree/does.ts';

export interface WarehouseChoice {
  /** The pipeline as an argument, and as an option. */
  readonly path?: string | undefined;
  readonly pipeline?: string | undefined;
  readonly warehouse?: string | undefined;
}

export interface Warehouse {
  readonly dir: string;
  readonly catalog: Catalog;
}

/** @throws E_USAGE, E_NOT_FOUND, ConfigError */
export async function openWarehouse(choice: WarehouseChoice): Promise<Warehouse> {
  const dir = await folderOf(choice);
  return { dir, catalog: hadoopCatalog({ warehouse: localLocation(dir), store: localStore }) };
}

async function folderOf({ path, pipeline, warehouse }: WarehouseChoice): Promise<string> {
  const named = [path, pipeline, warehouse].filter((name) => name !== undefined);
  if (named.length > 1) throw usage(`name one warehouse, not ${named.length}: ${named.join(', ')}`);
  if (warehouse !== undefined) {
    const found = await stat(warehouse).catch(() => null);
    if (found?.isDirectory() !== true)
      throw new PipelineError('E_NOT_FOUND', `there is no folder ${warehouse}`);
    return resolve(warehouse);
  }
  const file = path ?? pipeline ?? DEFAULT_PIPELINE;
  if (file === DEFAULT_PIPELINE && (await stat(file).catch(() => null)) === null) {
    throw usage(
      `there is no ${DEFAULT_PIPELINE} here: name a pipeline file, or give --warehouse DIR`,
    );
  }
  const { loadPipeline } = await import('../config/load.ts');
  return (await loadPipeline(file)).spec.sink.iceberg_warehouse;
}

/**
 * The tables that a name may mean: `ns.t`, or `t` in whatever namespace. As the engine takes names, capitals do not
 * count, unless there is one that is spelled just so.
 */
export function tablesNamed(refs: readonly TableRef[], name: string): readonly TableRef[] {
  const spelled = refs.filter((ref) => tableText(ref) === name || ref.name === name);
  if (spelled.length > 0) return spelled;
  const lower = name.toLowerCase();
  return refs.filter(
    (ref) => tableText(ref).toLowerCase() === lower || ref.name.toLowerCase() === lower,
  );
}

/** The one table of that name. @throws E_NOT_FOUND, also where a plain name means several tables */
export async function loadNamed(warehouse: Warehouse, name: string): Promise<Table> {
  const refs = await warehouse.catalog.listTables();
  const found = tablesNamed(refs, name);
  const exact =
    found.find((ref) => tableText(ref) === name) ?? (found.length === 1 ? found[0] : undefined);
  const table = exact === undefined ? null : await warehouse.catalog.loadTable(exact);
  if (table === null) throw unknownTable('E_NOT_FOUND', name, warehouse.dir, refs);
  return table;
}

export function unknownTable(
  code: 'E_NOT_FOUND' | 'E_QUERY',
  name: string,
  dir: string,
  refs: readonly TableRef[],
): PipelineError {
  const found = tablesNamed(refs, name).map(tableText);
  if (found.length > 1) return new PipelineError(code, `${name} may be ${found.join(' or ')}`);
  const near = nearest(
    name,
    refs.flatMap((ref) => [tableText(ref), ref.name]),
  );
  const hint =
    refs.length === 0
      ? ', which holds no tables'
      : near === undefined
        ? ''
        : `; did you mean ${near}?`;
  return new PipelineError(code, `there is no table ${name} in ${dir}${hint}`);
}

const TIME =
  /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/u;

/** `--at`: digits are a snapshot id; a time without a zone is UTC. @throws E_USAGE */
export function scanAtOf(text: string | undefined): ScanAt {
  if (text === undefined) return 'current';
  if (/^\d{1,19}$/u.test(text)) return { snapshotId: BigInt(text) };
  const match = TIME.exec(text);
  const zone = match?.[1] === undefined && text.length > 10 ? 'Z' : '';
  const timestampMs = match === null ? NaN : Date.parse(`${text.replace(' ', 'T')}${zone}`);
  if (Number.isNaN(timestampMs))
    throw usage(`--at ${text} is neither a snapshot id nor a time such as 2026-01-31T12:00:00Z`);
  return { timestampMs };
}
