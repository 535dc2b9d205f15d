import { readdir, rm } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { PipelineBuilder, type InstanceEvent, type PipelineConfig } from '../../src/index.ts';
import { create, line, remove, update, type SourceBlock } from './envelopes.ts';
import { pipelineCase, ranCase, type PipelineCase, type PipelineKeys } from './pipeline-case.ts';

/** `shop.t (id, v, n)` as instances of T, with events. */
function pumps(rest: PipelineKeys = {}, columns: PipelineKeys = {}): PipelineKeys {
  const { processing, ...others } = rest;
  return {
    pipeline_id: 'pumps',
    source: {
      tables: [{ table: 'shop.t', columns: { id: 'long', v: 'string', n: 'long', ...columns } }],
    },
    processing: {
      schema_mapping: {
        'shop.t': {
          target_object_type_rid: 'ri.type.T',
          primary_key_field: 'id',
          field_mappings: { v: { target_property: 'name' }, n: {}, ...fieldsOf(columns) },
        },
      },
      ...(processing as object | undefined),
    },
    sink: { event_bus_enabled: true },
    ...others,
  };
}

const fieldsOf = (columns: PipelineKeys): PipelineKeys =>
  Object.fromEntries(Object.keys(columns).map((name) => [name, {}]));

const AT: SourceBlock = { db: 'shop', table: 't', ts_ms: 1_711_267_200_000 };

const seen = async (made: PipelineCase): Promise<readonly (readonly unknown[])[]> =>
  (await made.events()).map(({ data }) => [
    data['operation'],
    data['instance_rid'],
    data['properties'],
  ]);

describe('the event of a create', () => {
  const text = create({ id: 1, v: 'a', n: 5 }, AT);

  test('is exactly this', async () => {
    await using made = await ranCase(pumps(), ['', text]);
    const [event] = await made.events();
    expect(JSON.parse(event?.text ?? '')).toEqual({
      specversion: '1.0',
      id: expect.any(String) as string,
      source: expect.any(String) as string,
      type: 'InstanceCreated',
      subject: 'ri.T.main.1',
      time: expect.any(String) as string,
      datacontenttype: 'application/json',
      data: {
        operation: 'create',
        object_type_rid: 'ri.type.T',
        instance_rid: 'ri.T.main.1',
        properties: { name: 'a', n: 5 },
        source_timestamp: 1_711_267_200_000,
        source_table: 'shop.t',
        after: { name: 'a', n: 5 },
        position: { file: 'a.jsonl', line: 2, byte: 1 },
      },
    });
  });

  test('has the source’s time', async () => {
    await using made = await ranCase(pumps(), [text]);
    expect(Date.parse((await made.events())[0]?.time ?? '')).toBe(1_711_267_200_000);
  });

  test('has nulls among its properties', async () => {
    await using made = await ranCase(pumps(), [create({ id: 1, n: null }, AT)]);
    expect(await seen(made)).toEqual([['create', 'ri.T.main.1', { name: null, n: null }]]);
  });

  test('is the same for a row that was read in a snapshot', async () => {
    await using made = await ranCase(pumps(), [
      line('r', { after: { id: 1, v: 'a', n: 1 }, source: AT }),
    ]);
    expect((await made.events()).map(({ type }) => type)).toEqual(['InstanceCreated']);
  });

  test('is one also for a key that exists', async () => {
    await using made = await ranCase(pumps(), [text, text.replace('"a"', '"b"')]);
    expect((await seen(made)).map(([operation]) => operation)).toEqual(['create', 'create']);
  });
});

