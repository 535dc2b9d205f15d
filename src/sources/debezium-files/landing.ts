/**
 * How lines of a feed become a relation. Every value lands as text, so that no cast can guess; the flat shape below
 * is the same whether the engine reads the lines itself or `exact.ts` hands them over.
 *
 *     ord BIGINT?, op VARCHAR, has_after BOOLEAN, has_before BOOLEAN, ts BIGINT, tbl VARCHAR, seq HUGEINT,
 *     origin VARCHAR, schema_hash UBIGINT, absent VARCHAR[], a0 … an VARCHAR, b0 … bm VARCHAR
 */
import type { SourceColumn, SourceView } from '../../model/change.ts';
import type { Column } from '../../model/types.ts';
import { filePath, id, join, raw, sql, type Sql } from '../../sql/sql.ts';
import type { TableChoice } from './tables.ts';

/** One table as the feed has it now. */
export interface KnownTable {
  readonly table: string;
  readonly columns: readonly Column[];
  readonly key: readonly string[];
}

/** All that decides the shape of a landed relation. */
export interface Shape {
  /** Names of all columns of all tables: column `names[i]` lands as `a<i>` and `b<i>`. */
  readonly names: readonly string[];
  /** Columns whose before image is read. */
  readonly beforeNames: readonly string[];
  readonly isBare: boolean;
  readonly isWrapped: boolean;
  readonly connector: string | null;
}

type Field = readonly [name: string, type: 'VARCHAR' | 'BIGINT'];

/** Fields of the `source` block that order changes, by connector (Debezium's source metadata). */
const ORDER_FIELDS: Readonly<Record<string, readonly Field[]>> = {
  mysql: [
    ['file', 'VARCHAR'],
    ['pos', 'BIGINT'],
    ['row', 'BIGINT'],
    ['server_id', 'BIGINT'],
  ],
  mariadb: [
    ['file', 'VARCHAR'],
    ['pos', 'BIGINT'],
    ['row', 'BIGINT'],
    ['server_id', 'BIGINT'],
  ],
  postgresql: [['lsn', 'BIGINT']],
  sqlserver: [
    ['change_lsn', 'VARCHAR'],
    ['event_serial_no', 'BIGINT'],
  ],
};

export function orderFields(connector: string | null): readonly Field[] {
  return ORDER_FIELDS[connector ?? ''] ?? [];
}

/**
 * HUGEINT that rises with the position in the source's log; NULL where the record has none. Connectors whose records
 * may share one position within a transaction (Oracle, MongoDB) are not listed: the clock decides there.
 */
export function orderOf(connector: string | null, field: (name: string) => Sql): Sql {
  switch (connector) {
    case 'mysql':
    case 'mariadb': {
      const file = sql`TRY_CAST(split_part(${field('file')}, '.', -1) AS BIGINT)`;
      return sql`(${file}::HUGEINT * 1208925819614629174706176 + ${field('pos')}::HUGEINT * 16777216 + coalesce(${field('row')}, 0))`;
    }
    case 'postgresql':
      return sql`${field('lsn')}::HUGEINT`;
    case 'sqlserver': {
      // Three hexadecimal numbers of 32, 32 and 16 bits.
      const part = (n: number): Sql =>
        sql`TRY_CAST('0x' || split_part(${field('change_lsn')}, ':', ${n}) AS BIGINT)::HUGEINT`;
      const lsn = sql`(${part(1)} * 281474976710656 + ${part(2)} * 65536 + ${part(3)})`;
      return sql`(${lsn} * 1048576 + coalesce(${field('event_serial_no')}, 0))`;
    }
    default:
      return raw('NULL::HUGEINT');
  }
}

/**
 * `SELECT` of the flat shape straight from the files, with `own` BOOLEAN in the place of `tbl` where there is only one table
 * to tell from others: comparing costs less than naming.
 */
export function readOwn(
  paths: readonly string[],
  shape: Shape,
  choice: TableChoice,
  own: string,
): Sql {
  return readWith(paths, shape, sql`${isOwn(own, choice)} AS own`);
}

/** `SELECT` of the flat shape straight from the files; the strict reader fails on any line that is not one object. */
export function readFiles(paths: readonly string[], shape: Shape, choice: TableChoice): Sql {
  return readWith(paths, shape, sql`${tableExpr(choice)} AS tbl`);
}

function readWith(paths: readonly string[], shape: Shape, table: Sql): Sql {
  const record = [
    ...(shape.isBare ? envelopeFields(shape) : []),
    ...(shape.isWrapped
      ? [`'schema': 'JSON'`, `'payload': ${quoted(`STRUCT(${envelopeTypes(shape)})`)}`]
      : []),
  ];
  const part = (name: string): Sql => {
    const bare = id(name);
    const wrapped = id('payload', name);
    if (!shape.isWrapped) return bare;
    return shape.isBare ? sql`coalesce(${bare}, ${wrapped})` : wrapped;
  };
  const lines = sql`read_json([${join(paths.map(filePath))}], format = 'newline_delimited', columns = {${raw(record.join(', '))}})`;
  const inner = sql`SELECT ${part('op')} AS op, ${part('after')} AS "after", ${part('before')} AS "before", ${part('source')} AS "source",
    ${part('ts_ms')} AS ts_ms, ${shape.isWrapped ? raw('hash("schema"::VARCHAR)') : raw('NULL::UBIGINT')} AS schema_hash FROM ${lines}`;
  const source = (name: string): Sql => id('source', name);
  const images = [
    ...shape.names.map((name, i) => sql`${id('after', name)} AS ${id(`a${i}`)}`),
    ...shape.beforeNames.map(
      (name) => sql`${id('before', name)} AS ${id(`b${shape.names.indexOf(name)}`)}`,
    ),
  ];
  return sql`SELECT op, "after" IS NOT NULL AS has_after, "before" IS NOT NULL AS has_before, coalesce("source"."ts_ms", ts_ms) AS ts,
    ${table}, ${orderOf(shape.connector, source)} AS seq, ${originOf(shape.connector, source)} AS origin,
    schema_hash, NULL::VARCHAR[] AS "absent", ${join(images)} FROM (${inner})`;
}

