/** The frame of the command line: global options, help, and how a command gets at its terminal. */
import { Command, Option } from 'commander';
import { addCatalogCommand, addLakeCommands } from './tree/lake.ts';
import { addDeadLetterCommand } from './tree/dead-letters.ts';
import { addFirstSteps, addHelpers } from './tree/first-steps.ts';
import { addPipelineCommands } from './tree/pipeline.ts';
import type { Does, Work } from './tree/does.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { OUTPUTS, openTerminal, type GlobalOptions } from './terminal.ts';
import { packageVersion } from './version.ts';

export interface Program {
  readonly command: Command;
  /** What the command that ran means the process to end with. */
  exitCode(): ExitCode;
}

/** @param complain gets what the parser has against a command line */
export function buildProgram(complain: (text: string) => void): Program {
  let exitCode: ExitCode = EXIT.ok;
  const does: Does = <O, A extends readonly unknown[]>(work: Work<O, A>) => {
    return async (...given: readonly unknown[]) => {
      const options = (given.at(-1) as Command).optsWithGlobals<GlobalOptions>();
      // commander adds the command's own options and the command behind the arguments.
      exitCode = await work(
        openTerminal(options),
        options as O,
        ...(given.slice(0, -2) as unknown as A),
      );
    };
  };
  const command = new Command('lakeward')
    .description('Mirrors change feeds onto Apache Iceberg tables, exactly once.')
    .usage('<command> [options]')
    .addOption(
      new Option('-o, --output <format>', 'what stdout gets').choices(OUTPUTS).default('table'),
    )
    .option('--no-color', 'no colours (so does NO_COLOR)')
    .option('-q, --quiet', 'nothing on stderr but errors')
    .option('-v, --verbose', 'more on stderr, stack traces included')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help of a command')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ outputError: complain })
    .showSuggestionAfterError(true)
    .exitOverride();
  addFirstSteps(command, does);
  addPipelineCommands(command, does);
  addLakeCommands(command, does);
  addCatalogCommand(command, does);
  addDeadLetterCommand(command, does);
  addHelpers(command, does);
  return { command, exitCode: () => exitCode };
}
