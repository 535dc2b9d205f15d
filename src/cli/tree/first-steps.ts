/** Commands to begin with, and those that help along. */
import { Option, type Command } from 'commander';
import { withExamples, type Does } from './does.ts';

export function addFirstSteps(program: Command, does: Does): void {
  program.commandsGroup('First steps:');
  program
    .command('demo')
    .summary('see it work on real data')
    .description(
      'Mirrors a recorded feed of a week of earthquakes into a folder, asks a question, and shows what to try next. Needs no network.',
    )
    .argument('[dir]', 'where to put it', './lakeward-demo')
    .action(
      does(async (terminal, _options: object, dir: string) => {
        const { demoCommand } = await import('../commands/demo.ts');
        return await demoCommand(dir, terminal);
      }),
    );
  withExamples(
    program
      .command('init')
      .summary('write a first pipeline.yaml')
      .description(
        'Writes a commented pipeline.yaml. With --from it looks at a feed first, and writes the tables, columns and types that it sees. Never overwrites a file.',
      )
      .argument('[dir]', 'where to put it', '.')
      .addOption(new Option('--from <feed>', 'a feed to look at: a file, a folder or a pattern'))
      .action(
        does(async (terminal, options: { from?: string }, dir: string) => {
          const { initCommand } = await import('../commands/init.ts');
          return await initCommand(dir, options, terminal);
        }),
      ),
    'lakeward init --from ./feed/orders.jsonl',
  );
}

export function addHelpers(program: Command, does: Does): void {
  program.commandsGroup('Help:');
  program
    .command('doctor')
    .summary('check what a pipeline needs')
    .description(
      'Checks this machine, and what a pipeline needs on it: engine, folders, space, state, feed. Each fault comes with its fix. Exits with 1 when something is wrong.',
    )
    .argument(
      '[pipeline]',
      'a pipeline file to check too (default: "pipeline.yaml" where there is one)',
    )
    .action(
      does(async (terminal, _options: object, path?: string) => {
        const { doctorCommand } = await import('../commands/doctor.ts');
        return await doctorCommand(path, terminal);
      }),
    );
  program
    .command('errors')
    .summary('explain an error code')
    .description(
      'Explains an error code: its kind, its meaning and the next step. Without a code, lists all of them.',
    )
    .argument('[code]', 'such as E_VALUE_DECIMAL')
    .action(
      does(async (terminal, _options: object, code?: string) => {
        const { errorsCommand } = await import('../commands/errors.ts');
        return await errorsCommand(code, terminal);
      }),
    );
  program
    .command('version')
    .summary('print the version')
    .description('Prints the version; with -o json, those of Node.js and of the engine too.')
    .action(
      does(async (terminal) => {
        const { versionCommand } = await import('../commands/version.ts');
        return await versionCommand(terminal);
      }),
    );
}
