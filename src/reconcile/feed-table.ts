/**
 * A feed as a temporary table, one row for each line that is not blank, in feed order: `rowid` is the order.
 * Columns: `op`, `src` (index of the source table; NULL: not of this table, or left out), `pos` (text that orders as
 * the source's log does; NULL: no position), `ts` (the source's clock, ms), `b` and `a` (before and after, texts).
 * A line that is no envelope is a row of NULLs.
 */
import { resolve } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { assert } from '../model/errors.ts';
import { id, join, raw, sql, type Sql } from '../sql/sql.ts';
import { exactCells, suspectPattern, type ReadColumn } from './exact-numbers.ts';
import { findLines } from './feed-lines.ts';

export interface FeedPlace {
  readonly file: string;
  /** From 1. */
  readonly line: number;
}

export interface Feed {
  readonly files: readonly string[];
  /** Lines that are not part of the table's history, such as dead letters. */
  readonly leaveOut?: readonly FeedPlace[] | undefined;
  /** The last line that counts; what follows has not been read yet. */
  readonly until?: FeedPlace | undefined;
}

export interface FeedSource {
  readonly table: string;
  readonly onlyTable: boolean;
}

export interface LandedFeed {
  readonly name: Sql;
  readonly rows: number;
  readonly leftOut: number;
  /** Text of a column of the image before (`b`) or after (`a`) the change. */
  cell(image: 'a' | 'b', column: string): Sql;
  /** Where the rows with these row numbers stand. */
  locate(rows: readonly number[]): Promise<FeedPlace[]>;
}

interface FileRows {
  readonly file: string;
  readonly first: number;
  readonly rows: number;
}

interface Shape {
  readonly sources: readonly FeedSource[];
  readonly keys: readonly ReadColumn[];
  readonly columns: readonly ReadColumn[];
  /** Names that differ in case only cannot be fields of one struct: the images stay JSON then. */
  readonly asJson: boolean;
}

/** @throws E_SOURCE_READ */
export async function landFeed(
  connection: DuckDBConnection,
  name: Sql,
  feed: Feed,
  read: {
    sources: readonly FeedSource[];
    keys: readonly ReadColumn[];
    columns: readonly ReadColumn[];
  },
): Promise<LandedFeed> {
  const shape = { ...read, asJson: collides(read.columns) || collides(read.keys) };
  await connection.run(
    sql`CREATE TEMP TABLE ${name} (op VARCHAR, src SMALLINT, pos VARCHAR, ts BIGINT,
    b ${imageType(shape, shape.keys)}, a ${imageType(shape, shape.columns)})`.text,
  );
  const files: FileRows[] = [];
  let leftOut = 0;
  let first = 0;
  for (const file of filesUntil(feed)) {
    const traits = await traitsOf(connection, file, shape);
    await insertFile(connection, name, file, shape, traits);
    const landed: FileRows = {
      file,
      first,
      rows: (await count(connection, sql`FROM ${name}`)) - first,
    };
    await mendBom(connection, name, landed, shape);
    if (traits.suspects !== null)
      await mendNumbers(connection, name, landed, shape, traits.suspects);
    leftOut += await leaveOut(connection, name, landed, feed);
    first = await count(connection, sql`FROM ${name}`);
    files.push({ ...landed, rows: first - landed.first });
  }
  return {
    name,
    rows: first,
    leftOut,
    cell: (image, column) => cellOf(shape, raw(image), column),
    locate: (rows) => locate(files, rows),
  };
}

function filesUntil(feed: Feed): readonly string[] {
  const until = feed.until;
  const last =
    until === undefined
      ? -1
      : feed.files.findIndex((file) => resolve(file) === resolve(until.file));
  return last < 0 ? feed.files : feed.files.slice(0, last + 1);
}

interface Traits {
  /** Some lines may be `{schema, payload}`. */
  readonly wrapped: boolean;
  /** Lines in which the reader may have changed a number. */
  readonly suspects: Sql | null;
}

/** What one pass over the raw bytes tells, on all cores: it mostly saves dearer work. */
async function traitsOf(connection: DuckDBConnection, file: string, shape: Shape): Promise<Traits> {
  const pattern = suspectPattern([...shape.keys, ...shape.columns]);
  const suspect = pattern === null ? raw('FALSE') : sql`regexp_matches(json, ${pattern})`;
  const reader = await connection.runAndReadAll(
    sql`SELECT bool_or(contains(json, '"payload"')), bool_or(${suspect}) FROM ${rawLines(file)}`
      .text,
  );
  const [wrapped, some] = reader.getRows()[0] ?? [];
  return { wrapped: wrapped === true, suspects: some === true ? suspect : null };
}

async function insertFile(
  connection: DuckDBConnection,
  name: Sql,
  file: string,
  shape: Shape,
  traits: Traits,
): Promise<void> {
  const fields = [
    ...envelopeFields(shape),
    ...(traits.wrapped ? [['payload', envelopeType(shape)] as const] : []),
  ];
  const columns = join(fields.map(([field, type]) => sql`${id(field)}: ${type.text}`));
  const lines = sql`read_json(${file}, ${raw(READER)}, columns={${columns}})`;
  await connection.run(
    sql`INSERT INTO ${name} SELECT * FROM ${envelope(shape, lines, traits.wrapped)}`.text,
  );
}

