/** Tables of a pipeline against their feed, as far as the last checkpoint has read it. */
import type { Table } from '../lake/catalog/catalog.ts';
import { ancestors, type Snapshot } from '../lake/iceberg/metadata.ts';
import { planScan, type ScanAt } from '../lake/iceberg/scan.ts';
import { scanSql } from '../lake/iceberg/scan-sql.ts';
import type { Checkpoint } from '../model/checkpoint-store.ts';
import { matchesPattern } from '../model/pattern.ts';
import type { PipelineSpec } from '../model/spec.ts';
import { expectedTables, type ExpectedTable } from '../reconcile/expected-table.ts';
import { reconcile, type ReconcileReport } from '../reconcile/reconcile.ts';
import { duckdbType } from '../sql/casts.ts';
import { id, join, sql, type Sql } from '../sql/sql.ts';
import type { ColumnType } from '../model/types.ts';
import { withScratch } from './query/run-query.ts';
import { feedState, unreadBytes, waitingLetters, type FeedState } from './state.ts';
import type { Terminal } from './terminal.ts';
import { tablesNamed, unknownTable, type Warehouse } from './warehouse.ts';

export interface Proof {
  /** `ns.t`. */
  readonly table: string;
  /** Null: neither the lake nor the feed knows the table. */
  readonly report: ReconcileReport | null;
  readonly isOnLake: boolean;
  /** Whether what is on the lake is what the feed says. */
  readonly equal: boolean;
}

type Feed = Parameters<typeof reconcile>[1]['feed'];

/** @param names tables as `ns.t` or `t`; none: all. @throws E_NOT_FOUND, E_SOURCE_PATH, and what reconcile throws */
export async function* proveTables(
  spec: PipelineSpec,
  last: Checkpoint,
  {
    warehouse,
    names,
    terminal,
  }: {
    readonly warehouse: Warehouse;
    readonly names: readonly string[];
    readonly terminal: Terminal;
  },
): AsyncGenerator<Proof> {
  const state = await feedState(spec, last);
  warnOfChanges(state, terminal);
  const feed = await readFeed(spec, state);
  for (const expected of chosen(
    expectedTables(spec, discovered(spec, state)),
    names,
    warehouse.dir,
  )) {
    const { namespace, name } = expected;
    const table = await warehouse.catalog.loadTable({ namespace, name });
    const label = `${namespace}.${name}`;
    const isMet = expected.sources.some((source) => Object.hasOwn(state.columns, source.table));
    if (table === null && !isMet) {
      yield { table: label, report: null, isOnLake: false, equal: true };
      continue;
    }
    const tableSql =
      table === null
        ? emptyTable(expected, state)
        : scanSql(await planScan(table, asOf(table, spec.pipeline_id, last.mark.id)));
    const report = await withScratch((db) =>
      reconcile(db.connection, { feed, table: label, tableSql, expected }),
    );
    yield { table: label, report, isOnLake: table !== null, equal: report.equal };
  }
}

/** What stands for a table that nothing was written to: right where all its changes are dead letters. */
function emptyTable({ sources }: ExpectedTable, { columns }: FeedState): Sql {
  const typed = sources.flatMap(({ table, rid, values }): [string, ColumnType][] => [
    ...(rid === undefined ? [] : [['rid', 'string'] as [string, ColumnType]]),
    ...(values === null
      ? (columns[table] ?? []).map((c): [string, ColumnType] => [c.name, c.type])
      : values.map((v): [string, ColumnType] => [v.column, v.type ?? v.sourceType ?? 'string'])),
  ]);
  const nulls = [...new Map(typed)].map(
    ([name, type]) => sql`CAST(NULL AS ${duckdbType(type)}) AS ${id(name)}`,
  );
  return sql`SELECT ${join(nulls)} WHERE FALSE`;
}

/** The table as the checkpoint left it, although a run may have gone on since. */
function asOf({ metadata }: Table, pipelineId: string, checkpoint: number): ScanAt {
  const isLater = ({ summary }: Snapshot): boolean =>
    summary['lakeward.pipeline-id'] === pipelineId &&
    Number(summary['lakeward.checkpoint-id']) > checkpoint;
  const [newest, ...older] = ancestors(metadata);
  if (newest === undefined || !isLater(newest)) return 'current';
  const found = older.find((snapshot) => !isLater(snapshot));
  return found === undefined ? 'current' : { snapshotId: found['snapshot-id'] };
}

function warnOfChanges(state: FeedState, { warn, errorPaint }: Terminal): void {
  const grown = state.files.filter((file) => file.progress !== null && unreadBytes(file) !== 0);
  for (const name of state.changed)
    warn(`${errorPaint.yellow('warning')}  ${name} is not the file that was read`);
  for (const { name } of grown.filter((file) => file !== lastRead(state))) {
    warn(
      `${errorPaint.yellow('warning')}  ${name} has grown since it was read: run the pipeline first`,
    );
  }
}

const lastRead = ({ files }: FeedState): FeedState['files'][number] | undefined =>
  files.findLast(({ progress }) => progress !== null);

/** The part of the feed that has been read, without the dead letters that wait. */
async function readFeed(spec: PipelineSpec, state: FeedState): Promise<Feed> {
  const files = state.files.filter(({ progress }) => progress !== null);
  const pathOf = (name: string): string => files.find((file) => file.name === name)?.path ?? name;
  const leaveOut = (await waitingLetters(spec)).map(({ file, line }) => ({
    file: pathOf(file),
    line,
  }));
  const last = lastRead(state);
  const line = last?.progress?.line ?? null;
  const isCut = last !== undefined && line !== null && unreadBytes(last) !== 0;
  return {
    files: files.map(({ path }) => path),
    leaveOut,
    until: isCut ? { file: last.path, line } : undefined,
  };
}

/** What a run has found out of the tables that the file does not describe. */
function discovered(
  spec: PipelineSpec,
  { columns }: FeedState,
): Parameters<typeof expectedTables>[1] {
  const keyOf = (name: string): readonly string[] =>
    spec.source.tables?.find(({ table }) => matchesPattern(table, name))?.primary_key ?? [];
  return Object.fromEntries(
    Object.entries(columns).map(([name, found]) => [name, { columns: found, key: keyOf(name) }]),
  );
}

function chosen(
  all: readonly ExpectedTable[],
  names: readonly string[],
  dir: string,
): readonly ExpectedTable[] {
  if (names.length === 0) return all;
  const found = names.flatMap((name) => {
    const tables = tablesNamed(all, name);
    if (tables.length === 0) throw unknownTable('E_NOT_FOUND', name, dir, all);
    return tables;
  });
  return all.filter((table) => found.includes(table));
}
