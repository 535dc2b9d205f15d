import { execFile, spawn } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { describe, expect, test, type TestContext } from 'vitest';
import { systemClock, type Clock } from '../../src/lib/clock.ts';
import { raw, sql } from '../../src/sql/sql.ts';
import { create, remove, update } from './envelopes.ts';
import { foreignWriter, type ForeignWriter } from './foreign-writer.ts';
import {
  mirrorOf,
  pipelineCase,
  ranCase,
  type PipelineCase,
  type PipelineKeys,
} from './pipeline-case.ts';

const one = (id: number, v = String(id)): string => create({ id, v });
const ids = async (made: PipelineCase): Promise<readonly string[]> =>
  (await made.rows('shop.t')).map((row) => row['id'] ?? '');
const marks = async (made: PipelineCase): Promise<readonly (string | undefined)[]> =>
  (await made.snapshots('shop.t')).map(({ summary }) => summary['lakeward.checkpoint-id']);

/** Does not wait between attempts. */
const hasty: Clock = {
  now: systemClock.now,
  sleep: (ms, signal) => (ms >= 600_000 ? systemClock.sleep(ms, signal) : Promise.resolve()),
};

const mapped = (rest: PipelineKeys = {}): PipelineKeys => ({
  source: { tables: [{ table: 'shop.t', columns: { id: 'long', v: 'string' } }] },
  processing: {
    schema_mapping: {
      'shop.t': {
        target_object_type_rid: 'ri.type.T',
        primary_key_field: 'id',
        field_mappings: { id: {}, v: {} },
      },
    },
  },
  sink: { event_bus_enabled: true },
  ...rest,
});

describe('a place that cannot be written', () => {
  test('a warehouse that is a file', async () => {
    await using made = await pipelineCase(mirrorOf());
    await writeFile(made.path('warehouse'), '');
    await made.feed('a.jsonl', [one(1)]);
    const { error } = await made.run();
    expect(error).toMatchObject({ code: 'E_WAREHOUSE_WRITE', kind: 'unavailable' });
    await rm(made.path('warehouse'));
    expect((await made.run()).error).toBeNull();
    expect(await ids(made)).toEqual(['1']);
    expect(await marks(made)).toEqual(['1']);
  });

  test('a table’s data folder that becomes a file leaves the table as it was', async () => {
    await using made = await ranCase(mirrorOf(), [one(1)]);
    const data = made.path('warehouse', 'shop', 't', 'data');
    await rename(data, `${data}.kept`);
    await writeFile(data, '');
    await made.append('a.jsonl', [one(2)]);
    expect((await made.run()).error).toMatchObject({ code: 'E_WAREHOUSE_WRITE' });
    await rm(data);
    await rename(`${data}.kept`, data);
    expect(await ids(made)).toEqual(['1']);
    expect((await made.run()).error).toBeNull();
    expect(await ids(made)).toEqual(['1', '2']);
    expect(await marks(made)).toEqual(['1', '2']);
  });

  test('a state folder that is a file', async () => {
    await using made = await pipelineCase(mirrorOf());
    await writeFile(made.path('.lakeward'), '');
    await made.feed('a.jsonl', [one(1)]);
    expect((await made.run()).error).toMatchObject({ code: 'E_STATE_WRITE', kind: 'unavailable' });
    expect(await made.tables()).toEqual([]);
  });

  test('a checkpoint that cannot be saved makes nothing visible', async () => {
    await using made = await pipelineCase(mirrorOf());
    await mkdir(made.path('.lakeward', 'case'), { recursive: true });
    await writeFile(made.path('.lakeward', 'case', 'checkpoints'), '');
    await made.feed('a.jsonl', [one(1)]);
    const { error } = await made.run();
    expect(['E_STATE_WRITE', 'E_STATE_DAMAGED']).toContain(error?.code);
    expect((await made.tables()).length === 0 ? [] : await made.snapshots('shop.t')).toEqual([]);
  });

  test('an event log that is a file leaves the table unwritten', async () => {
    await using made = await pipelineCase(mapped());
    await writeFile(made.path('events'), '');
    await made.feed('a.jsonl', [one(1)]);
    expect((await made.run()).error).toMatchObject({ code: 'E_EVENTS_WRITE', kind: 'unavailable' });
    expect((await made.tables()).length === 0 ? [] : await made.snapshots('shop.t')).toEqual([]);
    await rm(made.path('events'));
    expect((await made.run()).error).toBeNull();
    expect(await ids(made)).toEqual(['1']);
    expect(await made.events()).toHaveLength(1);
  });

  test('events that could not appear appear when the checkpoint is finished, once', async () => {
    await using made = await pipelineCase(mapped());
    const blocked = made.path('events', '000000000001.ndjson');
    await mkdir(blocked, { recursive: true });
    await made.feed('a.jsonl', [one(1)]);
    expect((await made.run()).error).toMatchObject({ code: 'E_EVENTS_WRITE' });
    await rm(blocked, { recursive: true });
    expect((await made.run()).error).toBeNull();
    expect((await made.events()).map(({ subject }) => subject)).toEqual(['ri.T.main.1']);
    expect(await marks(made)).toEqual(['1']);
  });

  test('an outage is retried with growing pauses, and goes on where it stood', async () => {
    await using made = await pipelineCase(
      mirrorOf({}, { error_handling: { max_retries: 3, retry_interval_ms: 100 } }),
    );
    await writeFile(made.path('warehouse'), '');
    await made.feed('a.jsonl', [one(1)]);
    const pauses: number[] = [];
    let mended: Promise<void> | undefined;
    const { error } = await made.run({
      clock: {
        ...hasty,
        sleep: async (ms, signal) => (await mended, await hasty.sleep(ms, signal)),
      },
      progress(news) {
        if (news.kind !== 'retry') return;
        pauses.push(news.delayMs);
        if (news.attempt === 2) mended = rm(made.path('warehouse'));
      },
    });
    expect(error).toBeNull();
    expect(pauses).toEqual([100, 200]);
    expect(await marks(made)).toEqual(['1']);
  });

  test('an outage that lasts stops the pipeline after max_retries', async () => {
    await using made = await pipelineCase(mirrorOf({}, { error_handling: { max_retries: 2 } }));
    await writeFile(made.path('warehouse'), '');
    await made.feed('a.jsonl', [one(1)]);
    let retries = 0;
    const { error } = await made.run({
      clock: hasty,
      progress: (news) => void (retries += news.kind === 'retry' ? 1 : 0),
    });
    expect(error).toMatchObject({ code: 'E_WAREHOUSE_WRITE' });
    expect(retries).toBe(2);
  });
});