describe('the event of an update', () => {
  const row = { id: 1, v: 'a', n: 5 };
  const one = async (text: string): Promise<readonly unknown[] | undefined> => {
    await using made = await ranCase(pumps(), [text]);
    return (await seen(made))[0];
  };

  test('has the changed properties only, and the whole instance as after', async () => {
    await using made = await ranCase(pumps(), [update(row, { ...row, v: 'b' }, AT)]);
    const [event] = await made.events();
    expect(event?.type).toBe('InstanceUpdated');
    expect(event?.data).toMatchObject({ properties: { name: 'b' }, after: { name: 'b', n: 5 } });
    expect(Object.keys(event?.data['properties'] as object)).toEqual(['name']);
  });

  test('has every property without a before', async () => {
    const properties = { name: 'a', n: 5 };
    expect(await one(line('u', { after: row, source: AT }))).toEqual([
      'update',
      'ri.T.main.1',
      properties,
    ]);
    expect(await one(line('u', { before: null, after: row, source: AT }))).toEqual([
      'update',
      'ri.T.main.1',
      properties,
    ]);
  });

  test('has a property that before lacks', async () => {
    expect(await one(update({ id: 1, v: 'a' }, row, AT))).toEqual([
      'update',
      'ri.T.main.1',
      { n: 5 },
    ]);
  });

  test('has a property that before lacks and after has as null', async () => {
    expect(await one(update({ id: 1, v: 'a' }, { id: 1, v: 'a', n: null }, AT))).toEqual([
      'update',
      'ri.T.main.1',
      { n: null },
    ]);
  });

  test('has null for a property that after lacks', async () => {
    expect(await one(update(row, { id: 1, v: 'a' }, AT))).toEqual([
      'update',
      'ri.T.main.1',
      { n: null },
    ]);
  });

  test('does not happen where no mapped property changed', async () => {
    await using made = await ranCase(pumps(), [
      update({ ...row, other: 1 }, { ...row, other: 2 }, AT),
      update({ id: 1, v: null, n: 5 }, { id: 1, n: 5 }, AT),
    ]);
    expect(await seen(made)).toEqual([]);
    expect(await made.eventFiles()).toEqual([]);
    expect(await made.rows('shop.t')).toHaveLength(1);
  });

  test('does not happen where a number is written otherwise', async () => {
    await using made = await ranCase(pumps(), [
      update('{"id":1,"v":"a","n":5}', '{"id":1,"v":"a","n":5.0}', AT),
    ]);
    expect(await seen(made)).toEqual([]);
  });

  test('a key that changes is a delete and a create', async () => {
    await using made = await ranCase(pumps(), [
      create(row, AT),
      update(row, { ...row, id: 2 }, AT),
    ]);
    const events = await made.events();
    expect(await seen(made)).toEqual([
      ['create', 'ri.T.main.1', { name: 'a', n: 5 }],
      ['delete', 'ri.T.main.1', {}],
      ['create', 'ri.T.main.2', { name: 'a', n: 5 }],
    ]);
    expect(new Set(events.map(({ id }) => id)).size).toBe(3);
  });
});

describe('the event of a delete', () => {
  test('has no properties and no after', async () => {
    await using made = await ranCase(pumps(), [remove({ id: 1, v: 'a', n: 5 }, AT)]);
    const [event] = await made.events();
    expect(event).toMatchObject({
      type: 'InstanceDeleted',
      subject: 'ri.T.main.1',
      data: { operation: 'delete', properties: {}, after: null },
    });
  });

  test('is one also of a key that nobody knows, and of one that carries its key only', async () => {
    await using made = await ranCase(pumps(), [remove({ id: 7 }, AT)]);
    expect(await seen(made)).toEqual([['delete', 'ri.T.main.7', {}]]);
  });
});

describe('no event', () => {
  test('of a truncate', async () => {
    await using made = await ranCase(pumps(), [
      create({ id: 1, v: 'a', n: 1 }, AT),
      line('t', { source: AT }),
    ]);
    expect((await seen(made)).map(([operation]) => operation)).toEqual(['create']);
    expect(await made.rows('shop.t')).toEqual([]);
  });

  test('of a table that is mirrored as it is', async () => {
    await using made = await ranCase(
      {
        source: { tables: [{ table: 'shop.t', primary_key: ['id'], columns: { id: 'long' } }] },
        sink: { event_bus_enabled: true },
      },
      [create({ id: 1 }, AT)],
    );
    expect(await made.eventFiles()).toEqual([]);
  });

  test('of a dead letter or a duplicate', async () => {
    const at = { ...AT, connector: 'postgresql', schema: 'shop', lsn: 5 };
    const text = create({ id: 1, v: 'a', n: 1 }, at);
    await using made = await ranCase(pumps(), [text, text, create({ id: 2, v: 'a', n: 'x' }, at)]);
    expect(await seen(made)).toEqual([['create', 'ri.T.main.1', { name: 'a', n: 1 }]]);
  });

  test('where the bus is switched off', async () => {
    await using made = await ranCase(pumps({ sink: { event_bus_enabled: false } }), [
      create({ id: 1, v: 'a', n: 1 }, AT),
    ]);
    expect(await made.eventFiles()).toEqual([]);
  });
});

