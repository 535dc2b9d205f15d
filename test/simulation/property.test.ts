import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { isLosslessNumber, parse, type LosslessNumber } from 'lossless-json';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run, stateFolders } from '../../src/app.ts';
import { resolvePipeline } from '../../src/config/load.ts';
import type { ColumnType } from '../../src/model/types.ts';
import type { PipelineSpec } from '../../src/model/spec.ts';
import { id, join as joinSql, sql } from '../../src/sql/sql.ts';
import { Database } from '../../src/sql/database.ts';
import { newDeadLetters } from '../kit/batch-work.ts';
import { canonicalCell, canonicalEventText, canonicalSql, KINDS } from '../kit/column-kinds.ts';
import { lakeEyes } from '../kit/lake-eyes.ts';
import { tempDir, type TempDir } from '../kit/temp-dir.ts';
import { budget } from './budget.ts';
import {
  foldChangelog,
  makeChangelog,
  type Changelog,
  type ChangelogPlan,
  type FoldedEvent,
  type Step,
} from './changelog.ts';
import { feedPhases, type FeedCuts } from './feed-files.ts';

const RUNS = 40;

let db: Database;
let root: TempDir;
let worlds = 0;

beforeAll(async () => {
  db = await Database.open({ threads: 1 });
  root = await tempDir({ inMemory: true });
});

afterAll(async () => {
  await db[Symbol.asyncDispose]();
  await root[Symbol.asyncDispose]();
});

const STEP_WEIGHTS: Readonly<Record<Step['what'], number>> = {
  upsert: 8,
  create: 2,
  delete: 3,
  move: 3,
  again: 2,
  noise: 1,
  bad: 1,
  truncate: 1,
};

function steps(names: readonly Step['what'][]): fc.Arbitrary<readonly Step[]> {
  const what = fc.oneof(
    ...names.map((name) => ({ weight: STEP_WEIGHTS[name], arbitrary: fc.constant(name) })),
  );
  const step = fc.record({
    what,
    key: fc.nat(3),
    other: fc.nat(4),
    value: fc.nat(1_000_000),
    before: fc.constantFrom('full' as const, 'key' as const, 'none' as const),
    laterMs: fc.nat(2),
  });
  return fc.array(step, { minLength: 1, maxLength: 30, size: 'max' });
}

const changelog = (
  names: readonly Step['what'][],
  keyKinds: fc.Arbitrary<number[]>,
): fc.Arbitrary<ChangelogPlan> =>
  fc.record({
    seed: fc.nat(1000),
    kinds: fc.array(fc.nat(KINDS.length - 1), { minLength: 1, maxLength: 8, size: 'max' }),
    keyKinds,
    connector: fc.constantFrom('mysql' as const, 'postgresql' as const, 'oracle' as const),
    isWrapped: fc.boolean(),
    steps: steps(names),
  });

const cuts: fc.Arbitrary<FeedCuts & { readonly maxBytes: number | undefined }> = fc.record({
  phases: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 2 }),
  filesPerPhase: fc.integer({ min: 1, max: 3 }),
  isGzip: fc.boolean(),
  isGrowing: fc.boolean(),
  tornBytes: fc.oneof(fc.constant(0), fc.nat(40)),
  maxBytes: fc.option(
    fc.oneof(fc.integer({ min: 1, max: 500 }), {
      weight: 4,
      arbitrary: fc.integer({ min: 500, max: 15_000 }),
    }),
    { nil: undefined },
  ),
});

interface Ran {
  readonly spec: PipelineSpec;
  readonly deadLetters: number;
}

