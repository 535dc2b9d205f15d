import { Argument, type Command } from 'commander';
import type { ExitCode } from '../exit-code.ts';
import type { Terminal } from '../terminal.ts';

/** What a command does, given its options (the global ones too) and its arguments. */
export type Work<O, A extends readonly unknown[]> = (
  terminal: Terminal,
  options: O,
  ...args: A
) => Promise<ExitCode>;

/** Makes a commander action of it. */
export type Does = <O, A extends readonly unknown[]>(
  work: Work<O, A>,
) => (...given: readonly unknown[]) => Promise<void>;

export const DEFAULT_PIPELINE = 'pipeline.yaml';

export const pipelineArgument = (): Argument =>
  new Argument('[pipeline]', 'the pipeline file').default(DEFAULT_PIPELINE);

const EXAMPLES = new WeakMap<Command, readonly string[]>();

/** Shows command lines below the help of a command, and on the reference page. */
export function withExamples(command: Command, ...lines: readonly string[]): Command {
  EXAMPLES.set(command, lines);
  return command.addHelpText(
    'after',
    `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`,
  );
}

export const examplesOf = (command: Command): readonly string[] => EXAMPLES.get(command) ?? [];