describe('values in an event', () => {
  const VALUES: readonly (readonly [type: unknown, json: string, text: string])[] = [
    ['long', '9223372036854775807', '9223372036854775807'],
    ['int', '-5', '-5'],
    ['boolean', 'true', 'true'],
    ['double', '1.5', '1.5'],
    ['double', '"NaN"', '"NaN"'],
    ['double', '"Infinity"', '"Infinity"'],
    [
      'decimal(38,10)',
      '1234567890123456789012345678.0123456789',
      '"1234567890123456789012345678.0123456789"',
    ],
    ['decimal(18,2)', '12.3', '"12.30"'],
    ['decimal(2,2)', '0.5', '"0.50"'],
    [{ type: 'timestamptz', from: 'epoch_ms' }, '1700000000123', '"2023-11-14T22:13:20.123000Z"'],
    ['timestamptz', '"2024-02-29T12:34:56.123456+05:30"', '"2024-02-29T07:04:56.123456Z"'],
    ['timestamp', '"2024-02-29 12:34:56"', '"2024-02-29T12:34:56.000000"'],
    ['date', '"2024-02-29"', '"2024-02-29"'],
    ['time', '"12:34:56"', '"12:34:56"'],
    ['uuid', '"101612F1-CE87-4CC2-8147-5A42042294A7"', '"101612f1-ce87-4cc2-8147-5a42042294a7"'],
    [{ type: 'binary', from: 'base64' }, '"AQID"', '"AQID"'],
    [
      'string',
      '"\\"it\'s\\" \\\\ 😀 \\n \\u0000 \\u2028"',
      '"\\"it\'s\\" \\\\ 😀 \\n \\u0000 \u2028"',
    ],
    ['string', '{"a":[1.10]}', '"{\\"a\\":[1.10]}"'],
    ['string', '1.10', '"1.10"'],
    ['string', 'null', 'null'],
  ];

  test.each(VALUES)('%j: %s is %s', async (type, json, text) => {
    await using made = await ranCase(pumps({}, { x: type }), [create(`{"id":1,"x":${json}}`, AT)]);
    const [event] = await made.events();
    expect(event?.text).toContain(`"x":${text}}`);
    expect(() => JSON.parse(event?.text ?? '') as unknown).not.toThrow();
  });

  test('an event without a clock in the feed has none', async () => {
    await using made = await ranCase(pumps(), [create({ id: 1, v: 'a', n: 1 })]);
    const [event] = await made.events();
    expect(event?.data['source_timestamp']).toBeNull();
    expect(event?.time).toBeUndefined();
  });

  test('the envelope’s own clock stands in for the source’s', async () => {
    await using made = await ranCase(pumps(), [line('c', { after: { id: 1 }, tsMs: 7 })]);
    expect((await made.events())[0]?.data['source_timestamp']).toBe(7);
  });
});

