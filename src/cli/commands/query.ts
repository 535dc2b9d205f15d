import { text as readAll } from 'node:stream/consumers';
import { systemClock } from '../../lib/clock.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { usage } from '../fail.ts';
import { printResult } from '../query/print-result.ts';
import { runQuery } from '../query/run-query.ts';
import type { Terminal } from '../terminal.ts';
import { openWarehouse, scanAtOf, type WarehouseChoice } from '../warehouse.ts';
import { count, duration } from '../words.ts';

/** `lakeward query`: one reading statement over the tables of a warehouse. */
export async function queryCommand(
  given: string,
  options: WarehouseChoice & { readonly at?: string },
  terminal: Terminal,
): Promise<ExitCode> {
  const startMs = systemClock.now();
  const at = scanAtOf(options.at);
  const query = given === '-' ? await readAll(process.stdin) : given;
  if (query.trim() === '') throw usage('the query is empty');
  const warehouse = await openWarehouse(options);
  const rows = await runQuery(query, { warehouse, at }, (result) => printResult(result, terminal));
  if (terminal.output === 'table') {
    terminal.say(
      terminal.errorPaint.dim(`${count(rows, 'row')}, ${duration(systemClock.now() - startMs)}`),
    );
  }
  return EXIT.ok;
}
