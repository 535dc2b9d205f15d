import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Database } from '../../src/sql/database.ts';
import { raw } from '../../src/sql/sql.ts';
import { newDeadLetters } from '../kit/batch-work.ts';
import { buildCli, type BuiltCli } from '../kit/built-cli.ts';
import { lakeEyes } from '../kit/lake-eyes.ts';
import { runMortal, type Death, type Ended } from '../kit/mortal-process.ts';
import type { Rng } from '../kit/rng.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { budget } from './budget.ts';

/** Processes to kill, in all. */
const KILLS = 110;
/** Pipelines that are killed at the same time, each with its share of the kills. */
const CAMPAIGNS = 2;
const FEED = new URL('../../src/demo/quakes.ndjson.gz', import.meta.url);
/** Lines that are there from the start, and that come whenever the feed has been read to its end. */
const LINES = { first: 1100, more: 150 };

const PIPELINE = `
pipeline_id: quakes
source:
  source_type: debezium_json
  path: ./feed.ndjson
  tables:
    - table: public.quakes
      columns: { id: string, magnitude: "decimal(4,2)", place: string, time: long, felt: int, latitude: double }
processing:
  schema_mapping:
    public.quakes:
      target_object_type_rid: ri.type.Quake
      primary_key_field: id
      rid_template: "{pk}"
      field_mappings:
        magnitude: {}
        place: {}
        time: { target_property: occurred_at, type_conversion: epoch_ms_to_datetime }
        felt: { type_conversion: to_int, default_value: 0 }
        latitude: {}
  deduplication: { window_ms: 86400000 }
sink: { iceberg_warehouse: ./warehouse, event_bus_enabled: true, event_bus: { path: ./events } }
checkpoint: { interval_ms: 0, max_bytes: 4000, state_dir: ./state }
`;

let cli: BuiltCli;

beforeAll(async () => {
  cli = await buildCli();
}, 120_000);

afterAll(async () => {
  await cli[Symbol.asyncDispose]();
});

for (let campaign = 0; campaign < CAMPAIGNS; campaign += 1) {
  test.concurrent(`killed at any instant and started again, a pipeline ends as if nothing had been (${campaign})`, async () => {
    const { random } = budget(`kills ${campaign}`, 1);
    await using dir = await tempDir();
    const lines = gunzipSync(await readFile(FEED))
      .toString('utf8')
      .split('\n')
      .filter((line) => line !== '');
    const read = await killAndRestart(dir.path, lines, random(campaign));
    await expectOutcome(dir.path, lines.slice(0, read));
  });
}

/** @returns how many lines the feed had in the end */
async function killAndRestart(
  folder: string,
  lines: readonly string[],
  random: Rng,
): Promise<number> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'pipeline.yaml'), PIPELINE);
  const args = [cli.script, 'run', join(folder, 'pipeline.yaml')];
  const feed = join(folder, 'feed.ndjson');
  let there = 0;
  const grow = async (): Promise<void> => {
    const more = lines.slice(there, there + (there === 0 ? LINES.first : LINES.more));
    if (more.length === 0) throw new Error('the feed has no lines left, and there are kills left');
    await writeFile(feed, more.map((line) => `${line}\n`).join(''), { flag: 'a' });
    there += more.length;
  };
  await grow();
  for (let kills = 0; kills < KILLS / CAMPAIGNS;) {
    const ended = await runMortal(args, randomDeath(random));
    if (ended.wasKilled) kills += 1;
    else {
      refuseFailure(ended);
      await grow();
    }
  }
  refuseFailure(await runMortal(args, null));
  return there;
}

function refuseFailure({ code, output }: Ended): void {
  if (code !== 0) throw new Error(`a process that nobody killed ended with ${code}:\n${output}`);
}

/** Some die while they start; most after some checkpoints, somewhere in the next one. */
function randomDeath(random: Rng): Death {
  if (random.chance(0.1)) return { afterLines: null, thenMs: random.between(0, 600) };
  return {
    afterLines: { match: /\bcheckpoint \d+:/, count: random.between(0, 3) },
    thenMs: random.between(0, 90),
  };
}