function rawLines(file: string): Sql {
  return sql`read_ndjson_objects(${file}, ${raw(READER)})`;
}

const READER = `format='newline_delimited', ignore_errors=true, maximum_object_size=67108864`;

function envelopeFields(shape: Shape): [string, Sql][] {
  return [
    ['op', raw('VARCHAR')],
    ['before', imageType(shape, shape.keys)],
    ['after', imageType(shape, shape.columns)],
    ['source', structType(SOURCE_FIELDS)],
  ];
}

function envelopeType(shape: Shape): Sql {
  return sql`STRUCT(${join(envelopeFields(shape).map(([field, type]) => sql`${id(field)} ${type}`))})`;
}

const SOURCE_FIELDS = [
  ...['db', 'schema', 'table', 'ts_ms', 'file', 'pos', 'row', 'lsn'],
  ...['commit_lsn', 'change_lsn', 'event_serial_no', 'scn', 'commit_scn', 'rs_id', 'ssn'],
];

function structType(names: readonly string[]): Sql {
  return sql`STRUCT(${join(names.map((name) => sql`${id(name)} VARCHAR`))})`;
}

function imageType(shape: Shape, columns: readonly ReadColumn[]): Sql {
  return shape.asJson ? raw('JSON') : structType(columns.map((column) => column.name));
}

/** `lines` has the columns op, before, after, source and, where `wrapped`, payload; gives those of the feed table. */
function envelope(shape: Shape, lines: Sql, wrapped: boolean): Sql {
  const either = (field: string): Sql =>
    wrapped ? sql`coalesce(struct_extract(payload, ${field}), ${id(field)})` : id(field);
  const name = raw(`coalesce(s."schema", s."db") || '.' || s."table"`);
  const cases = shape.sources.map(
    (source, i) => sql`WHEN ${name} = ${source.table}${ownLess(source)} THEN ${i}`,
  );
  return sql`(SELECT op, src, ${raw(POSITION)} AS pos, TRY_CAST(s.ts_ms AS BIGINT) AS ts,
      CASE WHEN src IS NOT NULL THEN b END AS b, CASE WHEN src IS NOT NULL THEN a END AS a
    FROM (SELECT op, s, b, a, CASE ${join(cases, ' ')} END AS src FROM (
      SELECT ${either('op')} AS op, ${either('source')} AS s, ${either('before')} AS b, ${either('after')} AS a
      FROM ${lines})))`;
}

function ownLess(source: FeedSource): Sql {
  return source.onlyTable ? raw(` OR (s."table" IS NULL AND op IS NOT NULL)`) : raw('');
}

/**
 * The first letter is the kind of log; positions of two kinds do not compare. MySQL: file, position, row. SQL Server:
 * commit and change number, serial. PostgreSQL: log sequence number. Oracle: commit and change number, record, serial;
 * without a record ('O') equal numbers are no duplicate.
 */
const POSITION = `CASE
  WHEN s.file <> '' AND s.pos IS NOT NULL
    THEN 'm' || lpad(regexp_extract(s.file, '([0-9]*)$', 1), 20, '0') || lpad(s.pos, 20, '0') || lpad(coalesce(s.row, '0'), 10, '0')
  WHEN s.commit_lsn IS NOT NULL OR s.change_lsn IS NOT NULL
    THEN 's' || lower(coalesce(s.commit_lsn, '')) || ' ' || lower(coalesce(s.change_lsn, '')) || ' ' || lpad(coalesce(s.event_serial_no, '0'), 20, '0')
  WHEN s.lsn IS NOT NULL THEN 'p' || lpad(s.lsn, 20, '0')
  WHEN s.scn IS NOT NULL
    THEN CASE WHEN s.rs_id IS NULL THEN 'O' ELSE 'o' END || lpad(coalesce(s.commit_scn, s.scn), 20, '0') || lpad(s.scn, 20, '0')
      || coalesce(trim(s.rs_id), '') || lpad(coalesce(s.ssn, '0'), 10, '0')
  END`;

function cellOf(shape: Shape, image: Sql, column: string): Sql {
  if (!shape.asJson) return sql`struct_extract(${image}, ${column})`;
  return sql`json_extract_string(${image}, ${`/${column.replaceAll('~', '~0').replaceAll('/', '~1')}`})`;
}

function collides(columns: readonly ReadColumn[]): boolean {
  return new Set(columns.map((column) => column.name.toLowerCase())).size < columns.length;
}

