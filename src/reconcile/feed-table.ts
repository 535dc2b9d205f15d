/**
 * A feed as a temporary table, one row for each line that is not blank, in feed order: `rowid` is the order.
 * Columns: `op`, `src` (index of the source table; NULL: not of this table, or left out), `log` (which log
 * the change was read from; empty: none is known), `pos` (text that orders as that log does), `ts` (the clock, ms), `b` and `a` (before and after, texts).
 * A line that is no envelope is a row of NULLs.
 */
import { resolve } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { assert, PipelineError } from '../model/errors.ts';
import { id, join, raw, sql, type Sql } from '../sql/sql.ts';
import {
  cellOf,
  collides,
  envelope,
  envelopeFields,
  envelopeType,
  imageType,
  literalPath,
  rawLines,
  READER,
  type FeedSource,
  type Shape,
} from './envelope-sql.ts';
import { suspectPattern, type ReadColumn } from './exact-numbers.ts';
import { findLines } from './feed-lines.ts';
import { mendNumbers, mendSpoilt, suspectLines, type FileRows } from './mend-feed.ts';

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

export interface LandedFeed {
  readonly name: Sql;
  readonly rows: number;
  readonly leftOut: number;
  /** Text of a column of the image before (`b`) or after (`a`) the change. */
  cell(image: 'a' | 'b', column: string): Sql;
  /** Where the rows with these row numbers stand. */
  locate(rows: readonly number[]): Promise<FeedPlace[]>;
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
    sql`CREATE TEMP TABLE ${name} (op VARCHAR, src SMALLINT, log VARCHAR, pos VARCHAR, ts BIGINT,
    b ${imageType(shape, shape.keys)}, a ${imageType(shape, shape.columns)})`.text,
  );
  const files: FileRows[] = [];
  let leftOut = 0;
  let first = 0;
  for (const file of filesUntil(feed)) {
    const traits = await reading(file, async () => {
      const found = await traitsOf(connection, file, shape);
      await insertFile(connection, name, file, shape, found);
      return found;
    });
    const landed: FileRows = {
      file,
      first,
      rows: (await count(connection, sql`FROM ${name}`)) - first,
    };
    const marked = await mendSpoilt(connection, name, landed, shape);
    const suspects =
      traits.suspects === null ? [] : await suspectLines(connection, file, traits.suspects);
    if (marked !== null) suspects.push([0, marked]);
    await mendNumbers(connection, name, landed, shape, suspects);
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

async function reading<T>(file: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw new PipelineError('E_SOURCE_READ', `The feed file ${file} cannot be read.`, {
      subject: { file },
      cause,
    });
  }
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
  const lines = sql`read_json(${literalPath(file)}, ${raw(READER)}, columns={${columns}})`;
  await connection.run(
    sql`INSERT INTO ${name} SELECT * FROM ${envelope(shape, lines, traits.wrapped)}`.text,
  );
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
