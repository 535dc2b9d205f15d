import { PipelineError } from '../../model/errors.ts';
import type { PipelineSpec } from '../../model/spec.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { jsonText } from '../json-text.ts';
import type { Terminal } from '../terminal.ts';
import { loadNoticed } from './run.ts';

/** The statements of one table, in the order in which they run. */
interface Explained {
  readonly table: string;
  readonly target: string;
  readonly steps: readonly { readonly name: string; readonly sql: string }[];
}

/** `lakeward explain`: the SQL of each step, by table. */
export async function explainCommand(path: string, terminal: Terminal): Promise<ExitCode> {
  const { spec } = await loadNoticed(path, terminal);
  const tables = await explain(spec);
  if (terminal.output === 'json') await terminal.write(`${jsonText(tables, { indent: 2 })}\n`);
  else if (terminal.output !== 'table')
    await terminal.write(tables.map((table) => `${jsonText(table)}\n`).join(''));
  else for (const table of tables) await terminal.write(textOf(table, terminal));
  return EXIT.ok;
}

async function explain(spec: PipelineSpec): Promise<readonly Explained[]> {
  const app = (await import('../../app.ts')) as object as {
    explainPipeline?: (spec: PipelineSpec) => Promise<readonly Explained[]>;
  };
  if (app.explainPipeline === undefined)
    throw new PipelineError('E_CONFIG_UNSUPPORTED', 'this build cannot explain a pipeline');
  return await app.explainPipeline(spec);
}

function textOf({ table, target, steps }: Explained, { paint }: Terminal): string {
  const parts = steps.map(
    ({ name, sql }, i) => `${paint.dim(`-- ${i + 1}. ${name}`)}\n${sql.trim()};\n`,
  );
  return `${paint.bold(`-- ${table} → ${target}`)}\n${parts.join('\n')}\n`;
}
