/**
 * The naive fold: of each key, the last change that counts; of those, the rows that are there. No checkpoint, no
 * state: the whole history at once.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import { assert, PipelineError } from '../model/errors.ts';
import type { ColumnType } from '../model/types.ts';
import { and, id, join, raw, sql, type Sql } from '../sql/sql.ts';
import { convert } from './convert.ts';
import type { LandedFeed } from './feed-table.ts';
import { cleansed, keyOf, valueOf, type Plan, type PlannedSource } from './plan.ts';

export interface Folded {
  /** Changes of the table that the fold weighed, a key change as two. */
  readonly changes: number;
  readonly truncates: number;
  /** Row numbers of changes that cannot be represented and were not named as dead letters. */
  readonly refused: readonly number[];
}

const CHANGES = id('reconcile_changes');
const WINNERS = id('reconcile_winners');

/** Fills the table `target` with the expected rows: columns `k0`… (key, typed) and `c0`… as `plan.columns`. */
export async function foldFeed(
  connection: DuckDBConnection,
  feed: LandedFeed,
  plan: Plan,
  target: Sql,
): Promise<Folded> {
  const scopes = await Promise.all(
    plan.sources.map((source) => scopeTypes(connection, feed, plan, source)),
  );
  await listChanges(connection, feed, plan);
  const refused = await refuseUnkeyed(connection, feed, plan);
  for (;;) {
    await chooseWinners(connection, feed, plan);
    await convertWinners(connection, feed, plan, scopes, target);
    const bad = await numbers(connection, sql`SELECT count(*) FROM ${target} WHERE NOT good`);
    if (bad[0] === 0) break;
    // A change that cannot be represented never counted, so what it hid comes to light: weigh the keys again.
    const found = await refuseUnconvertible(connection, feed, plan, scopes);
    assert(
      found.length > 0,
      'a row of the fold cannot be represented, yet none of its changes is at fault',
    );
    refused.push(...found);
  }
  const changes = await numbers(connection, sql`SELECT count(*) FROM ${CHANGES}`);
  const truncates = await numbers(
    connection,
    sql`SELECT count(*) FROM ${feed.name} WHERE op = 't' AND src IS NOT NULL`,
  );
  return {
    changes: changes[0] ?? 0,
    truncates: truncates[0] ?? 0,
    refused: refused.toSorted((a, b) => a - b),
  };
}

export async function dropFold(connection: DuckDBConnection): Promise<void> {
  for (const name of [CHANGES, WINNERS])
    await connection.run(sql`DROP TABLE IF EXISTS ${name}`.text);
}

function keyNames(plan: Plan): Sql[] {
  return plan.expected.key.map((_, i) => id(`k${i}`));
}

const PUTS = raw(`op IN ('c', 'r', 'u')`);

/** One row a key and change: `mark` = twice the row number, plus one where the change leaves a row. */
async function listChanges(
  connection: DuckDBConnection,
  feed: LandedFeed,
  plan: Plan,
): Promise<void> {
  const parts = plan.sources.flatMap((source, i) => changesOf(feed, plan, source, i));
  await connection.run(
    sql`CREATE OR REPLACE TEMP TABLE ${CHANGES} AS ${join(parts, ' UNION ALL ')}`.text,
  );
}

async function chooseWinners(
  connection: DuckDBConnection,
  feed: LandedFeed,
  plan: Plan,
): Promise<void> {
  const keys = join(keyNames(plan));
  const [placed = 0, all = 0] = await numbers(
    connection,
    sql`SELECT count(*) FILTER (WHERE log <> ''), count(*) FROM ${CHANGES}`,
  );
  const last = lastPerKey(plan, placed > 0 && placed < all);
  await connection.run(
    sql`CREATE OR REPLACE TEMP TABLE ${WINNERS} AS
    SELECT src, mark // 2 AS n, ${keys} FROM (
      SELECT arg_max(src, mark) AS src, max(mark) AS mark, ${keys} FROM (${last}) GROUP BY ${keys})
    WHERE mark % 2 = 1 AND mark // 2 > ${await lastTruncate(connection, feed, plan)}`.text,
  );
}

