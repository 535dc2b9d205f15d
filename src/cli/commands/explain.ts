import type { ExplainedTable } from '../../explain.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { jsonText } from '../json-text.ts';
import type { Terminal } from '../terminal.ts';
import { loadNoticed } from './run.ts';

/** `lakeward explain`: the SQL of each step, by table. */
export async function explainCommand(path: string, terminal: Terminal): Promise<ExitCode> {
  const { spec } = await loadNoticed(path, terminal);
  const { explainPipeline } = await import('../../explain.ts');
  const tables = await explainPipeline(spec);
  if (terminal.output === 'json') await terminal.write(`${jsonText(tables, { indent: 2 })}\n`);
  else if (terminal.output !== 'table')
    await terminal.write(tables.map((table) => `${jsonText(table)}\n`).join(''));
  else for (const table of tables) await terminal.write(textOf(table, terminal));
  return EXIT.ok;
}

function textOf({ table, target, steps }: ExplainedTable, { paint }: Terminal): string {
  const parts = steps.map(
    ({ name, sql }, i) => `${paint.dim(`-- ${i + 1}. ${name}`)}\n${sql.trim()};\n`,
  );
  return `${paint.bold(`-- ${table} → ${target}`)}\n${parts.join('\n')}\n`;
}