async function runPhases(
  log: Changelog,
  plan: ChangelogPlan,
  cut: FeedCuts & { readonly maxBytes: number | undefined },
  mapping?: object,
): Promise<Ran> {
  worlds += 1;
  const folder = join(root.path, String(worlds));
  await mkdir(join(folder, 'feed'), { recursive: true });
  const columns = Object.fromEntries(
    log.columns.map(({ name, kind }) => [
      name,
      kind.from === undefined ? kind.type : { type: kind.type, from: kind.from },
    ]),
  );
  const table = {
    table: 'shop.t',
    primary_key: log.columns.filter((c) => c.isKey).map((c) => c.name),
    ...(plan.isWrapped ? {} : { columns }),
  };
  const { spec } = resolvePipeline(
    {
      pipeline_id: 'p',
      source: { source_type: 'debezium_json', path: './feed', tables: [table] },
      ...(mapping === undefined
        ? {}
        : {
            processing: { schema_mapping: { 'shop.t': mapping } },
            sink: { event_bus_enabled: true },
          }),
      checkpoint: {
        interval_ms: 0,
        ...(cut.maxBytes === undefined ? {} : { max_bytes: cut.maxBytes }),
      },
    } as Parameters<typeof resolvePipeline>[0],
    { baseDir: folder },
  );
  let last = 0;
  for (const write of feedPhases(log.lines, cut, join(folder, 'feed'))) {
    await write();
    last = (await run(spec)).lastCheckpoint ?? last;
  }
  const letters = newDeadLetters(stateFolders(spec.checkpoint.state_dir).deadLetters);
  await letters.load(last);
  return { spec, deadLetters: letters.pending().length };
}

async function readRows(
  log: Changelog,
  spec: PipelineSpec,
  table: string,
  names: readonly string[],
): Promise<readonly (readonly (string | null)[])[]> {
  const columns = log.columns.filter((c) => names.includes(c.name));
  const select = joinSql([
    ...names.filter((name) => !columns.some((c) => c.name === name)).map((name) => id(name)),
    ...columns.map(({ name, kind }) => sql`${canonicalSql(id(name), kind.type)} AS ${id(name)}`),
  ]);
  const rows = await lakeEyes(db, spec.sink.iceberg_warehouse).rows('shop', table, select);
  return sorted(rows.map((row) => names.map((name) => canonicalCell(row[name]))));
}

const sorted = <T>(rows: readonly T[]): readonly T[] =>
  rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

const isTorn = (cut: FeedCuts): boolean =>
  cut.tornBytes > 0 && cut.isGrowing && !cut.isGzip && cut.phases.length > 0;

test('a mirrored table is the naive fold of its feed, wherever checkpoints, files and runs are cut', async () => {
  const { seed } = budget('mirrors', RUNS);
  const plans = changelog(
    ['upsert', 'create', 'delete', 'move', 'again', 'noise', 'bad', 'truncate'],
    fc.array(fc.nat(KINDS.length - 1), { minLength: 1, maxLength: 2 }),
  );
  await fc.assert(
    fc.asyncProperty(plans, cuts, async (plan, cut) => {
      const log = makeChangelog(plan);
      const { spec, deadLetters } = await runPhases(log, plan, cut);
      const expected = sorted([...foldChangelog(log, plan.connector).rows.values()]);
      expect(
        await readRows(
          log,
          spec,
          't',
          log.columns.map((c) => c.name),
        ),
      ).toEqual(expected);
      // Half a line at the end of a run is told as a bad one, too.
      expect(isTorn(cut) ? 0 : deadLetters - log.badLines).toBe(0);
    }),
    { seed, ...limits() },
  );
});

const MAPPED_KEYS = KINDS.filter((kind) => kind.isKey).flatMap((kind, i) =>
  ['long', 'int', 'string', 'uuid'].includes(kind.type) && kind.from === undefined ? [i] : [],
);

