import pico from 'picocolors';
import { expect, test } from 'vitest';
import { formatRun, type RunReport } from './run-report.ts';

const plain = pico.createColors(false);
const report: RunReport = {
  pipeline_id: 'shop',
  status: 'finished',
  changes: 12_345,
  tables: [
    { table: 'shop.orders', rows: 10_000, snapshots: 3 },
    { table: 'shop.people', rows: 7, snapshots: 1 },
  ],
  events: 0,
  duplicates: 0,
  dead_letters: 0,
  dead_letters_waiting: 0,
  skipped: 0,
  unmapped: 0,
  tombstones: 0,
  messages: 0,
  bytes: 0,
  checkpoints: 3,
  last_checkpoint: 3,
  seconds: 1.5,
  changes_per_second: 8230,
  warnings: [],
  next: null,
};

test('a run is a headline and its tables', async () => {
  expect(await formatRun(report, plain))
    .toBe(`✔ shop: 12,345 changes, 3 checkpoints, 1.50 s (8,230/s)
  TABLE        ROWS WRITTEN  SNAPSHOTS
  shop.orders        10,000          3
  shop.people             7          1`);
});

test('what was left out, what was published and what waits has a line each', async () => {
  const full = {
    ...report,
    tables: [],
    events: 9,
    duplicates: 212,
    unmapped: 1,
    tombstones: 2,
    skipped: 1,
    messages: 1,
    dead_letters: 1,
    dead_letters_waiting: 3,
    next: 'lakeward dlq list p.yaml',
  };
  expect((await formatRun(full, plain)).split('\n').slice(1)).toEqual([
    '  9 events published',
    '  left out: 212 duplicates · 1 corrupted line · 1 change of other tables · 2 tombstones · 1 message',
    '  3 dead letters wait (1 new): lakeward dlq list p.yaml',
  ]);
});

test('dead letters are called new only beside old ones', async () => {
  const fresh = { ...report, tables: [], dead_letters: 2, dead_letters_waiting: 2, next: 'x' };
  expect((await formatRun(fresh, plain)).split('\n').at(-1)).toBe('  2 dead letters wait: x');
});

test('a run that found nothing says since when', async () => {
  const idle = { ...report, changes: 0, tables: [], checkpoints: 0 };
  expect(await formatRun(idle, plain)).toBe('✔ shop: nothing new since checkpoint 3');
  expect(await formatRun({ ...idle, last_checkpoint: null }, plain)).toBe('✔ shop: nothing new');
});

test('an interrupted run says where it stopped', async () => {
  expect(await formatRun({ ...report, status: 'interrupted', tables: [] }, plain)).toBe(
    '■ shop: 12,345 changes, 3 checkpoints, 1.50 s (8,230/s), stopped after checkpoint 3',
  );
});