const system = promisify(execFile);

/** Makes a folder a small disk of its own. Ends the test where this process may not. */
async function smallDisk(
  path: string,
  bytes: number,
  context: TestContext,
): Promise<AsyncDisposable & { grow(bytes: number): Promise<void> }> {
  await mkdir(path, { recursive: true });
  try {
    await system('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', path]);
  } catch {
    context.skip('needs the right to mount a file system');
  }
  return {
    grow: async (size) => void (await system('mount', ['-o', `remount,size=${size}`, path])),
    [Symbol.asyncDispose]: async () => void (await system('umount', [path])),
  };
}

describe('a disk that is full', () => {
  /** Texts that do not compress. */
  const noise = (from: number, rows: number): readonly string[] =>
    Array.from({ length: rows }, (_, i) => {
      const v = Array.from({ length: 60 }, (__, n) =>
        ((i * 2654435761 + n * 40503) % 2 ** 31).toString(36),
      );
      return create({ id: from + i, v: v.join('') });
    });

  test('a full warehouse keeps what was committed, and the rest comes once there is room', async (context) => {
    await using made = await pipelineCase(mirrorOf());
    await using disk = await smallDisk(made.path('warehouse'), 100_000, context);
    await made.feed('a.jsonl', [one(1)]);
    expect((await made.run()).error).toBeNull();
    await made.append('a.jsonl', noise(2, 2000));
    expect((await made.run()).error).toMatchObject({ kind: 'unavailable' });
    expect(await ids(made)).toEqual(['1']);
    await disk.grow(50_000_000);
    expect((await made.run()).error).toBeNull();
    expect(await ids(made)).toHaveLength(2001);
    expect(await marks(made)).toEqual(['1', '2']);
  });

  test('a full state folder keeps what was committed, and the rest comes once there is room', async (context) => {
    await using made = await pipelineCase(mirrorOf({}, { checkpoint: { max_bytes: 200_000 } }));
    await using disk = await smallDisk(made.path('.lakeward'), 100_000, context);
    await made.feed('a.jsonl', [one(1), ...noise(2, 2000)]);
    expect((await made.run()).error).toMatchObject({ kind: 'unavailable' });
    await disk.grow(50_000_000);
    expect((await made.run()).error).toBeNull();
    expect(await ids(made)).toHaveLength(2001);
    expect(new Set(await marks(made)).size).toBe((await marks(made)).length);
  });
});

