/** What DuckDB's JSON reader spoils, put right by a second look at the raw lines. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { id, join, raw, sql, type Sql } from '../sql/sql.ts';
import { envelope, envelopeStructure, rawLines, type Shape } from './envelope-sql.ts';
import { exactCells, type ReadColumn } from './exact-numbers.ts';
import { firstLine } from './feed-lines.ts';

export interface FileRows {
  readonly file: string;
  readonly first: number;
  readonly rows: number;
}

/**
 * The reader writes into its buffer while it parses. Where a cut line makes it run on into the next one, that one is
 * spoilt too and comes out as NULLs, although it is good. A byte order mark does the same to the first line, whose
 * text is returned then.
 */
export async function mendSpoilt(
  connection: DuckDBConnection,
  name: Sql,
  landed: FileRows,
  shape: Shape,
): Promise<string | null> {
  const empty = sql`(SELECT rowid - ${landed.first} FROM ${name} WHERE rowid >= ${landed.first} AND op IS NULL)`;
  const found = await connection.runAndReadAll(sql`SELECT min(n) FROM ${empty} AS t(n)`.text);
  const first = found.getRows()[0]?.[0] ?? null;
  if (first === null) return null;
  const numbered = sql`(SELECT json, row_number() OVER () - 1 AS n FROM ${rawLines(landed.file)})`;
  const good = sql`SELECT n, json FROM ${numbered} WHERE json LIKE '{%' AND n IN ${empty}`;
  await landAgain(connection, name, landed, shape, good);
  const line = first === 0n ? await firstLine(landed.file) : null;
  if (line === null || !line.subarray(0, BOM.length).equals(BOM)) return null;
  const text = line.subarray(BOM.length).toString('utf8');
  await landAgain(
    connection,
    name,
    landed,
    shape,
    sql`SELECT 0 AS n, TRY_CAST(${text} AS JSON) AS json`,
  );
  return text;
}

async function landAgain(
  connection: DuckDBConnection,
  name: Sql,
  landed: FileRows,
  shape: Shape,
  lines: Sql,
): Promise<void> {
  const fields = sql`(SELECT n, unnest(json_transform(json, ${envelopeStructure(shape)})) FROM (${lines}))`;
  await connection.run(
    sql`UPDATE ${name} SET op = l.op, src = l.src, log = l.log, pos = l.pos, ts = l.ts, b = l.b, a = l.a
      FROM ${envelope(shape, fields, true, raw('n, '))} AS l WHERE ${name}.rowid = l.n + ${landed.first}`
      .text,
  );
}

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** Puts back the digits that the reader lost by taking reals for doubles, in the `lines` (row number, text). */
export async function mendNumbers(
  connection: DuckDBConnection,
  name: Sql,
  landed: FileRows,
  shape: Shape,
  lines: readonly (readonly [number, string])[],
): Promise<void> {
  const cells = lines.flatMap(([n, text]) => {
    const exact = exactCells(text, shape.keys, shape.columns);
    return exact === null ? [] : [sql`(${n + landed.first}, ${exact.before}, ${exact.after})`];
  });
  if (cells.length === 0) return;
  await connection.run(
    sql`CREATE OR REPLACE TEMP TABLE ${EXACT} (n BIGINT, b VARCHAR, a VARCHAR)`.text,
  );
  for (let i = 0; i < cells.length; i += 2000) {
    await connection.run(sql`INSERT INTO ${EXACT} VALUES ${join(cells.slice(i, i + 2000))}`.text);
  }
  const before = overlay(shape, sql`${name}.b`, raw('e.b'), shape.keys);
  const after = overlay(shape, sql`${name}.a`, raw('e.a'), shape.columns);
  await connection.run(
    sql`UPDATE ${name} SET b = ${before}, a = ${after} FROM ${EXACT} AS e WHERE ${name}.rowid = e.n`
      .text,
  );
  await connection.run(sql`DROP TABLE ${EXACT}`.text);
}

/** Lines that meet `suspect`, a predicate over the raw text `json`. */
export async function suspectLines(
  connection: DuckDBConnection,
  file: string,
  suspect: Sql,
): Promise<[number, string][]> {
  const numbered = sql`(SELECT json, row_number() OVER () - 1 AS n FROM ${rawLines(file)})`;
  const found = await connection.runAndReadAll(
    sql`SELECT n, json FROM ${numbered} WHERE ${suspect}`.text,
  );
  return found
    .getRows()
    .flatMap(([n, json]) => (typeof json === 'string' ? [[Number(n), json]] : []));
}

const EXACT = id('reconcile_exact');

function overlay(shape: Shape, old: Sql, exact: Sql, columns: readonly ReadColumn[]): Sql {
  if (shape.asJson)
    return sql`CASE WHEN ${old} IS NOT NULL THEN json_merge_patch(${old}, CAST(${exact} AS JSON)) END`;
  const fields = columns.map(({ name }) => {
    const pointer = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    return sql`${id(name)} := coalesce(json_extract_string(${exact}, ${pointer}), struct_extract(${old}, ${name}))`;
  });
  return sql`CASE WHEN ${old} IS NOT NULL THEN struct_pack(${join(fields)}) END`;
}
