import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { MemoryCheckpointStore } from '../../src/checkpoint/memory.ts';
import type { BatchWork } from '../../src/engine/batch-work.ts';
import type { PipelineParts, RunSummary } from '../../src/engine/run-pipeline.ts';
import { supervise } from '../../src/engine/supervise.ts';
import type { SourceView, TargetView } from '../../src/model/change.ts';
import type { Json } from '../../src/model/json.ts';
import type { Mark, Sink } from '../../src/model/sink.ts';
import type { Database } from '../../src/sql/database.ts';
import { newDeadLetters, newWork } from '../kit/batch-work.ts';
import { FAULTS, faulty } from '../kit/faults.ts';
import {
  ScriptedFeed,
  ScriptedSource,
  type ScriptedLine,
  type ScriptedTable,
} from '../kit/scripted-source.ts';
import { VirtualClock } from '../kit/virtual-clock.ts';

export const TABLE: ScriptedTable = {
  columns: [
    { name: 'id', type: 'string', nullable: false },
    { name: 'v', type: 'string', nullable: true },
  ],
  key: ['id'],
};

/** A sink, what it writes to, and the eyes of its readers. */
export interface SinkSubject<V> extends AsyncDisposable {
  readonly db: Database;
  /** Compiles the tables of the script for this sink. */
  readonly target: (view: SourceView) => TargetView;
  /** The sink of a process that starts now, over what the last one left. */
  open(): Sink;
  /** What a reader of the target sees. */
  visible(): Promise<V>;
  /** Checkpoints that the target carries, in the order of their commits. */
  marks(): Promise<readonly number[]>;
  /** What a reader has to see once these lines are committed. */
  expected(lines: readonly ScriptedLine[]): V;
  /** Ways to make the target refuse writes; what they give makes it work again. */
  readonly breaks?: Readonly<Record<string, () => Promise<() => Promise<void>>>>;
}

const create = (seq: number, id: string, v: string): ScriptedLine => ({
  table: 'shop.a',
  op: 'c',
  before: null,
  after: { id, v },
  seq,
});
const FIRST: readonly ScriptedLine[] = [create(1, 'k1', 'a'), create(2, 'k2', 'b')];
const SECOND: readonly ScriptedLine[] = [
  { table: 'shop.a', op: 'u', before: { id: 'k1', v: 'a' }, after: { id: 'k1', v: 'c' }, seq: 3 },
  { table: 'shop.a', op: 'd', before: { id: 'k2', v: 'b' }, after: null, seq: 4 },
  {
    table: 'shop.a',
    op: 'u',
    before: { id: 'k1', v: 'c' },
    after: { id: 'k3', v: 'd\'"\n' },
    seq: 5,
  },
];
const THIRD: readonly ScriptedLine[] = [create(6, 'k2', 'e')];
const ALL = [...FIRST, ...SECOND, ...THIRD];
const mark = (id: number): Mark => ({ id, position: JSON.stringify(id) });
const METHODS = ['write', 'prepare', 'commit', 'discard'] as const;

