/** The tree of commands. Each command's work is imported when it is called, so that `--help` stays quick. */
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { EXIT, type ExitCode } from './exit-code.ts';
import { OUTPUTS, openTerminal, type GlobalOptions, type Terminal } from './terminal.ts';
import { packageVersion } from './version.ts';

/** What a command does once its arguments are known. */
type Work<A> = (args: A, terminal: Terminal) => Promise<ExitCode>;

export interface Program {
  readonly command: Command;
  /** What the command that ran means the process to end with. */
  exitCode(): ExitCode;
}

const DEFAULT_PIPELINE = 'pipeline.yaml';
const DEFAULT_DEMO = './lakeward-demo';

export function buildProgram(): Program {
  let exitCode: ExitCode = EXIT.ok;
  const command = new Command('lakeward');
  /** Hands a command's arguments and options over, all in one object. */
  const does = <A>(work: Work<A>, name: (...args: readonly unknown[]) => A) => {
    return async (...given: readonly unknown[]): Promise<void> => {
      const called = given.at(-1) as Command;
      const options = called.optsWithGlobals<GlobalOptions>();
      exitCode = await work({ ...options, ...name(...given.slice(0, -2)) }, openTerminal(options));
    };
  };
  configure(command);
  addRunning(command, does);
  addReading(command, does);
  addDeadLetters(command, does);
  addStarting(command, does);
  return { command, exitCode: () => exitCode };
}

type Does = <A>(work: Work<A>, name: (...args: readonly unknown[]) => A) => (...given: readonly unknown[]) => Promise<void>;

function configure(command: Command): void {
  command
    .description('Mirrors change feeds onto Apache Iceberg tables, exactly once.')
    .usage('<command> [options]')
    .addOption(new Option('-o, --output <format>', 'what stdout gets').choices(OUTPUTS).default('table'))
    .option('--no-color', 'no colours (also: NO_COLOR)')
    .option('-q, --quiet', 'nothing on stderr but errors')
    .option('-v, --verbose', 'more on stderr, stack traces too')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help of a command')
    .configureHelp({ showGlobalOptions: true })
    .showSuggestionAfterError(true)
    .exitOverride();
}

const pipelineArgument = (): Argument => new Argument('[pipeline]', 'the pipeline file').default(DEFAULT_PIPELINE);

const warehouseOptions = (command: Command): Command =>
  command
    .option('-p, --pipeline <file>', `the pipeline whose warehouse to read (default: "${DEFAULT_PIPELINE}")`)
    .option('--warehouse <dir>', 'the warehouse itself, without a pipeline file');

function addRunning(command: Command, does: Does): void {
  command.commandsGroup('Run:');
  command
    .command('run')
    .summary('run a pipeline until its feed ends')
    .description('Runs a pipeline. A bounded source ends by itself; run again, it reads what was added. SIGINT or SIGTERM ends it with a last checkpoint.')
    .addArgument(pipelineArgument())
    .option('--strict', 'exit with 3 when records became dead letters')
    .addHelpText('after', example('lakeward run pipeline.yaml'))
    .action(
      does(
        async (a: { pipeline: string; strict?: boolean }, terminal) => {
          const { runCommand } = await import('./commands/run.ts');
          return await runCommand(a.pipeline, a, terminal);
        },
        (pipeline) => ({ pipeline: pipeline as string }),
      ),
    );
  command
    .command('validate')
    .summary('check pipeline files')
    .description('Checks pipeline files, and names each problem with file, line and column. Reads no feed and writes nothing.')
    .argument('[pipelines...]', 'pipeline files', [DEFAULT_PIPELINE])
    .addHelpText('after', example('lakeward validate pipelines/*.yaml'))
    .action(
      does(
        async (a: { pipelines: readonly string[] }, terminal) => {
          const { validateCommand } = await import('./commands/validate.ts');
          return await validateCommand(a.pipelines, terminal);
        },
        (pipelines) => ({ pipelines: pipelines as string[] }),
      ),
    );
}

function addReading(command: Command, does: Does): void {}
function addDeadLetters(command: Command, does: Does): void {}
function addStarting(command: Command, does: Does): void {}

function example(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`;
}