describe('two on one pipeline', () => {
  const YAML = `
pipeline_id: shared
source:
  source_type: debezium_json
  path: ./feed
  watch: true
  tables: [{table: shop.t, primary_key: [id], columns: {id: long, v: string}}]
checkpoint: {interval_ms: 1, min_pause_ms: 0}
`;
  const PROGRAM = `
    import { loadPipeline } from './src/config/load.ts';
    import { run } from './src/app.ts';
    const { spec } = await loadPipeline(process.argv.at(-1));
    await run(spec, { progress: (news) => news.kind === 'checkpoint' && console.log('running') });`;

  test('the second process is refused by name, until the first has ended, however it ends', async () => {
    await using made = await pipelineCase(YAML);
    await made.feed('a.jsonl', [one(1)]);
    const args = [
      '--import',
      'tsx',
      '--input-type=module',
      '-e',
      PROGRAM,
      made.path('pipeline.yaml'),
    ];
    const other = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = new Promise((resolve) => other.once('exit', resolve));
    try {
      for await (const text of createInterface({ input: other.stdout }))
        if (text === 'running') break;
      const { error } = await made.run();
      expect(error).toMatchObject({ code: 'E_PIPELINE_LOCKED', kind: 'conflict' });
      expect(error?.message).toContain('shared');
      expect(error?.message).toContain(String(other.pid));
      await expect(made.replay()).rejects.toMatchObject({ code: 'E_PIPELINE_LOCKED' });
    } finally {
      other.kill('SIGKILL');
      await ended;
    }
    await made.append('a.jsonl', [one(2)]);
    const aborted = AbortSignal.timeout(1);
    expect((await made.run({ signal: aborted })).error).toBeNull();
  });

  test('the second in one process is refused, too', async () => {
    await using made = await pipelineCase(mirrorOf());
    await made.feed('a.jsonl', [one(1)]);
    const [first, second] = await Promise.all([made.run(), made.run()]);
    const errors = [first, second].map(({ error }) => error?.code);
    expect(errors.filter((code) => code === 'E_PIPELINE_LOCKED')).toHaveLength(1);
    expect(await ids(made)).toEqual(['1']);
  });

  test('two pipelines of other names share a warehouse', async () => {
    await using made = await ranCase(mirrorOf(), [one(1)]);
    made.use({ ...mirrorOf(), pipeline_id: 'other' });
    await made.append('a.jsonl', [one(2)]);
    expect((await made.run()).error).toBeNull();
    expect(await ids(made)).toEqual(['1', '2']);
  });
});

describe('a state folder', () => {
  const checkpointFile = (made: PipelineCase, n: number): string =>
    made.path('.lakeward', 'case', 'checkpoints', `${String(n).padStart(12, '0')}.json`);

  test('from a newer version is refused, and nothing is touched', async () => {
    await using made = await ranCase(mirrorOf(), [one(1)]);
    const file = checkpointFile(made, 1);
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace('"version":1', '"version":99'));
    await made.append('a.jsonl', [one(2)]);
    const { error } = await made.run();
    expect(error).toMatchObject({ code: 'E_STATE_VERSION', kind: 'config' });
    expect(error?.message).toContain('99');
    expect(await ids(made)).toEqual(['1']);
  });

  test.each([
    ['cut', (text: string): string => text.slice(0, text.length / 2)],
    ['empty', (): string => ''],
    ['garbage', (): string => '\0\0\0'],
    ['changed in one letter', (text: string): string => text.replace('a.jsonl', 'b.jsonl')],
  ])('whose last checkpoint is %s is refused', async (_, damage) => {
    await using made = await ranCase(mirrorOf(), [one(1)]);
    const file = checkpointFile(made, 1);
    await writeFile(file, damage(await readFile(file, 'utf8')));
    await made.append('a.jsonl', [one(2)]);
    expect((await made.run()).error).toMatchObject({ code: 'E_STATE_DAMAGED', kind: 'lost' });
    expect(await ids(made)).toEqual(['1']);
  });

  test('with files that a crash left half-written is none the worse', async () => {
    await using made = await ranCase(mirrorOf(), [one(1)]);
    const folder = made.path('.lakeward', 'case', 'checkpoints');
    await writeFile(`${folder}/.000000000002.json.tmp`, '{"half');
    await made.append('a.jsonl', [one(2)]);
    expect((await made.run()).error).toBeNull();
    expect(await ids(made)).toEqual(['1', '2']);
  });

  test('that was restored from an old backup is refused', async () => {
    await using made = await ranCase(mapped(), [one(1)]);
    const state = made.path('.lakeward');
    await cp(state, `${state}.old`, { recursive: true });
    await made.append('a.jsonl', [one(2)]);
    await made.run();
    const events = (await made.events()).map(({ text }) => text);
    await rm(state, { recursive: true });
    await rename(`${state}.old`, state);
    await made.append('a.jsonl', [one(3)]);
    expect((await made.run()).error).toMatchObject({ code: 'E_STATE_STALE', kind: 'lost' });
    expect(await ids(made)).toEqual(['1', '2']);
    expect((await made.events()).map(({ text }) => text)).toEqual(events);
  });

  test('that is gone while the table is there is refused', async () => {
    await using made = await ranCase(mirrorOf(), [one(1)]);
    await rm(made.path('.lakeward'), { recursive: true });
    expect((await made.run()).error).toMatchObject({ code: 'E_STATE_STALE' });
    expect(await made.snapshots('shop.t')).toHaveLength(1);
  });
});