/** What every sink has to keep. */
export function describeSink<V>(name: string, make: () => Promise<SinkSubject<V>>): void {
  const check = (claim: string, body: (subject: SinkSubject<V>) => Promise<void>): void =>
    // oxlint-disable-next-line vitest/valid-title, vitest/expect-expect -- title and assertions are the caller's
    test(claim, async () => {
      await using subject = await make();
      await body(subject);
    });

  describe(`${name} as a sink`, () => {
    check('what is written and prepared is invisible until it is committed', async (subject) => {
      const sink = subject.open();
      const nothing = subject.expected([]);
      await write(subject, sink, FIRST);
      expect(await subject.visible()).toEqual(nothing);
      const prepared = await sink.prepare(mark(1));
      expect(await subject.visible()).toEqual(nothing);
      await sink.commit(mark(1), prepared);
      expect(await subject.visible()).toEqual(subject.expected(FIRST));
    });

    check('checkpoint follows checkpoint, in the order of the feed', async (subject) => {
      const sink = subject.open();
      await checkpoint(subject, sink, 1, FIRST);
      await checkpoint(subject, sink, 2, SECOND);
      await checkpoint(subject, sink, 3, THIRD);
      expect(await subject.visible()).toEqual(subject.expected(ALL));
      expect(await subject.marks()).toEqual([1, 2, 3]);
    });

    check('batches of one checkpoint become visible together, under one mark', async (subject) => {
      const sink = subject.open();
      for (const line of ALL) await write(subject, sink, [line]);
      await sink.commit(mark(1), await sink.prepare(mark(1)));
      expect(await subject.visible()).toEqual(subject.expected(ALL));
      expect(await subject.marks()).toEqual([1]);
    });

    check(
      'what one process prepared, the next one commits, from the stored text of it',
      async (subject) => {
        const first = subject.open();
        await write(subject, first, FIRST);
        const text = JSON.stringify(await first.prepare(mark(1)));
        const second = subject.open();
        await second.discard(1);
        await second.commit(mark(1), JSON.parse(text) as Json);
        expect(await subject.visible()).toEqual(subject.expected(FIRST));
        await checkpoint(subject, second, 2, SECOND);
        expect(await subject.visible()).toEqual(subject.expected([...FIRST, ...SECOND]));
      },
    );

    check(
      'a mark that the target carries is committed once, whoever commits it again',
      async (subject) => {
        const sink = subject.open();
        await write(subject, sink, FIRST);
        const prepared = await sink.prepare(mark(1));
        await sink.commit(mark(1), prepared);
        await sink.commit(mark(1), prepared);
        const next = subject.open();
        await next.discard(1);
        await next.commit(mark(1), prepared);
        expect(await subject.visible()).toEqual(subject.expected(FIRST));
        expect(await subject.marks()).toEqual([1]);
      },
    );

    check('what was written and never prepared is forgotten', async (subject) => {
      const sink = subject.open();
      await write(subject, sink, SECOND);
      await sink.discard(0);
      await checkpoint(subject, sink, 1, FIRST);
      expect(await subject.visible()).toEqual(subject.expected(FIRST));
    });

    check('what was prepared and never saved is forgotten, and its id is free', async (subject) => {
      const first = subject.open();
      await write(subject, first, FIRST);
      await first.prepare(mark(1));
      for (const sink of [first, subject.open()]) {
        await sink.discard(0);
        await write(subject, sink, FIRST);
        await sink.prepare(mark(1));
      }
      const last = subject.open();
      await last.discard(0);
      await checkpoint(subject, last, 1, ALL);
      expect(await subject.visible()).toEqual(subject.expected(ALL));
      expect(await subject.marks()).toEqual([1]);
    });

    check('to prepare again is to prepare the same', async (subject) => {
      const sink = subject.open();
      await write(subject, sink, FIRST);
      await sink.prepare(mark(1));
      await sink.commit(mark(1), await sink.prepare(mark(1)));
      expect(await subject.visible()).toEqual(subject.expected(FIRST));
    });

    check('a checkpoint without changes leaves no trace', async (subject) => {
      const sink = subject.open();
      await checkpoint(subject, sink, 1, FIRST);
      await checkpoint(subject, sink, 2, []);
      await checkpoint(subject, sink, 3, SECOND);
      expect(await subject.marks()).toEqual([1, 3]);
      expect(await subject.visible()).toEqual(subject.expected([...FIRST, ...SECOND]));
    });

    for (const method of METHODS) {
      for (const kind of FAULTS) {
        check(`${method}: ${kind} costs time, not rows`, async (subject) => {
          const nothing = subject.expected([]);
          const faults = faulty(subject.open(), {
            method,
            kind,
            call: method === 'discard' ? 1 : 2,
          });
          const pipeline = runAll(subject, faults.part);
          await Promise.race([faults.met, pipeline]);
          for (let turn = 0; turn < 20; turn += 1) await setImmediate();
          const states = [nothing, ...ALL.map((_, i) => subject.expected(ALL.slice(0, i + 1)))];
          expect(states).toContainEqual(await subject.visible());
          faults.release();
          expect((await pipeline).lastCheckpoint).toBe(3);
          expect(await subject.visible()).toEqual(subject.expected(ALL));
          expect(await subject.marks()).toEqual([1, 2, 3]);
        });
      }
    }

    check(
      'a target that cannot be written to is an outage: what is visible stays, and nothing is lost',
      async (subject) => {
        const sink = subject.open();
        await checkpoint(subject, sink, 1, FIRST);
        for (const [what, breakTarget] of Object.entries(subject.breaks ?? {})) {
          const mend = await breakTarget();
          const failure = await checkpoint(subject, sink, 2, SECOND).then(() => null, kindOf);
          await mend();
          const visible = await subject.visible();
          expect({ what, failure, visible }).toEqual({
            what,
            failure: 'unavailable',
            visible: subject.expected(FIRST),
          });
          await sink.discard(1);
        }
        await checkpoint(subject, sink, 2, SECOND);
        expect(await subject.visible()).toEqual(subject.expected([...FIRST, ...SECOND]));
      },
    );

    check(
      'a target that cannot be written to when it commits takes the same commit later',
      async (subject) => {
        const sink = subject.open();
        await checkpoint(subject, sink, 1, FIRST);
        await write(subject, sink, SECOND);
        const prepared = await sink.prepare(mark(2));
        for (const [what, breakTarget] of Object.entries(subject.breaks ?? {})) {
          const mend = await breakTarget();
          const failure = await sink.commit(mark(2), prepared).then(() => null, kindOf);
          await mend();
          // A folder that is away may look like a table that is gone; never like a fault of ours.
          expect(
            [null, 'unavailable', 'config'].map((kind) => ({ what, failure: kind })),
          ).toContainEqual({
            what,
            failure,
          });
        }
        const next = subject.open();
        await next.discard(2);
        await next.commit(mark(2), prepared);
        expect(await subject.visible()).toEqual(subject.expected([...FIRST, ...SECOND]));
        expect(await subject.marks()).toEqual([1, 2]);
      },
    );
  });
}

