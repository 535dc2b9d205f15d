import { expect, test } from 'vitest';
import { recordedTerminal } from '../../test/e2e/cli-terminal.ts';
import { PipelineError } from '../model/errors.ts';
import { fail, placeText } from './fail.ts';

test('an error is its code, its message, its place and the next step', async () => {
  const { terminal, stdout, stderr } = recordedTerminal({ quiet: true });
  const error = new PipelineError('E_VALUE_DECIMAL', 'too long', {
    subject: { file: 'a.jsonl', line: 3, byte: 40, table: 't' },
  });
  expect(await fail(error, terminal)).toBe(1);
  expect([stdout(), stderr()]).toEqual([
    '',
    'error E_VALUE_DECIMAL  too long\n  at a.jsonl:3, byte 40, table t\n  → Give the column a larger precision or scale: nothing is rounded.\n',
  ]);
});

test('an error as JSON is one line of its own', async () => {
  const { terminal, stderr } = recordedTerminal({ output: 'json' });
  await fail(new PipelineError('E_USAGE', 'what?'), terminal);
  expect(JSON.parse(stderr())).toEqual({
    code: 'E_USAGE',
    kind: 'config',
    message: 'what?',
    subject: {},
    advice: 'See `lakeward --help`.',
  });
});

test('a foreign error is a bug, except where the operating system refused', async () => {
  const { terminal, stderr } = recordedTerminal();
  expect(await fail(new TypeError('x is not a function'), terminal)).toBe(1);
  expect(stderr()).toContain('error E_BUG  x is not a function');
  expect(stderr()).not.toContain('fail.test.ts');
  const refused = Object.assign(new Error("EACCES: permission denied, open '/x'"), {
    code: 'EACCES',
  });
  const recorded = recordedTerminal();
  expect(await fail(refused, recorded.terminal)).toBe(77);
  expect(recorded.stderr()).toContain('error E_STATE_WRITE');
});

test('--verbose adds the stack and its causes', async () => {
  const { terminal, stderr } = recordedTerminal({ verbose: true });
  await fail(new PipelineError('E_BUG', 'outer', { cause: new Error('inner') }), terminal);
  expect(stderr()).toMatch(/PipelineError: outer\n\s+at .*\ncaused by: Error: inner\n\s+at /su);
});

test('places name what is known', () => {
  expect(placeText({})).toBe('');
  expect(placeText({ file: 'p.yaml', line: 3, column: 7 })).toBe('p.yaml:3:7');
  expect(placeText({ table: 'shop.orders', column: 'price', pipeline: 'p' })).toBe(
    'table shop.orders, column price, pipeline p',
  );
});
