/** How one line of a feed becomes one row of the feed table, as SQL; and the readers of a feed file. */
import { id, join, raw, sql, type Sql } from '../sql/sql.ts';
import type { ReadColumn } from './exact-numbers.ts';

export interface FeedSource {
  readonly table: string;
  readonly onlyTable: boolean;
}

export interface Shape {
  readonly sources: readonly FeedSource[];
  readonly keys: readonly ReadColumn[];
  readonly columns: readonly ReadColumn[];
  /** Names that differ in case only cannot be fields of one struct: the images stay JSON then. */
  readonly asJson: boolean;
}

export function rawLines(file: string): Sql {
  return sql`read_ndjson_objects(${literalPath(file)}, ${raw(READER)})`;
}

/** A path is no pattern here: each character that would make it one becomes a class of its own. */
export function literalPath(file: string): string {
  return file.replace(/[*?[]/g, '[$&]');
}

export const READER = `format='newline_delimited', ignore_errors=true, maximum_object_size=67108864`;

export function envelopeFields(shape: Shape): [string, Sql][] {
  return [
    ['op', raw('VARCHAR')],
    ['before', imageType(shape, shape.keys)],
    ['after', imageType(shape, shape.columns)],
    ['source', structType(SOURCE_FIELDS)],
    ['ts_ms', raw('VARCHAR')],
  ];
}

export function envelopeType(shape: Shape): Sql {
  return sql`STRUCT(${join(envelopeFields(shape).map(([field, type]) => sql`${id(field)} ${type}`))})`;
}

const SOURCE_FIELDS =
  'db schema table ts_ms file pos row lsn server_id commit_lsn change_lsn event_serial_no scn commit_scn rs_id ssn'.split(
    ' ',
  );

/** {@link envelopeFields} and the payload, as `json_transform` wants it. */
export function envelopeStructure(shape: Shape): string {
  const struct = (names: readonly string[]): Record<string, string> =>
    Object.fromEntries(names.map((name) => [name, 'VARCHAR']));
  const image = (columns: readonly ReadColumn[]): unknown =>
    shape.asJson ? 'JSON' : struct(columns.map((column) => column.name));
  const fields = {
    op: 'VARCHAR',
    before: image(shape.keys),
    after: image(shape.columns),
    source: struct(SOURCE_FIELDS),
    ts_ms: 'VARCHAR',
  };
  return JSON.stringify({ ...fields, payload: fields });
}

function structType(names: readonly string[]): Sql {
  return sql`STRUCT(${join(names.map((name) => sql`${id(name)} VARCHAR`))})`;
}

export function imageType(shape: Shape, columns: readonly ReadColumn[]): Sql {
  return shape.asJson ? raw('JSON') : structType(columns.map((column) => column.name));
}

/** `lines` has the columns op, before, after, source and, where `wrapped`, payload; gives those of the feed table,
 * after the `carried` ones (each with its comma). */
export function envelope(shape: Shape, lines: Sql, wrapped: boolean, carried = raw('')): Sql {
  const either = (field: string): Sql =>
    wrapped ? sql`coalesce(struct_extract(payload, ${field}), ${id(field)})` : id(field);
  const name = raw(
    `coalesce(coalesce(nullif(s."schema", ''), nullif(s."db", '')) || '.', '') || nullif(s."table", '')`,
  );
  const cases = shape.sources.map(
    (source, i) => sql`WHEN ${name} = ${source.table}${ownLess(source)} THEN ${i}`,
  );
  return sql`(SELECT ${carried} op, src, ${raw(LOG)} AS log, ${raw(POSITION)} AS pos, TRY_CAST(coalesce(s.ts_ms, clock) AS BIGINT) AS ts,
      CASE WHEN src IS NOT NULL THEN b END AS b, CASE WHEN src IS NOT NULL THEN a END AS a
    FROM (SELECT ${carried} op, s, b, a, clock, CASE ${join(cases, ' ')} END AS src FROM (
      SELECT ${carried} ${either('op')} AS op, ${either('source')} AS s, ${either('before')} AS b, ${either('after')} AS a, ${either('ts_ms')} AS clock
      FROM ${lines})))`;
}

function ownLess(source: FeedSource): Sql {
  return source.onlyTable ? raw(` OR (coalesce(s."table", '') = '' AND op IS NOT NULL)`) : raw('');
}

/**
 * The log that a change was read from; positions of two logs do not compare. Empty: the change has no position. 'O'
 * is Oracle without record numbers, where equal positions are no duplicate.
 */
const LOG = `CASE
  WHEN s.file <> '' AND s.pos IS NOT NULL THEN 'm' || coalesce(s.server_id, '')
  WHEN s.commit_lsn IS NOT NULL OR s.change_lsn IS NOT NULL THEN 's'
  WHEN s.lsn IS NOT NULL THEN 'p'
  WHEN s.scn IS NOT NULL THEN CASE WHEN s.rs_id IS NULL THEN 'O' ELSE 'o' END
  ELSE '' END`;

/**
 * Text that orders as the log does. MySQL: file, position, row. SQL Server: commit and change number, serial.
 * PostgreSQL: log sequence number. Oracle: commit and change number, record, serial.
 */
const POSITION = `CASE
  WHEN s.file <> '' AND s.pos IS NOT NULL
    THEN lpad(regexp_extract(s.file, '([0-9]*)$', 1), 20, '0') || lpad(s.pos, 20, '0') || lpad(coalesce(s.row, '0'), 10, '0')
  WHEN s.commit_lsn IS NOT NULL OR s.change_lsn IS NOT NULL
    THEN lower(coalesce(s.commit_lsn, '')) || ' ' || lower(coalesce(s.change_lsn, '')) || ' ' || lpad(coalesce(s.event_serial_no, '0'), 20, '0')
  WHEN s.lsn IS NOT NULL THEN lpad(s.lsn, 20, '0')
  WHEN s.scn IS NOT NULL
    THEN lpad(coalesce(s.commit_scn, s.scn), 20, '0') || lpad(s.scn, 20, '0') || coalesce(trim(s.rs_id), '') || lpad(coalesce(s.ssn, '0'), 10, '0')
  END`;

export function cellOf(shape: Shape, image: Sql, column: string): Sql {
  if (!shape.asJson) return sql`struct_extract(${image}, ${column})`;
  return sql`json_extract_string(${image}, ${`/${column.replaceAll('~', '~0').replaceAll('/', '~1')}`})`;
}

export function collides(columns: readonly ReadColumn[]): boolean {
  return new Set(columns.map((column) => column.name.toLowerCase())).size < columns.length;
}
