/** The same lives over the real parts: a feed of files, and everything durable in folders. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { choiceOf, stateFolders } from '../../src/app.ts';
import { FolderCheckpointStore } from '../../src/checkpoint/store.ts';
import { resolvePipeline } from '../../src/config/load.ts';
import type { PipelineParts } from '../../src/engine/run-pipeline.ts';
import type { PipelineSpec } from '../../src/model/spec.ts';
import { EventSink } from '../../src/sinks/event-bus/sink.ts';
import { IcebergSink } from '../../src/sinks/iceberg/sink.ts';
import { DebeziumFiles } from '../../src/sources/debezium-files/source.ts';
import { Dedup } from '../../src/stages/dedup/stage.ts';
import { Targets } from '../../src/targets.ts';
import type { Database } from '../../src/sql/database.ts';
import { newDeadLetters, newWork } from '../kit/batch-work.ts';
import { AWAITED, crashing, crashingSource, type CrashPlan } from '../kit/crash-points.ts';
import { envelopeText } from '../kit/envelope-text.ts';
import { lakeEyes } from '../kit/lake-eyes.ts';
import type { Rng } from '../kit/rng.ts';
import type { ScriptedLine } from '../kit/scripted-source.ts';
import { VirtualClock } from '../kit/virtual-clock.ts';
import type { World } from './lives.ts';
import { expectedOf } from './script.ts';

export interface RealWorldOptions {
  readonly db: Database;
  readonly lines: readonly ScriptedLine[];
  readonly folder: string;
  /** Files that the feed is cut into. */
  readonly files: number;
}

const HOUR_MS = 3_600_000;
const mapping = (name: string): object => ({
  target_object_type_rid: `ri.type.${name.toUpperCase()}`,
  primary_key_field: 'id',
  rid_template: '{pk}',
  field_mappings: { v: {} },
});

function specOf(folder: string): PipelineSpec {
  return resolvePipeline(
    {
      pipeline_id: 'p',
      source: {
        source_type: 'debezium_json',
        path: './feed',
        tables: ['a', 'b'].map((name) => ({
          table: `shop.${name}`,
          columns: { id: 'string', v: 'string' },
        })),
      },
      processing: { schema_mapping: { 'shop.a': mapping('a'), 'shop.b': mapping('b') } },
      sink: { event_bus_enabled: true },
    } as Parameters<typeof resolvePipeline>[0],
    { baseDir: folder },
  ).spec;
}

export async function realWorld(options: RealWorldOptions): Promise<World> {
  const { db, lines, folder } = options;
  await writeFeed(options);
  const spec = specOf(folder);
  const folders = stateFolders(spec.checkpoint.state_dir);
  const events = spec.sink.event_bus.path;

  const clock = new VirtualClock();

  return {
    clock,
    async start(plan: CrashPlan, random: Rng, progress): Promise<PipelineParts> {
      const segmentBytes = random.between(1, 900);
      const targets = new Targets(db, spec, true);
      const stages = [
        crashing(
          new Dedup({ db, windowMs: HOUR_MS, stateDir: folders.dedup }),
          'stage',
          AWAITED.stage,
          plan,
        ),
      ];
      const deadLetters = crashing(
        newDeadLetters(folders.deadLetters),
        'deadLetters',
        AWAITED.deadLetters,
        plan,
      );
      const source = new DebeziumFiles({
        db,
        clock,
        path: spec.source.path ?? '',
        isWatching: false,
        choice: choiceOf(spec),
        needsBefore: true,
        wantsPlaces: true,
        hasOneTarget: true,
        spoolDir: folders.spool,
        segmentBytes,
        inPlaceBytes: random.chance(0.5) ? segmentBytes : 0,
        maxLineBytes: 1 << 20,
        maxNesting: 100,
      });
      const sinks = {
        tables: new IcebergSink({
          db,
          warehouse: spec.sink.iceberg_warehouse,
          pipelineId: 'p',
          clock,
          describePosition: () => '{}',
        }),
        events: new EventSink({
          db,
          pipelineId: 'p',
          path: events,
          pendingDir: join(events, '.pending'),
          listeners: [],
        }),
      };
      return {
        source: crashingSource(source, plan),
        work: newWork({ db, targets: (view) => targets.of(view), stages, deadLetters }),
        stages,
        sinks: Object.entries(sinks).map(([name, sink]) =>
          crashing(sink, name, AWAITED.sink, plan),
        ),
        checkpoints: crashing(
          new FolderCheckpointStore(folders.checkpoints),
          'store',
          AWAITED.store,
          plan,
        ),
        deadLetters,
        clock,
        schedule: {
          interval_ms: 0,
          min_pause_ms: 0,
          timeout_ms: HOUR_MS,
          max_bytes: random.between(1, 900),
        },
        progress,
      };
    },
    async checkLeftovers(): Promise<void> {
      expect(await readdir(join(events, '.pending')).catch(() => [])).toEqual([]);
    },
    async check(): Promise<void> {
      const expected = expectedOf(lines);
      const eyes = lakeEyes(db, spec.sink.iceberg_warehouse);
      const last = (await new FolderCheckpointStore(folders.checkpoints).latest())?.mark.id ?? 0;
      for (const name of ['a', 'b']) {
        const rows = await eyes.rows('shop', name);
        const found = Object.fromEntries(rows.map((row) => [row['rid'], [row['rid'], row['v']]]));
        expect(rows).toHaveLength(Object.keys(found).length);
        expect(found, `rows of ${name}`).toEqual(expected.tables[`shop.${name}`] ?? {});
        const marks = await eyes.marks('shop', name, 'p');
        expect(marks, `marks of ${name}`).toEqual([...new Set(marks)].toSorted((x, y) => x - y));
        expect(marks.at(-1) ?? 0).toBeLessThanOrEqual(last);
      }
      expect(await loggedEvents(events)).toEqual(
        expected.events.map((text, i) => `p-${i + 1} ${text}`),
      );
      const letters = newDeadLetters(folders.deadLetters);
      await letters.load(last);
      expect(letters.pending()).toHaveLength(expected.bad.length);
    },
  };
}

async function writeFeed({ lines, folder, files }: RealWorldOptions): Promise<void> {
  await mkdir(join(folder, 'feed'), { recursive: true });
  const perFile = Math.ceil(lines.length / files);
  for (let file = 0; file * perFile < lines.length; file += 1) {
    const text = lines
      .slice(file * perFile, (file + 1) * perFile)
      .map((line) => `${envelopeText(line)}\n`);
    await writeFile(join(folder, 'feed', `${file}.ndjson`), text.join(''));
  }
}

/** `<id> <table> <operation> <rid>` of every event of a log, in its order. */
async function loggedEvents(folder: string): Promise<readonly string[]> {
  const names = (await readdir(folder).catch(() => []))
    .filter((name) => name.endsWith('.ndjson'))
    .toSorted();
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return texts
    .flatMap((text) => text.split('\n').filter((line) => line !== ''))
    .map((line) => {
      const { id, data } = JSON.parse(line) as {
        id: string;
        data: { source_table: string; operation: string; instance_rid: string };
      };
      return `${id} ${data.source_table} ${data.operation} ${data.instance_rid}`;
    });
}
