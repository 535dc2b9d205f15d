/** Commands about a pipeline file: run, validate, explain, reconcile. */
import type { Command } from 'commander';
import { DEFAULT_PIPELINE, withExamples, pipelineArgument, type Does } from './does.ts';

export function addPipelineCommands(program: Command, does: Does): void {
  program.commandsGroup('Pipelines:');
  addRun(program, does);
  withExamples(
    program
      .command('validate')
      .summary('check pipeline files')
      .description(
        'Checks pipeline files, and names each problem with file, line and column. Reads no feed and writes nothing.',
      )
      .argument('[pipelines...]', 'pipeline files', [DEFAULT_PIPELINE])
      .action(
        does(async (terminal, _options: object, paths: readonly string[]) => {
          const { validateCommand } = await import('../commands/validate.ts');
          return await validateCommand(paths, terminal);
        }),
      ),
    'lakeward validate pipelines/*.yaml',
  );
  program
    .command('explain')
    .summary('show the SQL of each step')
    .description(
      'Prints the SQL that the engine runs for each table, step by step. Looks at the first lines of the feed and writes nothing.',
    )
    .addArgument(pipelineArgument())
    .action(
      does(async (terminal, _options: object, path: string) => {
        const { explainCommand } = await import('../commands/explain.ts');
        return await explainCommand(path, terminal);
      }),
    );
  withExamples(
    program
      .command('reconcile')
      .summary('prove tables against their feed')
      .description(
        'Folds the raw feed by a path that shares no code with the engine, and compares each table with it: counts, checksums of key ranges, then the rows that differ. Exits with 2 when something differs.',
      )
      .addArgument(pipelineArgument())
      .argument('[tables...]', 'tables on the lake, as ns.t or t (default: all of the pipeline)')
      .action(
        does(async (terminal, _options: object, path: string, tables: readonly string[]) => {
          const { reconcileCommand } = await import('../commands/reconcile.ts');
          return await reconcileCommand(path, tables, terminal);
        }),
      ),
    'lakeward reconcile pipeline.yaml shop.orders',
  );
}

function addRun(program: Command, does: Does): void {
  withExamples(
    program
      .command('run')
      .summary('mirror a feed onto its tables')
      .description(
        'Runs a pipeline. A bounded source ends by itself; run again, it reads what was added. SIGINT or SIGTERM ends it with a last checkpoint, a second one at once.',
      )
      .addArgument(pipelineArgument())
      .option('--strict', 'exit with 3 when records wait as dead letters')
      .action(
        does(async (terminal, options: { strict?: boolean }, path: string) => {
          const { runCommand } = await import('../commands/run.ts');
          return await runCommand(path, options, terminal);
        }),
      ),
    'lakeward run pipeline.yaml',
    'lakeward run pipeline.yaml --strict -o json',
  );
}