async function checkpoint<V>(
  subject: SinkSubject<V>,
  sink: Sink,
  id: number,
  lines: readonly ScriptedLine[],
): Promise<void> {
  await write(subject, sink, lines);
  await sink.commit(mark(id), await sink.prepare(mark(id)));
}

const work = <V>({ db, target }: SinkSubject<V>): BatchWork =>
  newWork({ db, targets: async (view) => [target(view)] });

const kindOf = (error: unknown): string | undefined => (error as { kind?: string }).kind;

const feedOf = (lines: readonly ScriptedLine[]): ScriptedFeed =>
  new ScriptedFeed(lines, { 'shop.a': TABLE });

async function write<V>(
  subject: SinkSubject<V>,
  sink: Sink,
  lines: readonly ScriptedLine[],
): Promise<void> {
  const batches = work(subject);
  const source = new ScriptedSource({ feed: feedOf(lines), batchLines: () => lines.length });
  for await (const batch of source.read(null, new AbortController().signal)) {
    if (batch === null) continue;
    const result = await batches.run(batch);
    await sink.write(result.changes, { places: () => batch.places() });
    await batches.drop(result);
  }
}

/** The whole script through the engine: three checkpoints of two lines. */
async function runAll<V>(subject: SinkSubject<V>, sink: Sink): Promise<RunSummary> {
  const clock = new VirtualClock();
  const parts: PipelineParts = {
    source: new ScriptedSource({ feed: feedOf(ALL), batchLines: () => 2 }),
    work: work(subject),
    stages: [],
    sinks: [sink],
    checkpoints: new MemoryCheckpointStore(),
    deadLetters: newDeadLetters(),
    clock,
    schedule: { interval_ms: 0, min_pause_ms: 0, timeout_ms: 3_600_000, max_bytes: 2 },
    progress: (news) => {
      if (news.kind === 'retry') void setImmediate().then(() => clock.advance(news.delayMs));
    },
  };
  return await supervise(
    parts,
    { max_retries: 3, retry_interval_ms: 1000 },
    new AbortController().signal,
  );
}
