/** `dlq`: the records that could not be represented. */
import type { Command } from 'commander';
import { DEFAULT_PIPELINE, withExamples, pipelineArgument, type Does } from './does.ts';

export function addDeadLetterCommand(program: Command, does: Does): void {
  const dlq = program
    .command('dlq')
    .summary('look at dead letters, replay or discard them')
    .description(
      'Dead letters are records that could not be represented. They are kept with their very bytes until they are replayed or discarded.',
    );
  addLooks(dlq, does);
  addEnds(dlq, does);
}

function addLooks(dlq: Command, does: Does): void {
  dlq
    .command('list')
    .description('Lists the dead letters that wait.')
    .addArgument(pipelineArgument())
    .action(
      does(async (terminal, _options: object, path: string) => {
        const { listCommand } = await import('../commands/dlq.ts');
        return await listCommand(path, terminal);
      }),
    );
  withExamples(
    dlq
      .command('show')
      .description(
        'Writes the bytes of a dead letter to stdout, exactly as the feed has them; with -o json, all that is known of it.',
      )
      .argument('<id>', 'its id, from dlq list')
      .addArgument(pipelineArgument())
      .action(
        does(async (terminal, _options: object, id: string, path: string) => {
          const { showCommand } = await import('../commands/dlq.ts');
          return await showCommand(id, path, terminal);
        }),
      ),
    'lakeward dlq show 3f9a1c07 pipeline.yaml',
  );
}

const WORDS = '[ids... pipeline] [options]';

function addEnds(dlq: Command, does: Does): void {
  withExamples(
    dlq
      .command('replay')
      .usage(WORDS)
      .description(
        `Runs the original bytes through the mapping as it is now, in order for each key. What is older than its row is not applied. The file is ${DEFAULT_PIPELINE} unless one is named among the ids.`,
      )
      .argument('[words...]', 'ids, and the pipeline file')
      .option('--all', 'all that wait')
      .action(
        does(async (terminal, options: { all?: boolean }, given: readonly string[]) => {
          const { replayCommand } = await import('../commands/dlq.ts');
          return await replayCommand(given, options, terminal);
        }),
      ),
    'lakeward dlq replay --all pipeline.yaml',
    'lakeward dlq replay 3f9a1c07 5b22d0e4 pipeline.yaml',
  );
  withExamples(
    dlq
      .command('discard')
      .usage(WORDS)
      .description(
        `Forgets dead letters for good. Asks first; where nobody can answer, --yes is needed. The file is ${DEFAULT_PIPELINE} unless one is named among the ids.`,
      )
      .argument('[words...]', 'ids, and the pipeline file')
      .option('--all', 'all that wait')
      .option('-y, --yes', 'do not ask')
      .action(
        does(
          async (terminal, options: { all?: boolean; yes?: boolean }, given: readonly string[]) => {
            const { discardCommand } = await import('../commands/dlq.ts');
            return await discardCommand(given, options, terminal);
          },
        ),
      ),
    'lakeward dlq discard 3f9a1c07 pipeline.yaml --yes',
  );
}
