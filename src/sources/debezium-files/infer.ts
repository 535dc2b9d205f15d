/** Columns of tables whose types nothing but the values tells. */
import type { Column, ColumnType } from '../../model/types.ts';
import type { Database } from '../../sql/database.ts';
import { filePath, id, join, raw, sql, type Sql } from '../../sql/sql.ts';
import { tableName, type TableChoice } from './tables.ts';

/**
 * Structure of every wanted table in some files of bare envelopes, by table name; columns in the order of their
 * first appearance. Lines that cannot be read do not count.
 */
export async function inferColumns(
  db: Database,
  paths: readonly string[],
  choice: TableChoice,
): Promise<ReadonlyMap<string, readonly Column[]>> {
  const rows =
    await db.rows(sql`SELECT ${OWNER}, json_group_structure(coalesce("after", "before"))::VARCHAR AS structure
    FROM ${lines(paths, `'after': 'JSON', 'before': 'JSON'`)}
    WHERE coalesce("after", "before") IS NOT NULL GROUP BY ALL ORDER BY ALL`);
  const found = new Map<string, readonly Column[]>();
  for (const row of rows) {
    const name = tableOf(row, choice);
    if (name === null) continue;
    const structure = JSON.parse(String(row['structure'])) as unknown;
    if (typeof structure !== 'object' || structure === null || Array.isArray(structure)) continue;
    const columns = Object.entries(structure).map(([column, type]): Column => ({
      name: column,
      type: typeOf(type),
      nullable: true,
    }));
    found.set(name, await exactTypes(db, paths, row, columns));
  }
  return found;
}

type Owner = Readonly<Record<string, unknown>>;

const OWNER = sql`"source"."db" AS db, "source"."schema" AS schema, "source"."table" AS "table"`;

function lines(paths: readonly string[], columns: string): Sql {
  const source = `'source': 'STRUCT("db" VARCHAR, "schema" VARCHAR, "table" VARCHAR)'`;
  const options = sql`format = 'newline_delimited', ignore_errors = true`;
  return sql`read_json([${join(paths.map(filePath))}], ${options}, columns = {${raw(`${columns}, ${source}`)}})`;
}

function tableOf(row: Owner, choice: TableChoice): string | null {
  const text = (value: unknown): string | undefined =>
    typeof value === 'string' ? value : undefined;
  const parts = { db: text(row['db']), schema: text(row['schema']), table: text(row['table']) };
  const name = tableName(parts) ?? choice.only?.table;
  return name === undefined || choice.of(name) === null ? null : name;
}

const TYPES: Readonly<Record<string, ColumnType>> = {
  BOOLEAN: 'boolean',
  BIGINT: 'long',
  UBIGINT: 'long',
  DOUBLE: 'double',
};

// Mixed, nested and all-null columns are text: JSON text where a value is nested.
function typeOf(structure: unknown): ColumnType {
  return typeof structure === 'string' ? (TYPES[structure] ?? 'string') : 'string';
}

const DIGITS_MAX = 38;
/** So many columns are looked at in one statement. */
const SLICE_COLUMNS = 50;

/**
 * The structure calls any number a double that is no 64-bit integer. A column of whole numbers takes a decimal as wide as
 * they need; one of numbers that a double does not give back becomes text.
 */
async function exactTypes(
  db: Database,
  paths: readonly string[],
  owner: Owner,
  columns: readonly Column[],
): Promise<readonly Column[]> {
  const numbers = columns.filter((c) => c.type === 'long' || c.type === 'double');
  const exact = new Map<Column, ColumnType>();
  for (let from = 0; from < numbers.length; from += SLICE_COLUMNS) {
    const slice = numbers.slice(from, from + SLICE_COLUMNS);
    for (const [i, type] of (await exactTypesOf(db, paths, owner, slice)).entries()) {
      if (type !== null) exact.set(slice[i] as Column, type);
    }
  }
  return columns.map((column) => ({ ...column, type: exact.get(column) ?? column.type }));
}

/** What columns of numbers have to be instead; null: they are right. */
async function exactTypesOf(
  db: Database,
  paths: readonly string[],
  owner: Owner,
  numbers: readonly Column[],
): Promise<readonly (ColumnType | null)[]> {
  const where = join(
    ['db', 'schema', 'table'].map(
      (part) => sql`${id('source', part)} IS NOT DISTINCT FROM ${textOrNull(owner[part])}`,
    ),
    ' AND ',
  );
  const struct = sql`${`STRUCT(${numbers.map((c) => `${id(c.name).text} VARCHAR`).join(', ')})`}`;
  const images = lines(paths, `'after': ${struct.text}, 'before': ${struct.text}`);
  const asked = numbers.flatMap((column, i) => {
    const { isWide, isReal, length } = numberFacts(column.name);
    return [
      sql`coalesce(bool_or(${isWide}), FALSE) AS ${id(`wide${i}`)}`,
      sql`coalesce(bool_or(${isReal}), FALSE) AS ${id(`real${i}`)}`,
      sql`max(${length}) AS ${id(`length${i}`)}`,
    ];
  });
  const facts = await db.one(
    sql`SELECT ${join(asked)} FROM (SELECT unnest(["after", "before"]) AS image FROM ${images} WHERE ${where})`,
  );
  return numbers.map((_, i) => {
    if (facts[`wide${i}`] !== true) return null;
    const isWhole = facts[`real${i}`] !== true && Number(facts[`length${i}`]) <= DIGITS_MAX;
    return isWhole ? `decimal(${DIGITS_MAX},0)` : 'string';
  });
}

/** Over the landed text of a number: a whole one beyond 64 bits, or a real that was longer than a double can tell. */
function numberFacts(name: string): { isWide: Sql; isReal: Sql; length: Sql } {
  const text = id('image', name);
  const isReal = sql`(contains(${text}, '.') OR contains(${text}, 'e'))`;
  const isLong = sql`regexp_matches(${text}, '[0-9]{16}\\.|e\\+')`;
  return {
    isWide: sql`CASE WHEN ${isReal} THEN ${isLong} ELSE TRY_CAST(${text} AS BIGINT) IS NULL AND ${text} IS NOT NULL END`,
    isReal,
    length: sql`strlen(ltrim(${text}, '-'))`,
  };
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);
