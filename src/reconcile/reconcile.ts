/**
 * Proves a table on the lake against its feed by an independent path: the raw files read again, folded by key in one
 * statement, given the declared meaning by SQL of its own, and compared with what the table's reader gives. Shares no
 * code with the engine, so a fault would have to be made twice to stay hidden.
 *
 * What it cannot see: a number in a `double` column beyond a double's digits (none is lost: the column is one); white
 * space within a nested JSON value; an encoding that changes within a feed.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import { PipelineError } from '../model/errors.ts';
import type { ColumnType } from '../model/types.ts';
import { id, join, sql, type Sql } from '../sql/sql.ts';
import {
  compareTables,
  dropComparison,
  isEqualRange,
  type RangeReport,
  type RowReport,
  type Side,
} from './compare.ts';
import { columnTypeOf } from './convert.ts';
import { encodingsOf } from './encodings.ts';
import type { ExpectedTable } from './expected-table.ts';
import { landFeed, type Feed, type FeedPlace, type LandedFeed } from './feed-table.ts';
import { dropFold, foldFeed, type Folded } from './fold.ts';
import {
  needsEncodings,
  planTable,
  readColumns,
  type ActualColumn,
  type FeedEncodings,
  type Plan,
} from './plan.ts';

export interface ReconcileInput {
  readonly feed: Feed;
  /** Name for the report. */
  readonly table: string;
  /** SELECT of the table on the lake. */
  readonly tableSql: Sql;
  readonly expected: ExpectedTable;
  /** Key ranges to take checksums of; default 64. */
  readonly ranges?: number | undefined;
  /** Differing rows to show; default 20. */
  readonly maxRows?: number | undefined;
}

export interface SchemaDifference {
  readonly column: string;
  /** Null: no such column. */
  readonly expected: string | null;
  readonly actual: string | null;
}

export interface ReconcileReport {
  readonly table: string;
  /** The verdict: same columns, same rows, same values. */
  readonly equal: boolean;
  readonly feed: {
    readonly files: number;
    /** Lines that are not blank. */
    readonly lines: number;
    /** Changes of this table that were weighed; a change of key counts as two. */
    readonly changes: number;
    readonly truncates: number;
    /** Lines left out as dead letters. */
    readonly leftOut: number;
    /** Changes that cannot be represented, yet were not named as dead letters: not applied. */
    readonly refused: number;
    readonly refusedAt: readonly FeedPlace[];
  };
  readonly rows: { readonly expected: number; readonly actual: number };
  readonly schema: readonly SchemaDifference[];
  readonly ranges: readonly RangeReport[];
  readonly missing: number;
  readonly extra: number;
  readonly different: number;
  /** The first of them, by key. */
  readonly differences: readonly RowReport[];
}

const FEED = id('reconcile_feed');
const FOLDED = id('reconcile_expected');

/**
 * One run at a time on a connection: the work lies in temporary tables `reconcile_…`, dropped at the end.
 * @throws E_SOURCE_READ, E_CONFIG_SQL (a filter or route that is no predicate), E_QUERY (a type no table has)
 */
export async function reconcile(
  connection: DuckDBConnection,
  input: ReconcileInput,
): Promise<ReconcileReport> {
  try {
    const actual = await describe(connection, input);
    const plan = planTable(input.expected, actual, await readEncodings(connection, input));
    const sources = plan.sources.map(({ table, onlyTable }) => ({ table, onlyTable }));
    const landed = await landFeed(connection, FEED, input.feed, { sources, ...readColumns(plan) });
    const folded = await foldFeed(connection, landed, plan, FOLDED);
    return await report(connection, input, { plan, actual, landed, folded });
  } finally {
    await dropFold(connection);
    await dropComparison(connection);
    for (const name of [FEED, FOLDED, id('reconcile_exact')])
      await connection.run(sql`DROP TABLE IF EXISTS ${name}`.text);
  }
}