type Quake = Readonly<
  Record<'magnitude' | 'place' | 'occurred_at' | 'felt' | 'latitude', string | null>
>;

interface Envelope {
  readonly op: string;
  readonly before: { readonly id: string } | null;
  readonly after: {
    readonly id: string;
    readonly magnitude: string | null;
    readonly place: string | null;
    readonly time: number;
    readonly felt: number | null;
    readonly latitude: number;
  } | null;
  readonly source: { readonly lsn: number };
}

interface Outcome {
  readonly rows: ReadonlyMap<string, Quake>;
  /** `<operation> <rid>` */
  readonly events: readonly string[];
  readonly deadLetters: number;
}

/** The naive fold of the recorded feed. */
function foldQuakes(lines: readonly string[]): Outcome {
  const rows = new Map<string, Quake>();
  const images = new Map<string, string>();
  const events: string[] = [];
  const last = new Map<string, number>();
  let deadLetters = 0;
  for (const line of lines) {
    const { op, before, after, source } = JSON.parse(line) as Envelope;
    const key = (after ?? before)?.id ?? '';
    if (after !== null && after.magnitude !== null && !/^-?\d{1,2}\.\d\d$/.test(after.magnitude)) {
      deadLetters += 1;
      continue;
    }
    if (source.lsn <= (last.get(key) ?? 0)) continue;
    last.set(key, source.lsn);
    if (after === null) {
      rows.delete(key);
      images.delete(key);
      events.push(`delete ${key}`);
      continue;
    }
    const { magnitude, place, time, felt, latitude } = after;
    rows.set(key, {
      magnitude,
      place,
      occurred_at: String(time * 1000),
      felt: String(felt ?? 0),
      latitude: String(latitude),
    });
    const image = (row: unknown): string => {
      const all = row as Record<string, unknown>;
      return JSON.stringify(
        ['magnitude', 'place', 'time', 'felt', 'latitude'].map((name) => all[name]),
      );
    };
    if (op !== 'u') events.push(`create ${key}`);
    else if (before === null || image(before) !== image(after)) events.push(`update ${key}`);
  }
  return { rows, events, deadLetters };
}

async function expectOutcome(folder: string, lines: readonly string[]): Promise<void> {
  const expected = foldQuakes(lines);
  await using db = await Database.open({ threads: 1 });
  const eyes = lakeEyes(db, join(folder, 'warehouse'));
  const columns = raw(
    'rid, magnitude::VARCHAR AS magnitude, place, epoch_us(occurred_at)::VARCHAR AS occurred_at, felt::VARCHAR AS felt, latitude',
  );
  const rows = await eyes.rows('public', 'quake', columns);
  expect(rows).toHaveLength(expected.rows.size);
  const found = rows.map(({ rid, latitude, ...row }) => [
    rid,
    { ...row, latitude: String(latitude) },
  ]);
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected.rows));

  const checkpoints = await loggedCheckpoints(join(folder, 'events'));
  const events = checkpoints.flatMap((checkpoint) => checkpoint.events);
  expect(events).toEqual(expected.events.map((text, i) => `quakes-${i + 1} ${text}`));

  const marks = await eyes.marks('public', 'quake', 'quakes');
  expect(marks).toEqual([...new Set(marks)].toSorted((a, b) => a - b));
  expect(marks).toEqual(expect.arrayContaining(checkpoints.map((checkpoint) => checkpoint.id)));

  const letters = newDeadLetters(join(folder, 'state', 'dead-letters'));
  await letters.load(Number.MAX_SAFE_INTEGER);
  expect(letters.pending()).toHaveLength(expected.deadLetters);
  console.log(`${marks.length} checkpoints, ${events.length} events, ${rows.length} rows`);
}

async function loggedCheckpoints(
  folder: string,
): Promise<readonly { id: number; events: readonly string[] }[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.ndjson')).toSorted();
  return await Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(folder, name), 'utf8');
      const events = text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => {
          const { id, data } = JSON.parse(line) as {
            id: string;
            data: { operation: string; instance_rid: string };
          };
          return `${id} ${data.operation} ${data.instance_rid}`;
        });
      return { id: Number.parseInt(name, 10), events };
    }),
  );
}
