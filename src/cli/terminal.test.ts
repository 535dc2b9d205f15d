import { expect, test } from 'vitest';
import { recordedTerminal } from '../../test/e2e/cli-terminal.ts';

const colored = (options: object, tty: boolean, env: Record<string, string> = {}): boolean =>
  recordedTerminal(options, { isTty: tty, env }).terminal.paint.isColorSupported;

test('colours are for terminals, unless somebody says otherwise', () => {
  expect(colored({}, true)).toBe(true);
  expect(colored({}, false)).toBe(false);
  expect(colored({}, true, { TERM: 'dumb' })).toBe(false);
  expect(colored({}, true, { NO_COLOR: '1' })).toBe(false);
  expect(colored({}, false, { FORCE_COLOR: '1' })).toBe(true);
  expect(colored({ color: false }, true, { FORCE_COLOR: '1' })).toBe(false);
});

test('nothing is asked, and no line rewritten, where nobody looks', () => {
  const of = (isTty: boolean, env = {}, options = {}) => {
    const { canAsk, isLive } = recordedTerminal(options, { isTty, env }).terminal;
    return { canAsk, isLive };
  };
  expect(of(true)).toEqual({ canAsk: true, isLive: true });
  expect(of(false)).toEqual({ canAsk: false, isLive: false });
  expect(of(true, { CI: 'true' })).toEqual({ canAsk: false, isLive: false });
  expect(of(true, {}, { quiet: true })).toEqual({ canAsk: true, isLive: false });
});

test('--quiet silences what is said, not what warns', async () => {
  const { terminal, stdout, stderr } = recordedTerminal({ quiet: true });
  terminal.say('said');
  terminal.warn('warned');
  await terminal.write('data\n');
  expect([stdout(), stderr()]).toEqual(['data\n', 'warned\n']);
});