export function originOf(connector: string | null, field: (name: string) => Sql): Sql {
  return connector === 'mysql' || connector === 'mariadb'
    ? sql`${field('server_id')}::VARCHAR`
    : raw('NULL::VARCHAR');
}

const OWNER = raw(`coalesce(nullif("source"."schema", ''), nullif("source"."db", ''))`);
const NAME = raw(`nullif("source"."table", '')`);

function tableExpr(choice: TableChoice): Sql {
  const named = sql`CASE WHEN ${OWNER} IS NULL THEN ${NAME} ELSE ${OWNER} || '.' || ${NAME} END`;
  return choice.only === null ? named : sql`coalesce(${named}, ${choice.only.table})`;
}

// Cheapest first: most rows of most feeds belong to the one table.
function isOwn(own: string, choice: TableChoice): Sql {
  const dot = own.indexOf('.');
  const [owner, name] = [own.slice(0, Math.max(dot, 0)), own.slice(dot + 1)];
  const plain = sql`"source"."table" = ${name} AND "source"."db" = ${owner} AND "source"."schema" IS NULL`;
  return sql`CASE WHEN ${plain} THEN TRUE ELSE coalesce(${tableExpr(choice)} = ${own}, FALSE) END`;
}

const quoted = (text: string): string => sql`${text}`.text;
const structOf = (names: readonly string[]): string =>
  `STRUCT(${names.map((name) => `${id(name).text} VARCHAR`).join(', ')})`;

function envelopeParts(shape: Shape): readonly (readonly [string, string])[] {
  const source = [
    ['db', 'VARCHAR'],
    ['schema', 'VARCHAR'],
    ['table', 'VARCHAR'],
    ['ts_ms', 'BIGINT'],
    ...orderFields(shape.connector),
  ];
  return [
    ['op', 'VARCHAR'],
    ['before', structOf(shape.beforeNames)],
    ['after', structOf(shape.names)],
    ['source', `STRUCT(${source.map(([name, type]) => `"${name}" ${type}`).join(', ')})`],
    ['ts_ms', 'BIGINT'],
  ];
}

const envelopeFields = (shape: Shape): string[] =>
  envelopeParts(shape).map(([name, type]) => `'${name}': ${quoted(type)}`);
const envelopeTypes = (shape: Shape): string =>
  envelopeParts(shape)
    .map(([name, type]) => `"${name}" ${type}`)
    .join(', ');

/** Types of the flat shape's columns, in order, for relations that are filled row by row. */
export function flatColumns(shape: Shape): readonly (readonly [string, string])[] {
  return [
    ['ord', 'BIGINT'],
    ['op', 'VARCHAR'],
    ['has_after', 'BOOLEAN'],
    ['has_before', 'BOOLEAN'],
    ['ts', 'BIGINT'],
    ['tbl', 'VARCHAR'],
    ['seq', 'HUGEINT'],
    ['origin', 'VARCHAR'],
    ['schema_hash', 'UBIGINT'],
    ['absent', 'VARCHAR[]'],
    ...shape.names.map((_, i) => [`a${i}`, 'VARCHAR'] as const),
    ...shape.beforeNames.map((name) => [`b${shape.names.indexOf(name)}`, 'VARCHAR'] as const),
  ];
}

/** TRUE where the line is no plain change: it is read again, exactly, and judged there. */
const IS_ODD_OP = raw(
  `NOT (CASE WHEN has_after AND op IN ('c', 'u', 'r') THEN TRUE WHEN has_before AND op = 'd' THEN TRUE ELSE coalesce(op = 't', FALSE) END)`,
);

/** The same of a landed row, which has to name its table besides. */
export const IS_ODD = sql`(${IS_ODD_OP} OR tbl IS NULL)`;

export interface ViewOptions {
  readonly from: Sql;
  readonly where: Sql | null;
  readonly hasOrdinal: boolean;
  /** The relation comes from `readOwn`: it may hold odd rows and rows of other tables. */
  readonly isRaw: boolean;
}

/** One table's view of a relation of the flat shape. */
export function viewOf(table: KnownTable, shape: Shape, options: ViewOptions): SourceView {
  const columns = table.columns.map((column): SourceColumn => {
    const i = shape.names.indexOf(column.name);
    return {
      name: column.name,
      type: column.type,
      from: column.from,
      after: id(`a${i}`),
      before: shape.beforeNames.includes(column.name) ? id(`b${i}`) : raw('NULL::VARCHAR'),
    };
  });
  return {
    table: table.table,
    from: options.from,
    where: options.where,
    isOwn: options.isRaw ? raw('own') : null,
    ordinal: options.hasOrdinal ? raw('ord') : null,
    isOdd: options.isRaw ? IS_ODD_OP : raw('FALSE'),
    op: raw('op'),
    hasBefore: raw('has_before'),
    absent: raw('"absent"'),
    tsMs: raw('ts'),
    order: orderFields(shape.connector).length > 0 ? raw('seq') : null,
    origin: shape.connector === 'mysql' || shape.connector === 'mariadb' ? raw('origin') : null,
    columns,
    key: table.key,
  };
}
