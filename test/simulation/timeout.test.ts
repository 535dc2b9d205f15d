import { afterAll, beforeAll, expect, test } from 'vitest';
import { runPipeline, type PipelineParts } from '../../src/engine/run-pipeline.ts';
import { Database } from '../../src/sql/database.ts';
import { CrashPlan } from '../kit/crash-points.ts';
import { faulty, type Faulty } from '../kit/faults.ts';
import { rng } from '../kit/rng.ts';
import { tempDir, type TempDir } from '../kit/temp-dir.ts';
import { randomScript } from './script.ts';
import { smallWorld } from './small-world.ts';

let db: Database;
let folder: TempDir;

beforeAll(async () => {
  db = await Database.open({ threads: 1 });
  folder = await tempDir({ inMemory: true });
});

afterAll(async () => {
  await db[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

interface Held {
  readonly parts: PipelineParts;
  readonly fault: Faulty<object>;
}

/** Where a checkpoint can hang: in front of its intent, or in a commit, which the next run makes again. */
const HOLDS: Readonly<Record<string, (parts: PipelineParts) => Held>> = {
  'the first sink prepares': (parts) => heldSink(parts, 0, 'prepare'),
  'the last sink prepares': (parts) => heldSink(parts, 1, 'prepare'),
  'dead letters are made durable': (parts) => {
    const fault = faulty(parts.deadLetters, { method: 'prepare', kind: 'hold', call: 2 });
    return { parts: { ...parts, deadLetters: fault.part }, fault };
  },
  'the first sink commits': (parts) => heldSink(parts, 0, 'commit'),
  'the last sink commits': (parts) => heldSink(parts, 1, 'commit'),
};

function heldSink(parts: PipelineParts, at: number, method: 'prepare' | 'commit'): Held {
  const sink = parts.sinks[at];
  if (sink === undefined) throw new Error('no such sink');
  const fault = faulty(sink, { method, kind: 'hold', call: 2 });
  return { parts: { ...parts, sinks: parts.sinks.with(at, fault.part) }, fault };
}

const never = new AbortController().signal;

for (const [name, hold] of Object.entries(HOLDS)) {
  test(`a checkpoint that hangs while ${name} ends the run, and does nothing behind the back of the next one`, async () => {
    const lines = randomScript(rng(7), 12);
    const world = smallWorld({ db, lines, folder: `${folder.path}/${name}` });
    const start = (seed: number): Promise<PipelineParts> =>
      world.start(new CrashPlan({ dieAt: null }), rng(seed), () => {});

    const { parts, fault } = hold(await start(1));
    const first = runPipeline(parts, never).catch((error: unknown) => error);
    await fault.met;
    world.clock.advance(parts.schedule.timeout_ms);
    expect(await first).toMatchObject({ code: 'E_CHECKPOINT_TIMEOUT' });

    await runPipeline(await start(2), never);
    await world.check();
    fault.release();
    await fault.settled;
    await world.check();
  });
}
