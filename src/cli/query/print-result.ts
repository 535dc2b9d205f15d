/** A query's rows in the form that was asked for; all but tables go out as they come in. */
import { DuckDBTypeId, StatementType, type DuckDBResult, type DuckDBType } from '@duckdb/node-api';
import { jsonText } from '../json-text.ts';
import { csvCell } from '../print-rows.ts';
import type { Paint, Terminal } from '../terminal.ts';
import { converterOf } from './values.ts';

/** Returns the number of rows. */
export async function printResult(result: DuckDBResult, terminal: Terminal): Promise<number> {
  switch (terminal.output) {
    case 'json':
      return await printJson(result, terminal);
    case 'ndjson':
      return await printLines(result, terminal, [], (names, row) => jsonText(fieldsOf(names, row)));
    case 'csv':
      return await printLines(
        result,
        terminal,
        [result.columnNames().map(csvCell).join(',')],
        (_, row) => row.map(csvCell).join(','),
      );
    case 'table':
      return await printTable(result, terminal);
  }
}

type Row = readonly unknown[];

/** All rows as objects. */
export async function readRows(result: DuckDBResult): Promise<readonly Record<string, unknown>[]> {
  const names = result.deduplicatedColumnNames();
  const all: Record<string, unknown>[] = [];
  for await (const rows of rowsOf(result)) all.push(...rows.map((row) => fieldsOf(names, row)));
  return all;
}

/** Converted rows, a chunk at a time. */
async function* rowsOf(result: DuckDBResult): AsyncGenerator<readonly Row[]> {
  const converters = result.columnTypes().map(converterOf);
  for await (const rows of result.yieldRows()) {
    yield rows.map((row) => row.map((value, j) => converters[j]?.(value)));
  }
}

async function printLines(
  result: DuckDBResult,
  terminal: Terminal,
  head: readonly string[],
  line: (names: readonly string[], row: Row) => string,
): Promise<number> {
  const names = result.deduplicatedColumnNames();
  await terminal.write(head.map((text) => `${text}\n`).join(''));
  let count = 0;
  for await (const rows of rowsOf(result)) {
    count += rows.length;
    await terminal.write(rows.map((row) => `${line(names, row)}\n`).join(''));
  }
  return count;
}

async function printJson(result: DuckDBResult, terminal: Terminal): Promise<number> {
  const names = result.deduplicatedColumnNames();
  let count = 0;
  for await (const rows of rowsOf(result)) {
    const lines = rows.map((row) => `  ${jsonText(fieldsOf(names, row))}`);
    if (lines.length > 0) await terminal.write(`${count === 0 ? '[' : ','}\n${lines.join(',\n')}`);
    count += rows.length;
  }
  await terminal.write(count === 0 ? '[]\n' : '\n]\n');
  return count;
}

async function printTable(result: DuckDBResult, terminal: Terminal): Promise<number> {
  if (result.statementType === StatementType.EXPLAIN) return await printPlan(result, terminal);
  const { text, rows } = await tableOf(result, terminal.paint);
  await terminal.write(`${text}\n`);
  return rows;
}

/** A plan is a drawing of several lines. */
async function printPlan(result: DuckDBResult, terminal: Terminal): Promise<number> {
  const plans = (await result.getRows()).map((row) => `${String(row[1]).trimEnd()}\n`);
  await terminal.write(plans.join(''));
  return plans.length;
}

export async function tableOf(
  result: DuckDBResult,
  paint: Paint,
): Promise<{ readonly text: string; readonly rows: number }> {
  const columns = result
    .columnNames()
    .map((title, j) => ({ title, isRight: isNumber(result.columnType(j)) }));
  const cells: string[][] = [];
  for await (const rows of rowsOf(result)) for (const row of rows) cells.push(row.map(cellText));
  const { formatTable } = await import('../table.ts');
  return { text: await formatTable(columns, cells, paint), rows: cells.length };
}

const fieldsOf = (names: readonly string[], row: Row): Record<string, unknown> =>
  Object.fromEntries(names.map((name, j) => [name, row[j]]));

function cellText(value: unknown): string {
  if (value === null) return 'NULL';
  return typeof value === 'string' ? value : jsonText(value);
}

const NUMBERS: readonly DuckDBTypeId[] = [
  DuckDBTypeId.TINYINT,
  DuckDBTypeId.SMALLINT,
  DuckDBTypeId.INTEGER,
  DuckDBTypeId.BIGINT,
  DuckDBTypeId.HUGEINT,
  DuckDBTypeId.UTINYINT,
  DuckDBTypeId.USMALLINT,
  DuckDBTypeId.UINTEGER,
  DuckDBTypeId.UBIGINT,
  DuckDBTypeId.UHUGEINT,
  DuckDBTypeId.FLOAT,
  DuckDBTypeId.DOUBLE,
  DuckDBTypeId.DECIMAL,
];

const isNumber = (type: DuckDBType): boolean => NUMBERS.includes(type.typeId);