describe('a feed that is no longer what it was', () => {
  const changed = { code: 'E_SOURCE_CHANGED', kind: 'lost' };

  test('a file replaced by another', async () => {
    await using made = await ranCase(mirrorOf(), [one(1), one(2)]);
    await made.feed('a.jsonl', [one(7), one(8), one(9)]);
    expect((await made.run()).error).toMatchObject(changed);
    expect(await ids(made)).toEqual(['1', '2']);
  });

  test('a file that became shorter', async () => {
    await using made = await ranCase(mirrorOf(), [one(1), one(2)]);
    await made.feed('a.jsonl', [one(1)]);
    expect((await made.run()).error).toMatchObject(changed);
  });

  test('a file that became empty', async () => {
    await using made = await ranCase(mirrorOf(), [one(1), one(2)]);
    await made.feed('a.jsonl', []);
    expect((await made.run()).error).toMatchObject(changed);
  });

  test('a file that is gone in the middle of its reading', async () => {
    const pipeline = mirrorOf({}, { error_handling: { dead_letter_enabled: false } });
    await using made = await ranCase(pipeline, [one(1), '{', one(2)]);
    await rename(made.path('feed', 'a.jsonl'), made.path('feed', 'b.jsonl'));
    expect((await made.run()).error).toMatchObject(changed);
    expect(await ids(made)).toEqual(['1']);
  });

  test('a short file whose only line is replaced by a longer one', async () => {
    await using made = await ranCase(mirrorOf(), [one(1)]);
    await made.feed('a.jsonl', [create({ id: 9, v: 'another line that is longer' })]);
    expect((await made.run()).error).toMatchObject(changed);
  });

  test('a folder that is gone', async () => {
    await using made = await ranCase(mirrorOf(), [one(1)]);
    await rm(made.path('feed'), { recursive: true });
    expect((await made.run()).error).toMatchObject({ code: 'E_SOURCE_PATH' });
    expect(await ids(made)).toEqual(['1']);
  });
});