test('events folded again are the table, and an update tells what changed and nothing else', async () => {
  const { seed } = budget('events', RUNS);
  const plans = changelog(
    ['upsert', 'create', 'delete', 'move', 'again', 'noise', 'bad'],
    fc.constantFrom(...MAPPED_KEYS).map((kind) => [kind]),
  ).map((plan) => ({ ...plan, isWrapped: false }));
  await fc.assert(
    fc.asyncProperty(plans, cuts, async (plan, cut) => {
      const log = makeChangelog(plan);
      const names = log.columns.filter((c) => !c.isKey).map((c) => c.name);
      const mapping = {
        target_object_type_rid: 'ri.type.Thing',
        primary_key_field: 'key 0',
        rid_template: '{pk}',
        field_mappings: Object.fromEntries(names.map((name) => [name, {}])),
      };
      const { spec } = await runPhases(log, plan, cut, mapping);
      const folded = foldChangelog(log, plan.connector);
      const rid = (key: string): string => String((JSON.parse(key) as string[])[0]);
      const events = await readEvents(log, spec);
      expect(events.map((event) => event.id)).toEqual(events.map((_, i) => `p-${i + 1}`));
      expect(
        events.map(({ operation, key, properties, after }) => ({
          operation,
          key,
          properties,
          after,
        })),
      ).toEqual(folded.events.map((event) => ({ ...event, key: rid(event.key) })));
      const table = sorted([...folded.rows].map(([key, [, ...values]]) => [rid(key), ...values]));
      expect(await readRows(log, spec, 'thing', ['rid', ...names])).toEqual(table);
      expect(
        sorted(
          [...foldEvents(events)].map(([key, row]) => [
            key,
            ...names.map((name) => row[name] ?? null),
          ]),
        ),
      ).toEqual(table);
    }),
    { seed, ...limits() },
  );
});

/** Long enough to make a counterexample small. */
const SHRINK_SECONDS = 120;

function limits(): fc.Parameters<unknown> {
  const seconds = process.env['SIMULATION_SECONDS'];
  return seconds === undefined
    ? { numRuns: RUNS, interruptAfterTimeLimit: SHRINK_SECONDS * 1000 }
    : { numRuns: Number.MAX_SAFE_INTEGER, interruptAfterTimeLimit: Number(seconds) * 1000 };
}

interface ReadEvent extends FoldedEvent {
  readonly id: string;
}

async function readEvents(log: Changelog, spec: PipelineSpec): Promise<readonly ReadEvent[]> {
  const folder = spec.sink.event_bus.path;
  const names = (await readdir(folder).catch(() => []))
    .filter((name) => name.endsWith('.ndjson'))
    .toSorted();
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return texts
    .flatMap((text) => text.split('\n').filter((line) => line !== ''))
    .map((line) => eventOf(log, parse(line) as LoggedEvent));
}

type EventValues = Readonly<Record<string, LosslessNumber | string | boolean | null>>;

interface LoggedEvent {
  readonly id: string;
  readonly data: {
    readonly operation: FoldedEvent['operation'];
    readonly instance_rid: string;
    readonly properties: EventValues;
    readonly after: EventValues | null;
  };
}

function eventOf(log: Changelog, { id: eventId, data }: LoggedEvent): ReadEvent {
  const typeOf = (name: string): ColumnType =>
    log.columns.find((column) => column.name === name)?.kind.type ?? 'string';
  const canonical = (values: EventValues): Record<string, string | null> =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => {
        if (value === null) return [name, null];
        const text = isLosslessNumber(value) ? value.value : String(value);
        return [name, canonicalEventText(text, typeOf(name))];
      }),
    );
  return {
    id: eventId,
    operation: data.operation,
    key: data.instance_rid,
    properties: canonical(data.properties),
    after: data.after === null ? null : canonical(data.after),
  };
}

/** Applies properties to instances; an instance that was never created begins with its first event. */
function foldEvents(
  events: readonly ReadEvent[],
): ReadonlyMap<string, Readonly<Record<string, string | null>>> {
  const instances = new Map<string, Readonly<Record<string, string | null>>>();
  for (const { operation, key, properties, after } of events) {
    const known = instances.get(key);
    if (operation === 'delete') instances.delete(key);
    else
      instances.set(
        key,
        operation === 'create'
          ? properties
          : known === undefined
            ? (after ?? {})
            : { ...known, ...properties },
      );
  }
  return instances;
}
