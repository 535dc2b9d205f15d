import { nearest } from '../../config/did-you-mean.ts';
import { ERRORS, PipelineError } from '../../model/errors.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { printObject, printRows } from '../print-rows.ts';
import type { Terminal } from '../terminal.ts';

/** `lakeward errors`: explains a code, or lists all. */
export async function errorsCommand(
  code: string | undefined,
  terminal: Terminal,
): Promise<ExitCode> {
  if (code === undefined) {
    const rows = Object.entries(ERRORS).map(([name, entry]) => ({ code: name, ...entry }));
    const columns = [
      { title: 'CODE', text: (row: (typeof rows)[number]) => row.code },
      { title: 'KIND', text: (row: (typeof rows)[number]) => row.kind },
      { title: 'MEANING', text: (row: (typeof rows)[number]) => row.meaning },
    ];
    await printRows(terminal, rows, columns, 'there are none');
    return EXIT.ok;
  }
  const wanted = code.toUpperCase().replaceAll('-', '_');
  const entry = Object.entries(ERRORS).find(([name]) => name === wanted || name === `E_${wanted}`);
  if (entry === undefined) {
    const near = nearest(wanted, Object.keys(ERRORS));
    const hint = near === undefined ? '' : `; did you mean ${near}?`;
    throw new PipelineError('E_NOT_FOUND', `there is no error code ${code}${hint}`);
  }
  const [name, { kind, meaning, advice }] = entry;
  const { paint } = terminal;
  await printObject(terminal, { code: name, kind, meaning, advice }, () =>
    [`${paint.bold(name)}  (${kind})`, `  ${meaning}`, `  ${paint.cyan('→')} ${advice}`].join('\n'),
  );
  return EXIT.ok;
}