describe('a table that another writer changes between checkpoints', () => {
  const foreign = (made: PipelineCase): ForeignWriter =>
    foreignWriter(made.path('warehouse'), 'shop.t');
  const row50 = sql`SELECT 50::BIGINT AS id, 'theirs'::VARCHAR AS v`;

  test('rows that it appended stay, and are ours to update and delete', async () => {
    await using made = await ranCase(mirrorOf(), [one(1)]);
    await foreign(made).append(
      raw("SELECT * FROM (VALUES (50::BIGINT, 'x'), (51, 'y'), (52, 'z')) t(id, v)"),
    );
    await made.append('a.jsonl', [
      one(2),
      update({ id: 51 }, { id: 51, v: 'ours' }),
      remove({ id: 52 }),
    ]);
    expect((await made.run()).error).toBeNull();
    expect(await made.rows('shop.t')).toEqual([
      { id: '1', v: '1' },
      { id: '2', v: '2' },
      { id: '50', v: 'x' },
      { id: '51', v: 'ours' },
    ]);
  });

  test('an append between what we read and what we commit is kept', async () => {
    await using made = await ranCase(mirrorOf(), [one(1)]);
    await made.append('a.jsonl', [one(2)]);
    let theirs: Promise<void> | undefined;
    const clock: Clock = { ...systemClock };
    const { error } = await made.run({
      clock,
      progress: (news) => void (news.kind === 'batch' && (theirs = foreign(made).append(row50))),
    });
    await theirs;
    expect(error).toBeNull();
    expect(await ids(made)).toEqual(['1', '2', '50']);
  });

  test('a last checkpoint that it buried is not committed again', async () => {
    await using made = await ranCase(mirrorOf(), [one(1)]);
    await foreign(made).append(row50);
    expect((await made.run()).error).toBeNull();
    expect(await marks(made)).toEqual(['1', undefined]);
  });

  test('a column that it added stays, null in our rows', async () => {
    await using made = await ranCase(mirrorOf(), [one(1)]);
    await foreign(made).change({ addColumns: [{ name: 'theirs', type: 'decimal(10,2)' }] });
    await made.append('a.jsonl', [one(2)]);
    expect((await made.run()).error).toBeNull();
    expect(await made.rows('shop.t')).toEqual([
      { id: '1', v: '1', theirs: null },
      { id: '2', v: '2', theirs: null },
    ]);
  });

  test('a column that it widened takes our values', async () => {
    await using made = await ranCase(mirrorOf({ columns: { id: 'long', v: 'int' } }), [
      create({ id: 1, v: 1 }),
    ]);
    await foreign(made).change({ promoteColumns: [{ name: 'v', type: 'long' }] });
    await made.append('a.jsonl', [create({ id: 2, v: 2 })]);
    expect((await made.run()).error).toBeNull();
    expect(await made.columns('shop.t')).toEqual({ id: 'long', v: 'long' });
    expect(await ids(made)).toEqual(['1', '2']);
  });

  test('another key stops the pipeline', async () => {
    await using made = await ranCase(mirrorOf(), [one(1)]);
    await foreign(made).edit((metadata) => {
      const schemas = metadata.schemas.map((schema) => ({
        ...schema,
        fields: schema.fields.map((field) => ({ ...field, required: true })),
        'identifier-field-ids': [2],
      }));
      return { ...metadata, schemas };
    });
    await made.append('a.jsonl', [one(2)]);
    expect((await made.run()).error).toMatchObject({ code: 'E_TARGET_MISMATCH' });
    expect(await ids(made)).toEqual(['1']);
  });

  test('a table that it dropped stops the pipeline', async () => {
    await using made = await ranCase(mirrorOf(), [one(1)]);
    await rm(made.path('warehouse', 'shop', 't'), { recursive: true });
    await made.append('a.jsonl', [one(2)]);
    const { error } = await made.run();
    expect(['E_TABLE_GONE', 'E_NOT_FOUND']).toContain(error?.code);
    expect(await made.tables()).toEqual([]);
  });

  test('a table that it put in place of ours stops the pipeline', async () => {
    await using made = await ranCase(mirrorOf(), [one(1)]);
    await using other = await ranCase(mirrorOf(), [one(9)]);
    await rm(made.path('warehouse'), { recursive: true });
    await cp(other.path('warehouse'), made.path('warehouse'), { recursive: true });
    await made.append('a.jsonl', [one(2)]);
    expect((await made.run()).error).not.toBeNull();
  });

  test('a table that was there before us keeps its rows', async () => {
    await using made = await ranCase({ ...mirrorOf(), pipeline_id: 'first' }, [one(1)]);
    await rm(made.path('feed', 'a.jsonl'));
    made.use({ ...mirrorOf(), pipeline_id: 'second' });
    await made.feed('b.jsonl', [one(2)]);
    expect((await made.run()).error).toBeNull();
    expect(await ids(made)).toEqual(['1', '2']);
  });

  test('a table of other columns under our name is refused', async () => {
    await using made = await ranCase(mirrorOf({ columns: { id: 'long', v: 'long' } }), [
      create({ id: 1, v: 1 }),
    ]);
    made.use({ ...mirrorOf(), pipeline_id: 'second' });
    await made.append('a.jsonl', [create({ id: 2, v: 'text' })]);
    expect((await made.run()).error).toMatchObject({ code: 'E_TARGET_MISMATCH' });
    expect(await made.rows('shop.t')).toEqual([{ id: '1', v: '1' }]);
  });

  test('metadata that cannot be read stops the pipeline', async () => {
    await using made = await ranCase(mirrorOf(), [one(1)]);
    const folder = made.path('warehouse', 'shop', 't', 'metadata');
    for (const name of await readdir(folder))
      if (name.endsWith('.metadata.json')) await writeFile(`${folder}/${name}`, '{"half');
    await made.append('a.jsonl', [one(2)]);
    expect((await made.run()).error).toMatchObject({ code: 'E_TABLE_METADATA', kind: 'lost' });
  });
});