/** A byte order mark spoils the first line for the reader; the line itself is good. */
async function mendBom(
  connection: DuckDBConnection,
  name: Sql,
  landed: FileRows,
  shape: Shape,
): Promise<void> {
  if (
    landed.rows === 0 ||
    (await count(connection, sql`FROM ${name} WHERE rowid = ${landed.first} AND op IS NULL`)) === 0
  )
    return;
  const [line] = (await findLines(landed.file, { rows: new Set([0]) })).found;
  if (line === undefined || !line.bytes.subarray(0, BOM.length).equals(BOM)) return;
  const text = line.bytes.subarray(BOM.length).toString('utf8');
  const structure = [...envelopeFields(shape), ['payload', envelopeType(shape)] as const];
  const type = sql`STRUCT(${join(structure.map(([field, type]) => sql`${id(field)} ${type}`))})`;
  const lines = sql`(SELECT unnest(CAST(TRY_CAST(${text} AS JSON) AS ${type})))`;
  await connection.run(
    sql`UPDATE ${name} SET op = l.op, src = l.src, pos = l.pos, ts = l.ts, b = l.b, a = l.a
    FROM ${envelope(shape, lines, true)} AS l WHERE ${name}.rowid = ${landed.first}`.text,
  );
}

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** Puts back the digits that the reader lost by taking reals for doubles. */
async function mendNumbers(
  connection: DuckDBConnection,
  name: Sql,
  landed: FileRows,
  shape: Shape,
  suspect: Sql,
): Promise<void> {
  const numbered = sql`(SELECT json, row_number() OVER () - 1 AS n FROM ${rawLines(landed.file)})`;
  const suspects = await connection.stream(
    sql`SELECT n, json FROM ${numbered} WHERE ${suspect}`.text,
  );
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE reconcile_exact (n BIGINT, b VARCHAR, a VARCHAR)`,
  );
  const cells: Sql[] = [];
  for await (const batch of suspects.yieldRowsJson()) {
    for (const [n, json] of batch) {
      const exact = exactCells(String(json), shape.keys, shape.columns);
      if (exact !== null)
        cells.push(sql`(${Number(n) + landed.first}, ${exact.before}, ${exact.after})`);
    }
  }
  for (let i = 0; i < cells.length; i += 2000) {
    await connection.run(
      sql`INSERT INTO reconcile_exact VALUES ${join(cells.slice(i, i + 2000))}`.text,
    );
  }
  await connection.run(
    sql`UPDATE ${name} SET b = ${overlay(shape, 'b', shape.keys)}, a = ${overlay(shape, 'a', shape.columns)}
    FROM reconcile_exact AS e WHERE ${name}.rowid = e.n`.text,
  );
  await connection.run('DROP TABLE reconcile_exact');
}

function overlay(shape: Shape, image: 'a' | 'b', columns: readonly ReadColumn[]): Sql {
  const [old, exact] = [id(image), sql`e.${id(image)}`];
  if (shape.asJson)
    return sql`CASE WHEN ${old} IS NOT NULL THEN json_merge_patch(${old}, CAST(${exact} AS JSON)) END`;
  const fields = columns.map(({ name }) => {
    const pointer = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    return sql`${id(name)} := coalesce(json_extract_string(${exact}, ${pointer}), struct_extract(${old}, ${name}))`;
  });
  return sql`CASE WHEN ${old} IS NOT NULL THEN struct_pack(${join(fields)}) END`;
}

/** Returns how many rows were left out. */
async function leaveOut(
  connection: DuckDBConnection,
  name: Sql,
  landed: FileRows,
  feed: Feed,
): Promise<number> {
  const here = (place: FeedPlace): boolean => resolve(place.file) === resolve(landed.file);
  const lines = new Set((feed.leaveOut ?? []).filter(here).map((place) => place.line));
  const until = feed.until !== undefined && here(feed.until) ? feed.until.line : Infinity;
  if (lines.size === 0 && until === Infinity) return 0;
  const { found, rows, rowsUntil } = await findLines(landed.file, { lines }, until);
  assert(
    rows === landed.rows,
    `${landed.file} has ${rows} lines by one count and ${landed.rows} by the other`,
  );
  if (rowsUntil < rows)
    await connection.run(sql`DELETE FROM ${name} WHERE rowid >= ${landed.first + rowsUntil}`.text);
  const left = found.filter((line) => line.row < rowsUntil).map((line) => landed.first + line.row);
  if (left.length > 0)
    await connection.run(
      sql`UPDATE ${name} SET src = NULL, op = 'left out' WHERE rowid IN (${join(left)})`.text,
    );
  return left.length;
}

async function locate(files: readonly FileRows[], rows: readonly number[]): Promise<FeedPlace[]> {
  const places: FeedPlace[] = [];
  for (const { file, first, rows: held } of files) {
    const here = new Set(
      rows.filter((row) => row >= first && row < first + held).map((row) => row - first),
    );
    if (here.size === 0) continue;
    places.push(
      ...(await findLines(file, { rows: here })).found.map(({ line }) => ({ file, line })),
    );
  }
  return places;
}

async function count(connection: DuckDBConnection, from: Sql): Promise<number> {
  const reader = await connection.runAndReadAll(sql`SELECT count(*) ${from}`.text);
  return Number(reader.getRows()[0]?.[0] ?? 0);
}
