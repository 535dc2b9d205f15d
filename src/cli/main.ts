/** One command line, from its words to its exit code. */
import { CommanderError } from 'commander';
import { EXIT, type ExitCode } from './exit-code.ts';
import { fail, usage } from './fail.ts';
import { buildProgram } from './program.ts';
import { endQuietlyOnBrokenPipe, openTerminal, OUTPUTS, type Terminal } from './terminal.ts';

/** Never throws: what goes wrong is said on stderr. */
export async function main(argv: readonly string[]): Promise<ExitCode> {
  endQuietlyOnBrokenPipe(() => process.exit(EXIT.ok));
  let complaint = '';
  const program = buildProgram((text) => void (complaint += text));
  try {
    if (argv.length === 0) program.command.outputHelp();
    else await program.command.parseAsync(argv, { from: 'user' });
    return program.exitCode();
  } catch (error) {
    if (!(error instanceof CommanderError)) return await fail(error, terminalOf(argv));
    if (error.exitCode === 0) return EXIT.ok;
    return complaint === '' ? EXIT.usage : await fail(usage(sentence(complaint)), terminalOf(argv));
  }
}

/** Where nothing has been parsed, what the words themselves say of the form that is wanted. */
function terminalOf(argv: readonly string[]): Terminal {
  const after = argv.findIndex((word) => word === '-o' || word === '--output');
  const joined = argv
    .map((word) => /^(?:--output=|-o)(\w+)$/u.exec(word)?.[1])
    .find((word) => word !== undefined);
  const wanted = joined ?? (after < 0 ? undefined : argv[after + 1]);
  return openTerminal({
    output: OUTPUTS.find((output) => output === wanted),
    color: !argv.includes('--no-color'),
    verbose: argv.includes('-v') || argv.includes('--verbose'),
  });
}

/** commander says `error: unknown option '--x'\n(Did you mean --y?)`. */
function sentence(complaint: string): string {
  return complaint
    .trim()
    .replace(/^error: /u, '')
    .replaceAll(/\s*\n\s*/gu, ' ');
}
