import { expect, test } from 'vitest';
import { recordedTerminal } from '../../test/e2e/cli-terminal.ts';
import { PipelineError } from '../model/errors.ts';
import { runView } from './run-view.ts';

const counters = {
  changes: 3000,
  duplicates: 0,
  deadLetters: 1,
  skipped: 0,
  unmapped: 0,
  tombstones: 0,
  messages: 0,
  bytes: 2_500_000,
};
const spec = { pipeline_id: 'shop' };

/** Time stands still until it is moved, and whoever sleeps wakes when the test says so. */
function handClock() {
  let nowMs = 0;
  const sleepers: (() => void)[] = [];
  return {
    now: () => nowMs,
    sleep: () => new Promise<void>((resolve) => sleepers.push(resolve)),
    tick: async (ms: number) => {
      nowMs += ms;
      for (const wake of sleepers.splice(0)) wake();
      await new Promise(setImmediate);
    },
  };
}

const checkpoint = (id: number, rows: number) =>
  ({
    kind: 'checkpoint',
    mark: { id, position: '' },
    committed: [
      { what: 'shop.orders', rows },
      { what: 'events', rows: 5 },
    ],
    counters,
    durationMs: 120,
  }) as const;

test('in a pipe each checkpoint is a line, and nothing is written over', () => {
  const { terminal, stderr, stdout } = recordedTerminal();
  const view = runView(terminal, handClock(), spec, null);
  view.take({ kind: 'batch', counters });
  view.take(checkpoint(7, 2000));
  view.end();
  expect([stdout(), stderr()]).toEqual([
    '',
    'checkpoint 7: 3,000 changes · 2.50 MB · shop.orders 2,000 · events 5 · 0.12 s\n',
  ]);
});

test('commits add up over checkpoints, events apart from tables', () => {
  const view = runView(recordedTerminal().terminal, handClock(), spec, null);
  view.take(checkpoint(1, 10));
  view.take(checkpoint(2, 20));
  const { tables, events } = view.commits();
  expect([[...tables], events]).toEqual([[['shop.orders', { rows: 30, snapshots: 2 }]], 10]);
});

test('a warning is told once, a retry each time', () => {
  const { terminal, stderr } = recordedTerminal();
  const view = runView(terminal, handClock(), spec, null);
  const error = new PipelineError('E_SOURCE_READ', 'cannot read it');
  for (let i = 1; i <= 2; i += 1) {
    view.take({ kind: 'warning', text: 'types are guessed' });
    view.take({ kind: 'retry', error, attempt: i, of: 3, delayMs: 5000 });
  }
  expect(stderr().trimEnd().split('\n')).toEqual([
    'warning  types are guessed',
    'retry  E_SOURCE_READ  cannot read it; attempt 1 of 3 in 5.00 s',
    'retry  E_SOURCE_READ  cannot read it; attempt 2 of 3 in 5.00 s',
  ]);
  expect(view.commits().warnings).toEqual(['types are guessed']);
});

test('on a terminal one line moves, and is gone at the end', async () => {
  const { terminal, stderr } = recordedTerminal({ color: false }, { isTty: true });
  const clock = handClock();
  const view = runView({ ...terminal, width: 200 }, clock, spec, 10_000_000);
  view.take({ kind: 'batch', counters });
  await clock.tick(1000);
  view.take(checkpoint(1, 10));
  await clock.tick(1000);
  view.end();
  view.end();
  const frames = stderr().split('\r\u001b[2K');
  expect(frames.slice(1)).toEqual([
    '⠋ shop: reading, 0.00 s',
    '⠙ shop: 3,000 changes · 3,000/s · ━━━━━─────────────── 25 % of 10.0 MB, 3.00 s left · 0 checkpoints · 1 dead letter · 1.00 s',
    '⠹ shop: 3,000 changes · 1,500/s · ━━━━━─────────────── 25 % of 10.0 MB, 6.00 s left · 1 checkpoint · 1 dead letter · 2.00 s',
    '',
  ]);
});

test('the live line never wraps', async () => {
  const { terminal, stderr } = recordedTerminal({ color: false }, { isTty: true });
  const clock = handClock();
  const view = runView(terminal, clock, spec, null);
  view.take({ kind: 'batch', counters });
  await clock.tick(100);
  view.end();
  for (const frame of stderr().split('\r\u001b[2K')) expect(frame.length).toBeLessThan(60);
});
