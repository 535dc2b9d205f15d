import { PipelineError } from '../model/errors.ts';
import type { Filter, SourceView } from '../model/change.ts';
import { castText } from '../sql/casts.ts';
import type { Database } from '../sql/database.ts';
import { id, join, raw, sql, type Sql } from '../sql/sql.ts';

/**
 * Makes an expression of the pipeline file usable on both images of a row: a macro whose parameters are the columns
 * that the expression names.
 *
 * @throws E_CONFIG_SQL, E_COLUMN_UNKNOWN
 */
export async function makeFilter(
  db: Database,
  view: SourceView,
  expression: string,
  where: string,
): Promise<Filter> {
  const names = await columnsIn(db, expression, where, view.table);
  const columns = names.map((name) => {
    const column = view.columns.find((c) => c.name.toLowerCase() === name.toLowerCase());
    if (column !== undefined) return column;
    throw new PipelineError(
      'E_COLUMN_UNKNOWN',
      `${where} names the column ${name}, which ${view.table} does not have: ${view.columns.map((c) => c.name).join(', ')}`,
      {
        subject: { table: view.table, column: name },
      },
    );
  });
  const macro = db.name('keep');
  try {
    await db.run(
      sql`CREATE MACRO ${id(macro)}(${join(columns.map((c) => id(c.name)))}) AS (${raw(expression)})`,
    );
    const nulls = columns.map((c) => castText(raw('NULL::VARCHAR'), c.type, c.from).value);
    await db.rows(sql`SELECT (${id(macro)}(${join(nulls)}))::BOOLEAN AS keep`);
  } catch (error) {
    throw new PipelineError(
      'E_CONFIG_SQL',
      `${where} cannot be evaluated over ${view.table}: ${firstLine(error)}`,
      { subject: { table: view.table }, cause: error },
    );
  }
  const holds = (texts: readonly Sql[]): Sql => {
    const values = columns.map(
      (column, i) => castText(texts[i] ?? raw('NULL::VARCHAR'), column.type, column.from).value,
    );
    return sql`(${id(macro)}(${join(values)}))::BOOLEAN`;
  };
  return { columns, holds };
}

async function columnsIn(
  db: Database,
  expression: string,
  where: string,
  table: string,
): Promise<readonly string[]> {
  const { tree } = await db.one<{ tree: string }>(
    sql`SELECT json_serialize_sql(${`SELECT (${expression})`})::VARCHAR AS tree`,
  );
  const parsed = JSON.parse(tree) as {
    error?: boolean;
    error_message?: string;
    statements?: unknown[];
  };
  if (parsed.error === true || parsed.statements?.length !== 1) {
    throw new PipelineError(
      'E_CONFIG_SQL',
      `${where} is not an SQL expression: ${(parsed.error_message ?? 'more than one statement').split('\n')[0]}`,
      {
        subject: { table },
      },
    );
  }
  const names = new Set<string>();
  collect(parsed.statements, names);
  return [...names];
}

function collect(node: unknown, names: Set<string>): void {
  if (Array.isArray(node)) for (const item of node) collect(item, names);
  else if (typeof node === 'object' && node !== null) {
    const { class: kind, column_names: parts } = node as {
      class?: string;
      column_names?: string[];
    };
    if (kind === 'COLUMN_REF' && parts !== undefined) names.add(parts.at(-1) ?? '');
    for (const value of Object.values(node)) collect(value, names);
  }
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
}
