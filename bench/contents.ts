/** What a contestant wrote, as a few numbers that two of them have in common only when their rows are the same. */
import { DuckDBInstance } from '@duckdb/node-api';

/** Rows, and for each column and the whole row the sum over all rows of a hash: the order does not count. */
export interface Contents {
  readonly rows: string;
  readonly checksums: Readonly<Record<string, string>>;
}

/** Texts that every engine writes alike. An instant counts in epoch milliseconds, as the feed has it. */
const COLUMNS = {
  id: 'id::VARCHAR',
  customer_id: 'customer_id::VARCHAR',
  status: 'status',
  amount: 'amount::DECIMAL(18,2)::VARCHAR',
  note: 'note',
  qty: 'qty::VARCHAR',
  updated_at: 'epoch_ms(updated_at)::VARCHAR',
};

/** The query for the contents of a table, whose name and renamed columns the caller knows. MD5, because the engine's
 * own hash differs from version to version. */
export function contentsQuery(
  table: string,
  renamed: Readonly<Record<string, string>> = {},
): string {
  const texts = Object.entries(COLUMNS).map(
    ([column, text]) => [column, text.replace(column, renamed[column] ?? column)] as const,
  );
  const sums = texts.map(
    ([column, text]) =>
      `sum(md5_number_lower(coalesce(${text}, 'null'))::HUGEINT)::VARCHAR AS ${column}`,
  );
  const row = `concat_ws('|', ${texts.map(([, text]) => `coalesce(${text}, 'null')`).join(', ')})`;
  return `SELECT count(*)::VARCHAR AS count, ${sums.join(', ')}, sum(md5_number_lower(${row})::HUGEINT)::VARCHAR AS whole_row FROM ${table}`;
}

export function contentsOf(row: Readonly<Record<string, unknown>>): Contents {
  const { count, ...checksums } = row;
  return {
    rows: String(count),
    checksums: Object.fromEntries(
      Object.entries(checksums).map(([name, sum]) => [name, String(sum)]),
    ),
  };
}

/** The columns whose sums differ; empty: the rows are the same. */
export function differences(one: Contents, other: Contents): readonly string[] {
  const found = Object.keys(one.checksums).filter(
    (name) => one.checksums[name] !== other.checksums[name],
  );
  return one.rows === other.rows ? found : [`${one.rows} rows against ${other.rows}`, ...found];
}

/** Runs one query in a database of its own and returns its only row. */
export async function firstRow(query: string): Promise<Readonly<Record<string, unknown>>> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    const [row] = (await connection.runAndReadAll(query)).getRowObjectsJson();
    return row ?? {};
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
