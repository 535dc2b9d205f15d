/** A world small enough to die in it thousands of times: a script as the source, and everything durable in memory. */
import { expect } from 'vitest';
import { MemoryCheckpointStore } from '../../src/checkpoint/memory.ts';
import type { PipelineParts } from '../../src/engine/run-pipeline.ts';
import { mirror } from '../../src/stages/schema-mapping.ts';
import type { Source } from '../../src/model/source.ts';
import type { Database } from '../../src/sql/database.ts';
import { newDeadLetters, newWork } from '../kit/batch-work.ts';
import { AWAITED, crashing, crashingSource, type CrashPlan } from '../kit/crash-points.ts';
import { MemoryDedup } from '../kit/memory-dedup.ts';
import { MemoryEventLog, MemoryEvents } from '../kit/memory-events.ts';
import { MemorySink, MemoryTarget } from '../kit/memory-sink.ts';
import type { Rng } from '../kit/rng.ts';
import { ScriptedFeed, ScriptedSource, type ScriptedLine } from '../kit/scripted-source.ts';
import { VirtualClock } from '../kit/virtual-clock.ts';
import type { World } from './lives.ts';
import { expectedOf } from './script.ts';

export interface SmallWorldOptions {
  readonly db: Database;
  readonly lines: readonly ScriptedLine[];
  /** Folder for the dead letters. */
  readonly folder: string;
  /** Puts the effects of the parts in another order. */
  readonly mutate?: (parts: PipelineParts) => PipelineParts;
}

const COLUMNS = ['id', 'v'].map((name) => ({
  name,
  type: 'string' as const,
  nullable: name !== 'id',
}));
const TABLE = { columns: COLUMNS, key: ['id'] };
const TABLES = { 'shop.a': TABLE, 'shop.b': TABLE };
const HOUR_MS = 3_600_000;

export function smallWorld(options: SmallWorldOptions): World {
  const { db, lines, folder } = options;
  const feed = new ScriptedFeed(lines, TABLES);
  const target = new MemoryTarget();
  const log = new MemoryEventLog();
  const store = new MemoryCheckpointStore();
  const tablesNow = (): Record<string, unknown> =>
    Object.fromEntries(
      [...target.tables]
        .filter(([, t]) => t.rows.size > 0)
        .map(([name, { rows }]) => [name, Object.fromEntries(rows)]),
    );
  const acknowledged: number[] = [];
  const comesAgain = new Set(lines).size < lines.length;

  // What the source forgets has to be visible, all of it, at that moment.
  const witness = (source: Source): Source => ({
    read: (position, signal) => source.read(position, signal),
    acknowledge: async (position) => {
      acknowledged.push(Number(position));
      expect(tablesNow(), `visible when line ${position} is acknowledged`).toEqual(
        expectedOf(lines.slice(0, Number(position))).tables,
      );
      await source.acknowledge(position);
    },
    [Symbol.asyncDispose]: () => source[Symbol.asyncDispose](),
  });

  const clock = new VirtualClock();

  return {
    clock,
    async start(plan: CrashPlan, random: Rng, progress): Promise<PipelineParts> {
      const cut = random.between(1, 4);
      const source = new ScriptedSource({
        feed,
        batchLines: () => random.between(1, cut),
        startsSchema: () => random.chance(0.1),
        pauses: () => random.chance(0.1),
      });
      const stages = comesAgain
        ? [crashing(new MemoryDedup(db), 'stage', AWAITED.stage, plan)]
        : [];
      const deadLetters = crashing(
        newDeadLetters(folder),
        'deadLetters',
        AWAITED.deadLetters,
        plan,
      );
      const sink = new MemorySink({ db, target, between: () => plan.point('between two tables') });
      const parts: PipelineParts = {
        source: crashingSource(witness(source), plan),
        work: newWork({
          db,
          targets: async (view) => [
            mirror(view, { namespace: 'shop', table: view.table.slice('shop.'.length) }),
          ],
          stages,
          deadLetters,
        }),
        stages,
        sinks: [
          crashing(sink, 'tables', AWAITED.sink, plan),
          crashing(new MemoryEvents(db, log), 'events', AWAITED.sink, plan),
        ],
        checkpoints: crashing(store, 'store', AWAITED.store, plan),
        deadLetters,
        clock,
        schedule: {
          interval_ms: 0,
          min_pause_ms: 0,
          timeout_ms: HOUR_MS,
          max_bytes: random.between(1, 5),
        },
        progress,
      };
      return options.mutate?.(parts) ?? parts;
    },
    async checkLeftovers(): Promise<void> {
      expect([...target.pending.keys(), ...log.pending.keys()]).toEqual([]);
    },
    async check(): Promise<void> {
      const expected = expectedOf(lines);
      expect(tablesNow()).toEqual(expected.tables);
      expect(log.all()).toEqual(expected.events.map((text, i) => ({ number: i + 1, text })));
      const marks = store.saved.map(
        (text) =>
          (JSON.parse(text.split('\n')[1] ?? '') as { mark: { id: number; position: string } })
            .mark,
      );
      expect(marks.map((mark) => mark.id)).toEqual(marks.map((_, i) => i + 1));
      expect(marks.at(-1)?.position ?? '0').toBe(String(lines.length));
      for (const [i, mark] of marks.entries())
        expect(Number(mark.position)).toBeGreaterThan(Number(marks[i - 1]?.position ?? 0));
      expect(acknowledged).toEqual(acknowledged.toSorted((a, b) => a - b));
      for (const { marks: carried } of target.tables.values()) {
        const ids = carried.map((mark) => mark.id);
        expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
        for (const mark of carried) expect(marks).toContainEqual(mark);
      }
      const letters = newDeadLetters(folder);
      await letters.load(marks.length);
      expect(letters.pending().map((letter) => letter.line)).toEqual(expected.bad);
    },
  };
}