/** A NULL in the key: it is missing or cannot be read. */
function changesOf(feed: LandedFeed, plan: Plan, source: PlannedSource, index: number): Sql[] {
  const after = keyOf(plan, source, (column) => feed.cell('a', column));
  const before = keyOf(plan, source, (column) => feed.cell('b', column));
  const select = (
    put: number,
    key: readonly Sql[],
    where: Sql,
  ): Sql => sql`SELECT ${index} AS src, rowid * 2 + ${put} AS mark, log, pos, ts,
      ${join(key.map((k, i) => sql`${k} AS ${id(`k${i}`)}`))}
    FROM ${feed.name} WHERE src = ${index} AND ${where}`;
  const same = and(after.map((k, i) => sql`${k} = ${before[i] ?? raw('NULL')}`));
  // Without an image before, or with one that lacks the key, the key did not change.
  const moved = sql`op = 'u' AND NOT (${same}) AND ${known(before)} AND ${known(after)}`;
  return [select(1, after, PUTS), select(0, before, raw(`op = 'd'`)), select(0, before, moved)];
}

function known(key: readonly Sql[]): Sql {
  return and(key.map((k) => sql`${k} IS NOT NULL`));
}

/**
 * The last change of a key that counts, in each log. By position: the first of those with the highest one, for what
 * comes later and is not newer was sent before. By the clock, where there is no position: the last of those that none
 * is newer than. `isMixed`: some changes have a position and some have none, and then the clock of all counts.
 */
function lastPerKey(plan: Plan, isMixed: boolean): Sql {
  const keys = join(keyNames(plan));
  if (!plan.expected.deduplicate) {
    return sql`SELECT src, max(mark) AS mark, ${keys} FROM ${CHANGES} GROUP BY src, ${keys}`;
  }
  const newest = isMixed ? sql`max(max(ts)) OVER (PARTITION BY src, ${keys})` : raw('max(ts)');
  return sql`SELECT src, CASE log WHEN '' THEN max(mark) FILTER (WHERE ts IS NULL OR ts = newest)
        WHEN 'O' THEN max(mark) FILTER (WHERE pos = highest)
        ELSE min(mark) FILTER (WHERE pos = highest) END AS mark, ${keys}
    FROM ${CHANGES} JOIN (
      SELECT src, log, max(pos) AS highest, ${newest} AS newest, ${keys} FROM ${CHANGES} GROUP BY src, log, ${keys})
    USING (src, log, ${keys}) GROUP BY src, log, ${keys}`;
}

/** Row number of the last truncation that counts; -1 without one. A table fed by several sources is never emptied. */
async function lastTruncate(
  connection: DuckDBConnection,
  feed: LandedFeed,
  plan: Plan,
): Promise<number> {
  if (!plan.expected.truncate || plan.sources.length !== 1) return -1;
  const own = sql`(SELECT rowid AS n, * FROM ${feed.name} WHERE op = 't' AND src = 0)`;
  // One that is sent again, after the rows that came behind it, must not empty the table a second time.
  const applied = plan.expected.deduplicate
    ? sql`SELECT CASE WHEN log IN ('', 'O') THEN max(n) ELSE min(n) FILTER (WHERE pos = highest) END AS n
        FROM ${own} JOIN (SELECT log, max(pos) AS highest FROM ${own} GROUP BY log) USING (log) GROUP BY log`
    : own;
  return (await numbers(connection, sql`SELECT coalesce(max(n), -1) FROM (${applied})`))[0] ?? -1;
}

async function convertWinners(
  connection: DuckDBConnection,
  feed: LandedFeed,
  plan: Plan,
  scopes: readonly Scope[],
  target: Sql,
): Promise<void> {
  const parts = plan.sources.map((source, i) => {
    const keys = keyNames(plan).map((key, k) => sql`w.${key} AS ${id(`__k${k}`)}`);
    const rows = sql`${feed.name} AS f JOIN ${WINNERS} AS w ON f.rowid = w.n WHERE w.src = ${i}`;
    const named = [
      ...keyNames(plan).map((key, k) => sql`${id(`__k${k}`)} AS ${key}`),
      ...plan.columns.map((_, c) => sql`${id(`__c${c}`)} AS ${id(`c${c}`)}`),
    ];
    return sql`SELECT ${join(named)}, __good AS good FROM (${keptRows(feed, plan, source, scopes[i] ?? [], keys, rows)})`;
  });
  try {
    await connection.run(
      sql`CREATE OR REPLACE TEMP TABLE ${target} AS ${join(parts, ' UNION ALL ')}`.text,
    );
  } catch (cause) {
    if (!plan.sources.some((source) => source.scope.length > 0)) throw cause;
    const { namespace, name } = plan.expected;
    throw new PipelineError(
      'E_CONFIG_SQL',
      `A filter or route of ${namespace}.${name} cannot be run.`,
      { cause },
    );
  }
}

type Scope = readonly { readonly name: string; readonly value: Sql }[];

/**
 * Rows that meet the predicates, which see the source's columns by their own names; so all of ours have two
 * underscores. What a predicate keeps out need not be good.
 */
