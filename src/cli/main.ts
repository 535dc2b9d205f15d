import { CommanderError } from 'commander';
import { EXIT, type ExitCode } from './exit-code.ts';
import { fail, usage } from './fail.ts';
import { buildProgram } from './program.ts';
import { endQuietlyOnBrokenPipe, openTerminal, OUTPUTS, type Output } from './terminal.ts';

/** Runs one command line. Never throws: what goes wrong is said on stderr. */
export async function main(argv: readonly string[]): Promise<ExitCode> {
  endQuietlyOnBrokenPipe(() => process.exit(EXIT.ok));
  let complaint = '';
  const program = buildProgram();
  program.configureOutput({ outputError: (text) => void (complaint += text) });
  try {
    await program.command.parseAsync(argv, { from: 'user' });
    return program.exitCode();
  } catch (error) {
    if (error instanceof CommanderError) return await refuse(error, complaint, argv);
    return await fail(error, terminalOf(argv));
  }
}
