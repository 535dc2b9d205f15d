/** One reading statement over the tables of a warehouse. */
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  StatementType,
  type DuckDBConnection,
  type DuckDBPreparedStatement,
  type DuckDBResult,
} from '@duckdb/node-api';
import type { ScanAt } from '../../lake/iceberg/scan.ts';
import { isPipelineError, PipelineError } from '../../model/errors.ts';
import { Database } from '../../sql/database.ts';
import { unknownTable, type Warehouse } from '../warehouse.ts';
import { tablesIn } from './tables-in.ts';
import { makeViews } from './views.ts';

/**
 * Hands the rows over as they come in.
 * @throws E_QUERY, E_NOT_FOUND (no such snapshot), and what `consume` throws
 */
export async function runQuery<T>(
  query: string,
  { warehouse, at }: { readonly warehouse: Warehouse; readonly at: ScanAt },
  consume: (result: DuckDBResult) => Promise<T>,
): Promise<T> {
  return await withScratch(async (db) => {
    const refs = await warehouse.catalog.listTables();
    const [unknown] = await makeViews(db, warehouse, {
      refs,
      names: tablesIn(db.connection, query),
      at,
    });
    const statement = await prepare(db.connection, query).catch((error: unknown) => {
      throw unknown === undefined
        ? queryError(error)
        : unknownTable('E_QUERY', unknown, warehouse.dir, refs);
    });
    try {
      return await consume(await statement.stream());
    } catch (error) {
      throw queryError(error);
    }
  });
}

/** An engine of its own, which may spill to a folder that is gone afterwards. */
export async function withScratch<T>(work: (db: Database) => Promise<T>): Promise<T> {
  const spillDir = await mkdtemp(join(tmpdir(), 'lakeward-'));
  try {
    await using db = await Database.open({ spillDir, threads: availableParallelism() });
    return await work(db);
  } finally {
    await rm(spillDir, { recursive: true, force: true });
  }
}

const SPACE = String.raw`(?:\s|--[^\n]*(?:\n|$)|/\*[\s\S]*?\*/)`;
const VERBS = 'select|with|from|values|table|describe|desc|show|summarize|pivot|unpivot';
const READING = new RegExp(String.raw`^(?:${SPACE}|\()*(?:${VERBS})\b`, 'iu');
const EXPLAIN = new RegExp(
  String.raw`^${SPACE}*explain\b${SPACE}*(?:analyze\b${SPACE}*)?(?:\([\w\s,]*\)${SPACE}*)?`,
  'iu',
);

/** The engine runs what it is asked to explain and analyze, so that has to be a reading statement too. */
async function prepare(
  connection: DuckDBConnection,
  query: string,
): Promise<DuckDBPreparedStatement> {
  const inner = query.replace(EXPLAIN, '');
  const statement = await prepareSelect(connection, inner);
  return inner === query ? statement : await prepareOne(connection, query);
}

async function prepareSelect(
  connection: DuckDBConnection,
  query: string,
): Promise<DuckDBPreparedStatement> {
  if (!READING.test(query)) throw readsOnly();
  const statement = await prepareOne(connection, query);
  if (statement.statementType !== StatementType.SELECT) throw readsOnly();
  return statement;
}

async function prepareOne(
  connection: DuckDBConnection,
  query: string,
): Promise<DuckDBPreparedStatement> {
  const statements = await connection.extractStatements(query);
  const { count } = statements;
  if (count !== 1) throw new PipelineError('E_QUERY', `one statement at a time, not ${count}`);
  return await statements.prepare(0);
}

function readsOnly(): PipelineError {
  return new PipelineError(
    'E_QUERY',
    'a query reads only: SELECT, WITH, FROM, VALUES, DESCRIBE, SHOW, SUMMARIZE or EXPLAIN',
  );
}

function queryError(error: unknown): PipelineError {
  if (isPipelineError(error)) return error;
  const text = error instanceof Error ? error.message : String(error);
  return new PipelineError('E_QUERY', text.replace(/^Failed to [a-z ]+: /u, '').trim(), {
    cause: error,
  });
}