describe('the log', () => {
  const many = (from: number, n: number): readonly string[] =>
    Array.from({ length: n }, (_, i) => create({ id: from + i, v: 'a', n: i }, AT));

  test('has one file for each checkpoint, named by its number', async () => {
    await using made = await ranCase(pumps({ checkpoint: { max_bytes: 1 } }), many(1, 3));
    expect(await made.eventFiles()).toEqual([
      '000000000001.ndjson',
      '000000000002.ndjson',
      '000000000003.ndjson',
    ]);
  });

  test('has none for a checkpoint without events', async () => {
    await using made = await ranCase(pumps(), many(1, 1));
    await made.append('a.jsonl', ['{"broken']);
    await made.run();
    await made.append('a.jsonl', many(5, 1));
    await made.run();
    expect(await made.eventFiles()).toEqual(['000000000001.ndjson', '000000000003.ndjson']);
  });

  test('is in ./events where the file does not say otherwise', async () => {
    await using made = await ranCase(pumps(), many(1, 1));
    expect(await readdir(made.path('events'))).toContain('000000000001.ndjson');
  });

  test('is where the file says', async () => {
    const sink = { event_bus_enabled: true, event_bus: { path: './other/bus' } };
    await using made = await ranCase(pumps({ sink }), many(1, 1));
    expect(await readdir(made.path('other', 'bus'))).toContain('000000000001.ndjson');
  });

  test('has nothing else to see when a run has ended', async () => {
    await using made = await ranCase(pumps({ checkpoint: { max_bytes: 1 } }), many(1, 2));
    const names = await readdir(made.path('events'), { recursive: true });
    expect(names.filter((name) => name.includes('part-'))).toEqual([]);
    expect(names.filter((name) => name.endsWith('.ndjson'))).toHaveLength(2);
  });

  test('ids are consecutive over checkpoints and runs', async () => {
    await using made = await ranCase(pumps({ checkpoint: { max_bytes: 1 } }), many(1, 3));
    await made.append('a.jsonl', many(4, 2));
    await made.run();
    const numbers = (await made.events()).map(({ id }) => Number(/(\d+)$/.exec(id)?.[1]));
    expect(numbers).toEqual([1, 2, 3, 4, 5]);
  });

  test('ids are the same when everything is made again, however it is cut', async () => {
    await using made = await ranCase(pumps({ checkpoint: { max_bytes: 1 } }), [
      ...many(1, 3),
      update({ id: 1, v: 'a', n: 0 }, { id: 9, v: 'a', n: 0 }, AT),
    ]);
    const first = (await made.events()).map(({ id, data }) => [id, data]);
    for (const folder of ['events', 'warehouse', '.lakeward'])
      await rm(made.path(folder), { recursive: true, force: true });
    made.use(pumps());
    await made.run();
    expect((await made.events()).map(({ id, data }) => [id, data])).toEqual(first);
  });

  test('events of several tables stand in feed order', async () => {
    const mapping = (name: string): PipelineKeys => ({
      target_object_type_rid: `ri.type.${name}`,
      primary_key_field: 'id',
      field_mappings: { id: {} },
    });
    const tables = ['a', 'b'].map((name) => ({ table: `shop.${name}`, columns: { id: 'long' } }));
    const schema_mapping = { 'shop.a': mapping('A'), 'shop.b': mapping('B') };
    const pipeline = {
      source: { tables },
      processing: { schema_mapping },
      sink: { event_bus_enabled: true },
    };
    const of = (table: string, id: number): string => create({ id }, { db: 'shop', table });
    await using made = await ranCase(pipeline, [of('b', 1), of('a', 1), of('b', 2), of('a', 2)]);
    expect((await made.events()).map(({ subject }) => subject)).toEqual([
      'ri.B.main.1',
      'ri.A.main.1',
      'ri.B.main.2',
      'ri.A.main.2',
    ]);
  });

  test('changes of one key within a checkpoint each have their event, in order', async () => {
    await using made = await ranCase(pumps(), [
      create({ id: 1, v: 'a', n: 0 }, AT),
      update({ id: 1, v: 'a', n: 0 }, { id: 1, v: 'b', n: 0 }, AT),
      remove({ id: 1, v: 'b', n: 0 }, AT),
      create({ id: 1, v: 'c', n: 0 }, AT),
    ]);
    expect((await seen(made)).map(([operation]) => operation)).toEqual([
      'create',
      'update',
      'delete',
      'create',
    ]);
  });

  test('positions point at the lines, also of files that are read one after the other', async () => {
    await using made = await pipelineCase(pumps());
    await made.feed('a.jsonl', ['', ...many(1, 2)]);
    await made.feed('b.jsonl', many(3, 1));
    await made.run();
    const size = Buffer.byteLength(create({ id: 1, v: 'a', n: 0 }, AT)) + 1;
    expect((await made.events()).map(({ data }) => data['position'])).toEqual([
      { file: 'a.jsonl', line: 2, byte: 1 },
      { file: 'a.jsonl', line: 3, byte: 1 + size },
      { file: 'b.jsonl', line: 1, byte: 0 },
    ]);
  });
});