function keptRows(
  feed: LandedFeed,
  plan: Plan,
  source: PlannedSource,
  scope: Scope,
  carried: readonly Sql[],
  rows: Sql,
): Sql {
  const made = valuesOf(feed, plan, source);
  const columns = plan.columns.map(
    (column, c) =>
      sql`${made.get(column.name)?.value ?? ridOrNull(column.name, source)} AS ${id(`__c${c}`)}`,
  );
  const good = and([...made.values()].map((value) => value.good));
  const named = scope.map(({ name, value }) => sql`${value} AS ${id(name)}`);
  const kept = and([source.filter, source.include].filter((p) => p !== undefined));
  return sql`SELECT * FROM (SELECT ${join([...carried, ...columns, sql`${good} AS __good`, ...named])} FROM ${rows}) WHERE ${kept}`;
}

function ridOrNull(column: string, source: PlannedSource): Sql {
  return source.rid !== undefined && column === 'rid' ? raw('k0') : raw('NULL');
}

function valuesOf(
  feed: LandedFeed,
  plan: Plan,
  source: PlannedSource,
): Map<string, { value: Sql; good: Sql }> {
  return new Map(
    source.values.map((value) => [
      value.column,
      valueOf(plan, value, feed.cell('a', value.source)),
    ]),
  );
}

/** Takes changes out of the history whose key is missing or unreadable, or whose `op` is unknown. */
async function refuseUnkeyed(
  connection: DuckDBConnection,
  feed: LandedFeed,
  plan: Plan,
): Promise<number[]> {
  const unkeyed = sql`SELECT mark // 2 FROM ${CHANGES} WHERE NOT (${known(keyNames(plan))})`;
  const unknown = sql`SELECT rowid FROM ${feed.name} WHERE src IS NOT NULL AND (op IS NULL OR op NOT IN ('c', 'r', 'u', 'd', 't', 'm'))`;
  const refused = [
    ...(await numbers(connection, unkeyed)),
    ...(await numbers(connection, unknown)),
  ];
  await connection.run(sql`DELETE FROM ${CHANGES} WHERE NOT (${known(keyNames(plan))})`.text);
  return refused;
}

async function refuseUnconvertible(
  connection: DuckDBConnection,
  feed: LandedFeed,
  plan: Plan,
  scopes: readonly Scope[],
): Promise<number[]> {
  const refused: number[] = [];
  for (const [i, source] of plan.sources.entries()) {
    const rows = sql`(SELECT rowid AS __n, a, NULL AS k0 FROM ${feed.name} WHERE src = ${i} AND ${PUTS})`;
    const kept = keptRows(feed, plan, source, scopes[i] ?? [], [raw('__n')], rows);
    const bad = sql`SELECT __n FROM (${kept}) WHERE NOT __good`;
    refused.push(...(await numbers(connection, bad)));
    await connection.run(sql`DELETE FROM ${CHANGES} WHERE mark // 2 IN (${bad})`.text);
  }
  return refused;
}

/** Typed columns for predicates. Where no type is declared, the one that all of the feed's values have. */
async function scopeTypes(
  connection: DuckDBConnection,
  feed: LandedFeed,
  plan: Plan,
  source: PlannedSource,
): Promise<Scope> {
  const scope: { name: string; value: Sql }[] = [];
  for (const { name, type, from } of source.scope) {
    const text = cleansed(plan, feed.cell('a', name));
    scope.push({
      name,
      value: convert(text, type ?? (await guessType(connection, feed, text)), { from }),
    });
  }
  return scope;
}

async function guessType(
  connection: DuckDBConnection,
  feed: LandedFeed,
  text: Sql,
): Promise<ColumnType> {
  const [all, whole, real, logical] = await numbers(
    connection,
    sql`SELECT count(${text}),
    count(*) FILTER (WHERE regexp_full_match(${text}, '-?[0-9]+')), count(TRY_CAST(${text} AS DOUBLE)),
    count(*) FILTER (WHERE ${text} IN ('true', 'false')) FROM ${feed.name} WHERE ${PUTS}`,
  );
  if (all === 0) return 'string';
  if (whole === all) return 'long';
  if (real === all) return 'double';
  return logical === all ? 'boolean' : 'string';
}

/** The numbers of the first row, or of the first column where there are several rows. */
async function numbers(connection: DuckDBConnection, query: Sql): Promise<number[]> {
  const rows = (await connection.runAndReadAll(query.text)).getRows();
  return (rows.length === 1 ? (rows[0] ?? []) : rows.map((row) => row[0] ?? 0)).map(Number);
}