async function report(
  connection: DuckDBConnection,
  input: ReconcileInput,
  state: { plan: Plan; actual: readonly ActualColumn[]; landed: LandedFeed; folded: Folded },
): Promise<ReconcileReport> {
  const { plan, actual, landed, folded } = state;
  const schema = schemaDifferences(plan.columns, actual);
  const maxRows = input.maxRows ?? 20;
  const { sides, names } = sidesOf(plan, actual, input);
  const compared = await compareTables(connection, sides, names, {
    ranges: input.ranges ?? 64,
    rows: maxRows,
  });
  const sum = (rows: 'expectedRows' | 'actualRows'): number =>
    compared.ranges.reduce((n, range) => n + range[rows], 0);
  return {
    table: input.table,
    equal: schema.length === 0 && compared.ranges.every(isEqualRange),
    feed: {
      files: input.feed.files.length,
      lines: landed.rows,
      changes: folded.changes,
      truncates: folded.truncates,
      leftOut: landed.leftOut,
      refused: folded.refused.length,
      refusedAt: await landed.locate(folded.refused.slice(0, maxRows)),
    },
    rows: { expected: sum('expectedRows'), actual: sum('actualRows') },
    schema,
    ranges: compared.ranges,
    missing: compared.missing,
    extra: compared.extra,
    different: compared.different,
    differences: compared.rows,
  };
}

/** Columns that only one side has are told by the schema; values are compared in the columns that both have. */
function sidesOf(
  plan: Plan,
  actual: readonly ActualColumn[],
  input: ReconcileInput,
): {
  sides: { expected: Side; actual: Side };
  names: { keys: readonly string[]; columns: readonly string[] };
} {
  const keys = plan.expected.key;
  const common = plan.columns.flatMap((column, index) => {
    const found = actual.find(({ name }) => name === column.name);
    return found === undefined
      ? []
      : [{ name: column.name, index, expected: column.type, actual: found.type }];
  });
  const typeOf = (columns: readonly ActualColumn[], name: string): ColumnType =>
    columns.find((column) => column.name === name)?.type ?? 'string';
  const expectedKeys = keys.map((_, i) => id(`k${i}`));
  const actualKeys = keys.map((name, i) => sql`${id(name)} AS ${id(`k${i}`)}`);
  const expectedCells = common.map(({ index }, i) => sql`${id(`c${index}`)} AS ${id(`c${i}`)}`);
  const actualCells = common.map(({ name }, i) => sql`${id(name)} AS ${id(`c${i}`)}`);
  return {
    sides: {
      expected: {
        rows: sql`SELECT ${join([...expectedKeys, ...expectedCells])} FROM ${FOLDED} WHERE good`,
        keyTypes: keys.map((name) => typeOf(plan.columns, name)),
        types: common.map((column) => column.expected),
      },
      actual: {
        rows: sql`SELECT ${join([...actualKeys, ...actualCells])} FROM (${input.tableSql})`,
        keyTypes: keys.map((name) => typeOf(actual, name)),
        types: common.map((column) => column.actual),
      },
    },
    names: { keys, columns: common.map(({ name }) => name) },
  };
}

function schemaDifferences(
  expected: readonly ActualColumn[],
  actual: readonly ActualColumn[],
): SchemaDifference[] {
  const typeIn = (columns: readonly ActualColumn[], name: string): string | null =>
    columns.find((column) => column.name === name)?.type ?? null;
  const names = new Set([...expected, ...actual].map(({ name }) => name));
  return [...names]
    .map((column) => ({
      column,
      expected: typeIn(expected, column),
      actual: typeIn(actual, column),
    }))
    .filter((pair) => !sameType(pair.expected, pair.actual));
}

/** A reader gives `fixed[n]` as bytes of no stated length. */
function sameType(expected: string | null, actual: string | null): boolean {
  return expected === actual || (actual === 'binary' && expected?.startsWith('fixed[') === true);
}

async function describe(
  connection: DuckDBConnection,
  input: ReconcileInput,
): Promise<ActualColumn[]> {
  const described = await connection.runAndReadAll(sql`DESCRIBE ${input.tableSql}`.text);
  return described.getRows().map(([name, engineType]) => {
    const type = columnTypeOf(String(engineType));
    if (type === null) {
      throw new PipelineError(
        'E_QUERY',
        `Column ${String(name)} of ${input.table} has the type ${String(engineType)}, which no mirrored table has.`,
        {
          subject: { table: input.table, column: String(name) },
        },
      );
    }
    return { name: String(name), type };
  });
}

async function readEncodings(
  connection: DuckDBConnection,
  input: ReconcileInput,
): Promise<FeedEncodings> {
  const found = new Map<string, Awaited<ReturnType<typeof encodingsOf>>>();
  for (const source of input.expected.sources.filter(needsEncodings)) {
    found.set(source.table, await encodingsOf(connection, input.feed.files, source.table));
  }
  return found;
}