describe('listeners in the process', () => {
  const mapping = {
    source_table: 'test.equipment',
    target_object_type_rid: 'ri.type.Equipment',
    field_mappings: {
      id: { source_column: 'id', target_property: 'equipment_id' },
      name: { source_column: 'name', target_property: 'display_name' },
      status: { source_column: 'status', target_property: 'status' },
    },
    primary_key_field: 'id',
  };
  const config = (watch: boolean): PipelineConfig => ({
    pipeline_id: 'test-pipeline',
    source: { source_type: 'debezium_json', path: './feed', tables: ['test.equipment'], watch },
    processing: { schema_mapping: { 'test.equipment': mapping } },
    sink: { iceberg_enabled: false, doris_enabled: false, event_bus_enabled: true },
    checkpoint: { interval_ms: 1, min_pause_ms: 0 },
  });
  const AT_TEST = { db: 'test', table: 'equipment' };
  const running = { id: 1, name: 'Pump-A', status: 'running' };
  const inserted = create(running, AT_TEST);
  const updated = update(running, { ...running, status: 'maintenance' }, AT_TEST);

  test('see what a database does while the pipeline runs', async () => {
    await using made = await pipelineCase({});
    await made.feed('a.jsonl', [inserted]);
    const pipeline = new PipelineBuilder(config(true), { baseDir: made.dir }).build();
    const events: InstanceEvent[] = [];
    const second = new Promise<void>((resolve) => {
      pipeline.addListener(async (event) => {
        events.push(event);
        if (events.length === 1) await made.append('a.jsonl', [updated]);
        if (events.length === 2) resolve();
      });
    });
    await pipeline.start();
    await Promise.race([second, pipeline.finished()]);
    expect(events).toMatchObject([
      { operation: 'create', properties: { display_name: 'Pump-A' } },
      { operation: 'update', properties: { status: 'maintenance' } },
    ]);
    await pipeline.stop();
    expect(pipeline.status()).toMatchObject({ status: 'STOPPED', changes: 2, last_checkpoint: 2 });
  });

  test('see the events of the log, in its order and with its ids', async () => {
    await using made = await pipelineCase({});
    await made.feed('a.jsonl', [inserted, updated, remove(running, AT_TEST)]);
    const events: InstanceEvent[] = [];
    await using pipeline = new PipelineBuilder(config(false), { baseDir: made.dir })
      .build()
      .addListener((event) => void events.push(event));
    await pipeline.start();
    await pipeline.finished();
    const log = await made.events();
    expect(events).toEqual(log.map(({ id, data }) => ({ id, ...data })));
    expect(events).toHaveLength(3);
  });

  test('get longs beyond 2^53 in full', async () => {
    await using made = await pipelineCase({});
    await made.feed('a.jsonl', [create('{"id":9007199254740993,"name":"x"}', AT_TEST)]);
    const events: InstanceEvent[] = [];
    await using pipeline = new PipelineBuilder(config(false), { baseDir: made.dir })
      .build()
      .addListener((event) => void events.push(event));
    await pipeline.start();
    await pipeline.finished();
    expect(events[0]?.properties['equipment_id']).toBe(9007199254740993n);
  });

  test('a pipeline without Iceberg makes no warehouse', async () => {
    await using made = await pipelineCase({});
    await made.feed('a.jsonl', [inserted]);
    await using pipeline = new PipelineBuilder(config(false), { baseDir: made.dir }).build();
    await pipeline.start();
    await pipeline.finished();
    expect(await readdir(made.dir)).not.toContain('warehouse');
  });

  test('a listener that throws stops the pipeline, and sees the event again with the same id', async () => {
    await using made = await pipelineCase({});
    await made.feed('a.jsonl', [inserted]);
    const ids: string[] = [];
    const attempt = async (fails: boolean): Promise<unknown> => {
      const once = { ...config(false), error_handling: { max_retries: 0 } };
      await using pipeline = new PipelineBuilder(once, { baseDir: made.dir })
        .build()
        .addListener((event) => {
          ids.push(event.id);
          if (fails) throw new Error('not today');
        });
      await pipeline.start();
      return await pipeline.finished().catch((error: unknown) => error);
    };
    expect(await attempt(true)).toBeInstanceOf(Error);
    expect(await attempt(false)).toMatchObject({ counters: { changes: 0 } });
    expect(ids).toHaveLength(2);
    expect(ids[0]).toBe(ids[1]);
  });
});
