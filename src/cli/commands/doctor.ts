import { stat } from 'node:fs/promises';
import type { Check } from '../doctor/check.ts';
import { checkMachine } from '../doctor/machine.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { printRows } from '../print-rows.ts';
import type { Terminal } from '../terminal.ts';
import { DEFAULT_PIPELINE } from '../tree/does.ts';
import { count } from '../words.ts';

/** `lakeward doctor`: what is wrong here, and what mends it. */
export async function doctorCommand(
  path: string | undefined,
  terminal: Terminal,
): Promise<ExitCode> {
  const checks: Check[] = [];
  const take = async (check: Check): Promise<void> => {
    checks.push(check);
    if (terminal.output === 'table') await terminal.write(`${textOf(check, terminal)}\n`);
  };
  for await (const check of checkMachine()) await take(check);
  const isThere = path !== undefined || (await stat(DEFAULT_PIPELINE).catch(() => null)) !== null;
  if (isThere) {
    const { checkPipeline } = await import('../doctor/pipeline.ts');
    for await (const check of checkPipeline(path ?? DEFAULT_PIPELINE)) await take(check);
  }
  if (terminal.output !== 'table') await printRows(terminal, checks, [], '');
  const failed = checks.filter(({ status }) => status === 'failed').length;
  if (terminal.output === 'table') {
    const doubts = checks.filter(({ status }) => status === 'warning').length;
    terminal.say(
      failed === 0
        ? `nothing is wrong${doubts === 0 ? '' : `, ${count(doubts, 'warning')}`}`
        : `${count(failed, 'thing')} wrong`,
    );
  }
  return failed === 0 ? EXIT.ok : EXIT.failed;
}

function textOf({ check, status, message, fix }: Check, { paint }: Terminal): string {
  const marks = { ok: paint.green('✔'), warning: paint.yellow('!'), failed: paint.red('✘') };
  const line = `${marks[status]} ${check.padEnd(12)}  ${message}`;
  return fix === null ? line : `${line}\n  ${' '.repeat(12)}  ${paint.cyan('→')} ${fix}`;
}
