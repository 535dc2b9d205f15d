import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { buildProgram } from './program.ts';
import { cliPage } from './reference.ts';

const all = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(all)];

test('every command, argument and option says what it is for', () => {
  const silent = all(buildProgram(() => undefined).command).flatMap((command) => [
    ...(command.description() === '' ? [command.name()] : []),
    ...command.options
      .filter(({ description }) => description === '')
      .map(({ flags }) => `${command.name()} ${flags}`),
    ...command.registeredArguments
      .filter(({ description }) => description === '')
      .map((argument) => `${command.name()} ${argument.name()}`),
  ]);
  expect(silent).toEqual([]);
});

test('the page has a section for every command that does something', () => {
  const page = cliPage('<!-- note -->');
  const sections = [...page.matchAll(/^## `(.*)`$/gmu)].map(([, name]) => name);
  const names =
    'demo init run validate explain reconcile query catalog-tables catalog-snapshots catalog-files ' +
    'dlq-list dlq-show dlq-replay dlq-discard doctor errors version';
  expect(sections).toEqual(names.split(' ').map((name) => `lakeward ${name.replace('-', ' ')}`));
});
