import { describe, expect, test } from 'vitest';
import { create, line, remove, update } from './envelopes.ts';
import {
  mirrorOf,
  pipelineCase,
  ranCase,
  type PipelineCase,
  type PipelineKeys,
} from './pipeline-case.ts';

const typed = (type: unknown, rest: PipelineKeys = {}): PipelineKeys =>
  mirrorOf({ columns: { id: 'long', v: type } }, rest);
const longs = typed('long');
const strings = typed('string');

const values = async (made: PipelineCase): Promise<Readonly<Record<string, string | null>>> =>
  Object.fromEntries((await made.rows('shop.t')).map((row) => [row['id'], row['v'] ?? null]));
const codes = async (made: PipelineCase): Promise<readonly unknown[]> =>
  (await made.deadLetters()).map(({ code, line: at }) => [at, code]);

describe('what is kept', () => {
  const BAD = create({ id: 2, v: 'x' });

  test('everything that is needed to find the record again', async () => {
    await using made = await ranCase(longs, [
      create({ id: 1, v: 1 }),
      BAD,
      create({ id: 3, v: 3 }),
    ]);
    expect(await values(made)).toEqual({ 1: '1', 3: '3' });
    const [letter, ...others] = await made.deadLetters();
    expect(others).toEqual([]);
    expect(letter).toMatchObject({
      code: 'E_VALUE_INTEGER',
      message: expect.stringContaining('column v') as string,
      table: 'shop.t',
      key: '2',
      file: 'a.jsonl',
      line: 2,
      byte: Buffer.byteLength(create({ id: 1, v: 1 })) + 1,
      checkpoint: 1,
    });
    expect(made.outcome.counters).toMatchObject({ changes: 2, deadLetters: 1, skipped: 0 });
  });

  test('a message holds no value of the record', async () => {
    await using made = await ranCase(longs, [create({ id: 77, v: 'hunter2' })]);
    expect((await made.deadLetters())[0]?.message).not.toContain('hunter2');
  });

  test('the very bytes, also where they are no UTF-8', async () => {
    const bytes = Buffer.concat([
      Buffer.from('{"v":"'),
      Buffer.from([0xff, 0x00, 0xfe]),
      Buffer.from('"}'),
    ]);
    await using made = await ranCase(longs, [create({ id: 1, v: 1 }), bytes]);
    expect(Buffer.from((await made.deadLetters())[0]?.bytes ?? [])).toEqual(bytes);
  });

  test('the very bytes, blanks included', async () => {
    const text = `  ${BAD}\t `;
    await using made = await ranCase(longs, [text]);
    expect(Buffer.from((await made.deadLetters())[0]?.bytes ?? []).toString()).toBe(text);
  });

  test('without key and table where the line cannot be read', async () => {
    await using made = await ranCase(longs, ['{"op":"c","after":{"id":']);
    expect(await made.deadLetters()).toMatchObject([
      { code: 'E_LINE_JSON', table: null, key: null },
    ]);
  });

  test('in feed order, each once', async () => {
    await using made = await ranCase(longs, ['{', BAD, '[', create({ id: 3, v: 3 }), BAD]);
    expect(await codes(made)).toEqual([
      [1, 'E_LINE_JSON'],
      [2, 'E_VALUE_INTEGER'],
      [3, 'E_LINE_JSON'],
      [5, 'E_VALUE_INTEGER'],
    ]);
  });

  test('under ids that stay the same when everything is read again', async () => {
    await using first = await ranCase(longs, [BAD, '{']);
    await using second = await ranCase(longs, [BAD, '{']);
    const [one, two] = [await first.deadLetters(), await second.deadLetters()];
    expect(one.map(({ id }) => id)).toEqual(two.map(({ id }) => id));
    expect(new Set(one.map(({ id }) => id)).size).toBe(2);
  });

  test('over restarts', async () => {
    await using made = await ranCase(longs, [BAD]);
    await made.append('a.jsonl', [create({ id: 3, v: 'y' })]);
    await made.run();
    expect((await made.deadLetters()).map(({ line: at, checkpoint }) => [at, checkpoint])).toEqual([
      [1, 1],
      [2, 2],
    ]);
  });

  test('an unavailable value has a code of its own and is never written', async () => {
    await using made = await ranCase(strings, [
      create({ id: 1, v: 'a' }),
      update({ id: 1, v: 'a' }, { id: 1, v: '__debezium_unavailable_value' }),
    ]);
    expect(await codes(made)).toEqual([[2, 'E_VALUE_UNAVAILABLE']]);
    expect(await values(made)).toEqual({ 1: 'a' });
  });

  test('an unavailable value of bytes, too', async () => {
    const v = Buffer.from('__debezium_unavailable_value').toString('base64');
    await using made = await ranCase(typed({ type: 'binary', from: 'base64' }), [
      create({ id: 1, v }),
    ]);
    expect(await codes(made)).toEqual([[1, 'E_VALUE_UNAVAILABLE']]);
  });

  test('an unavailable value in a column that is not mirrored harms nobody', async () => {
    await using made = await ranCase(strings, [
      create({ id: 1, v: 'a', w: '__debezium_unavailable_value' }),
    ]);
    expect(await codes(made)).toEqual([]);
  });

  test('later changes of the key go on', async () => {
    await using made = await ranCase(longs, [
      create({ id: 1, v: 1 }),
      update({ id: 1, v: 1 }, { id: 1, v: 'x' }),
      update({ id: 1 }, { id: 1, v: 3 }),
    ]);
    expect(await values(made)).toEqual({ 1: '3' });
    expect(made.outcome.counters).toMatchObject({ changes: 2, deadLetters: 1 });
  });
});

describe('replay', () => {
  test('runs the bytes through the pipeline as it is now', async () => {
    await using made = await ranCase(longs, [create({ id: 1, v: 1 }), create({ id: 2, v: ' 2 ' })]);
    made.use(typed('long', { processing: { cleansing: { trim: true } } }));
    expect(await made.replay()).toEqual({ applied: 1, superseded: 0, failed: 0 });
    expect(await values(made)).toEqual({ 1: '1', 2: '2' });
    expect(await made.deadLetters()).toEqual([]);
  });

  test('is one checkpoint of its own, with its snapshot', async () => {
    await using made = await ranCase(longs, [
      create({ id: 1, v: 1 }),
      create({ id: 2, v: ' 2' }),
      create({ id: 3, v: ' 3' }),
    ]);
    made.use(typed('long', { processing: { cleansing: { trim: true } } }));
    await made.replay();
    const snapshots = await made.snapshots('shop.t');
    expect(snapshots.map(({ summary }) => summary['lakeward.checkpoint-id'])).toEqual(['1', '2']);
  });

  test('reads nothing of the feed', async () => {
    await using made = await ranCase(longs, [create({ id: 1, v: ' 1' })]);
    await made.append('a.jsonl', [create({ id: 2, v: 2 })]);
    made.use(typed('long', { processing: { cleansing: { trim: true } } }));
    await made.replay();
    expect(await values(made)).toEqual({ 1: '1' });
    await made.run();
    expect(await values(made)).toEqual({ 1: '1', 2: '2' });
  });

  test('what still cannot be represented waits on, under its id', async () => {
    await using made = await ranCase(longs, [create({ id: 1, v: 'x' })]);
    const [before] = await made.deadLetters();
    expect(await made.replay()).toEqual({ applied: 0, superseded: 0, failed: 1 });
    expect((await made.deadLetters()).map(({ id }) => id)).toEqual([before?.id]);
  });

  test('applies only what is not older than the row', async () => {
    await using made = await ranCase(longs, [
      create({ id: 1, v: ' 1' }),
      create({ id: 2, v: ' 2' }),
      update({ id: 1 }, { id: 1, v: 9 }),
    ]);
    made.use(typed('long', { processing: { cleansing: { trim: true } } }));
    expect(await made.replay()).toEqual({ applied: 1, superseded: 1, failed: 0 });
    expect(await values(made)).toEqual({ 1: '9', 2: '2' });
    expect(await made.deadLetters()).toEqual([]);
  });

  test('does not bring back a row that was deleted later', async () => {
    await using made = await ranCase(longs, [create({ id: 1, v: ' 1' })]);
    await made.append('a.jsonl', [remove({ id: 1 })]);
    await made.run();
    made.use(typed('long', { processing: { cleansing: { trim: true } } }));
    expect(await made.replay()).toMatchObject({ applied: 0, superseded: 1 });
    expect((await made.tables()).length === 0 ? {} : await values(made)).toEqual({});
  });

  test('does not bring back a row whose key moved away later', async () => {
    await using made = await ranCase(longs, [
      create({ id: 1, v: ' 1' }),
      update({ id: 1, v: 1 }, { id: 2, v: 5 }),
    ]);
    made.use(typed('long', { processing: { cleansing: { trim: true } } }));
    expect(await made.replay()).toMatchObject({ applied: 0, superseded: 1 });
    expect(await values(made)).toEqual({ 2: '5' });
  });

  test('does not bring back a row that a later truncate took', async () => {
    await using made = await ranCase(longs, [
      create({ id: 1, v: ' 1' }),
      line('t', {}),
      create({ id: 2, v: 2 }),
    ]);
    made.use(typed('long', { processing: { cleansing: { trim: true } } }));
    expect(await made.replay()).toMatchObject({ applied: 0, superseded: 1 });
    expect(await values(made)).toEqual({ 2: '2' });
  });

  test('is in order per key', async () => {
    await using made = await ranCase(longs, [
      create({ id: 1, v: ' 1' }),
      update({ id: 1 }, { id: 1, v: ' 2' }),
      update({ id: 1 }, { id: 1, v: ' 3' }),
    ]);
    made.use(typed('long', { processing: { cleansing: { trim: true } } }));
    expect(await made.replay()).toMatchObject({ applied: 3 });
    expect(await values(made)).toEqual({ 1: '3' });
  });

  test('of some leaves the others', async () => {
    await using made = await ranCase(longs, [
      create({ id: 1, v: ' 1' }),
      create({ id: 2, v: ' 2' }),
    ]);
    const [, second] = await made.deadLetters();
    made.use(typed('long', { processing: { cleansing: { trim: true } } }));
    expect(await made.replay([second?.id ?? ''])).toMatchObject({ applied: 1 });
    expect(await values(made)).toEqual({ 2: '2' });
    expect((await made.deadLetters()).map(({ key }) => key)).toEqual(['1']);
  });

  test('of an unknown id is refused', async () => {
    await using made = await ranCase(longs, [create({ id: 1, v: 'x' })]);
    await expect(made.replay(['nothing'])).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
    expect(await made.deadLetters()).toHaveLength(1);
  });

  test('of none does nothing', async () => {
    await using made = await ranCase(longs, [create({ id: 1, v: 1 })]);
    expect(await made.replay()).toEqual({ applied: 0, superseded: 0, failed: 0 });
    expect(await made.snapshots('shop.t')).toHaveLength(1);
  });

  test('of a table that the first run could not make', async () => {
    await using made = await ranCase(longs, [create({ id: 1, v: ' 1' })]);
    made.use(typed('long', { processing: { cleansing: { trim: true } } }));
    expect(await made.replay()).toMatchObject({ applied: 1 });
    expect(await values(made)).toEqual({ 1: '1' });
  });

  test('makes the events that were missing, after those there are', async () => {
    const mapped = (conversion: PipelineKeys): PipelineKeys => ({
      source: { tables: [{ table: 'shop.t', columns: { id: 'long', v: 'string' } }] },
      processing: {
        cleansing: conversion,
        schema_mapping: {
          'shop.t': {
            target_object_type_rid: 'ri.type.T',
            primary_key_field: 'id',
            field_mappings: { v: { type_conversion: 'to_int' } },
          },
        },
      },
      sink: { event_bus_enabled: true },
    });
    await using made = await ranCase(mapped({}), [
      create({ id: 1, v: ' 1' }),
      create({ id: 2, v: '2' }),
    ]);
    made.use(mapped({ trim: true }));
    await made.replay();
    const events = await made.events();
    expect(events.map(({ subject }) => subject)).toEqual(['ri.T.main.2', 'ri.T.main.1']);
    expect(events[1]?.data['position']).toEqual({ file: 'a.jsonl', line: 1, byte: 0 });
    expect(events.map(({ id }) => Number(/(\d+)$/.exec(id)?.[1]))).toEqual([1, 2]);
  });

  test('a later change of a mapped table supersedes it, too', async () => {
    const mapped = (trim: boolean): PipelineKeys => ({
      source: { tables: [{ table: 'shop.t', columns: { id: 'long', v: 'string' } }] },
      processing: {
        cleansing: { trim },
        schema_mapping: {
          'shop.t': {
            target_object_type_rid: 'ri.type.T',
            primary_key_field: 'id',
            field_mappings: { v: { type_conversion: 'to_int' } },
          },
        },
      },
    });
    await using made = await ranCase(mapped(false), [
      create({ id: 1, v: ' 1' }),
      update({ id: 1 }, { id: 1, v: '2' }),
    ]);
    made.use(mapped(true));
    expect(await made.replay()).toMatchObject({ applied: 0, superseded: 1 });
    expect((await made.rows('shop.t')).map(({ v }) => v)).toEqual(['2']);
  });

  test.each([
    ['a whole number with a point', 'long', '1.0', '1'],
    ['a decimal', 'decimal(10,2)', '1.5', '"1.50"'],
    ['an instant', { type: 'timestamptz', from: 'epoch_ms' }, '1000', '1000'],
    ['bytes', { type: 'binary', from: 'base64' }, '"AQID"', '"AQID"'],
    ['a boolean', 'boolean', 'true', '1'],
    ['a text with a comma', 'string', '"a,b"', '"a,b"'],
  ])('a later change supersedes it, however the key is written: %s', async (_, type, old, now) => {
    const table = { columns: { id: type, v: 'long' } };
    await using made = await ranCase(mirrorOf(table), [
      create(`{"id":${old},"v":" 1"}`),
      update(null, `{"id":${now},"v":2}`),
    ]);
    expect(await made.deadLetters()).toHaveLength(1);
    made.use(mirrorOf(table, { processing: { cleansing: { trim: true } } }));
    expect(await made.replay()).toMatchObject({ applied: 0, superseded: 1 });
    expect((await made.rows('shop.t')).map(({ v }) => v)).toEqual(['2']);
  });

  test('a record of several key columns is superseded by its key alone', async () => {
    const table = { primary_key: ['a', 'b'], columns: { a: 'string', b: 'string', v: 'long' } };
    await using made = await ranCase(mirrorOf(table), [
      create({ a: 'x', b: 'y,z', v: ' 1' }),
      create({ a: 'x,y', b: 'z', v: 2 }),
    ]);
    made.use(mirrorOf(table, { processing: { cleansing: { trim: true } } }));
    expect(await made.replay()).toMatchObject({ applied: 1, superseded: 0 });
    expect(await made.rows('shop.t')).toHaveLength(2);
  });
});

describe('discard', () => {
  test('drops them for good', async () => {
    await using made = await ranCase(longs, [create({ id: 1, v: 'x' }), create({ id: 2, v: 'y' })]);
    expect(await made.discard()).toEqual({ discarded: 2 });
    expect(await made.deadLetters()).toEqual([]);
    await made.run();
    expect(await made.deadLetters()).toEqual([]);
  });

  test('drops one and leaves the others', async () => {
    await using made = await ranCase(longs, [create({ id: 1, v: 'x' }), create({ id: 2, v: 'y' })]);
    const [first] = await made.deadLetters();
    expect(await made.discard([first?.id ?? ''])).toEqual({ discarded: 1 });
    expect((await made.deadLetters()).map(({ key }) => key)).toEqual(['2']);
  });

  test('of an unknown id is refused', async () => {
    await using made = await ranCase(longs, [create({ id: 1, v: 'x' })]);
    await expect(made.discard(['nothing'])).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  });

  test('touches no table', async () => {
    await using made = await ranCase(longs, [create({ id: 1, v: 1 }), create({ id: 2, v: 'y' })]);
    await made.discard();
    expect(await made.snapshots('shop.t')).toHaveLength(1);
  });
});

describe('without dead letters', () => {
  const policy = (skip: boolean, rest: PipelineKeys = {}): PipelineKeys =>
    typed('long', {
      error_handling: { dead_letter_enabled: false, skip_corrupted: skip },
      ...rest,
    });
  const feed = [
    create({ id: 1, v: 1 }),
    create({ id: 2, v: 2 }),
    create({ id: 3, v: 'x' }),
    create({ id: 4, v: 4 }),
  ];

  test('skip_corrupted: true drops and counts', async () => {
    await using made = await ranCase(policy(true), ['{', ...feed]);
    expect(made.outcome.error).toBeNull();
    expect(await values(made)).toEqual({ 1: '1', 2: '2', 4: '4' });
    expect(made.outcome.counters).toMatchObject({ changes: 3, skipped: 2, deadLetters: 0 });
    expect(await made.deadLetters()).toEqual([]);
  });

  test('skip_corrupted: false stops at the line; what lies before it is committed', async () => {
    await using made = await ranCase(policy(false), feed);
    expect(made.outcome.error).toMatchObject({
      code: 'E_VALUE_INTEGER',
      kind: 'data',
      subject: { file: 'a.jsonl', line: 3, table: 'shop.t' },
    });
    expect(await values(made)).toEqual({ 1: '1', 2: '2' });
    expect(await made.snapshots('shop.t')).toHaveLength(1);
    expect(await made.deadLetters()).toEqual([]);
  });

  test('the next run begins at it', async () => {
    await using made = await ranCase(policy(false), feed);
    const again = await made.run();
    expect(again.error).toMatchObject({ subject: { line: 3 } });
    expect(again.checkpoints).toEqual([]);
    made.use(policy(true));
    const { error, counters } = await made.run();
    expect(error).toBeNull();
    expect(counters).toMatchObject({ changes: 1, skipped: 1 });
    expect(await values(made)).toEqual({ 1: '1', 2: '2', 4: '4' });
  });

  test('the next run goes on once the pipeline can represent it', async () => {
    await using made = await ranCase(
      policy(false),
      feed.map((text) => text.replace('"x"', '" 3"')),
    );
    made.use(policy(false, { processing: { cleansing: { trim: true } } }));
    expect((await made.run()).error).toBeNull();
    expect(await values(made)).toEqual({ 1: '1', 2: '2', 3: '3', 4: '4' });
  });

  test.each([
    ['a line that cannot be read', '{"op":'],
    ['a line that is no envelope', '{"a":1}'],
    ['a record without its key', create({ v: 1 })],
  ])('stops at %s', async (_, text) => {
    await using made = await ranCase(policy(false), [
      create({ id: 1, v: 1 }),
      text,
      create({ id: 2, v: 2 }),
    ]);
    expect(made.outcome.error).toMatchObject({ kind: 'data', subject: { line: 2 } });
    expect(await values(made)).toEqual({ 1: '1' });
  });

  test('stops at the first of several', async () => {
    await using made = await ranCase(policy(false), [
      create({ id: 1, v: 1 }),
      '{',
      create({ id: 2, v: 'x' }),
      '[',
    ]);
    expect(made.outcome.error).toMatchObject({ code: 'E_LINE_JSON', subject: { line: 2 } });
  });

  test('stops at the first line of the feed with nothing written', async () => {
    await using made = await ranCase(policy(false), ['{', create({ id: 1, v: 1 })]);
    expect(made.outcome.error).toMatchObject({ code: 'E_LINE_JSON' });
    expect(await made.tables()).toEqual([]);
  });

  test('stops in the second file with the first committed', async () => {
    await using made = await pipelineCase(policy(false));
    await made.feed('a.jsonl', [create({ id: 1, v: 1 })]);
    await made.feed('b.jsonl', [create({ id: 2, v: 2 }), '{', create({ id: 3, v: 3 })]);
    await made.feed('c.jsonl', [create({ id: 4, v: 4 })]);
    const { error } = await made.run();
    expect(error).toMatchObject({ subject: { file: 'b.jsonl', line: 2 } });
    expect(await values(made)).toEqual({ 1: '1', 2: '2' });
    made.use(policy(true));
    await made.run();
    expect(await values(made)).toEqual({ 1: '1', 2: '2', 3: '3', 4: '4' });
  });

  test('stopped, it has sent the events of what lies before and no others', async () => {
    const mapped: PipelineKeys = {
      source: { tables: [{ table: 'shop.t', columns: { id: 'long', v: 'string' } }] },
      processing: {
        schema_mapping: {
          'shop.t': {
            target_object_type_rid: 'ri.type.T',
            primary_key_field: 'id',
            field_mappings: { v: { type_conversion: 'to_int' } },
          },
        },
      },
      sink: { event_bus_enabled: true },
      error_handling: { dead_letter_enabled: false },
    };
    await using made = await ranCase(mapped, feed);
    expect((await made.events()).map(({ subject }) => subject)).toEqual([
      'ri.T.main.1',
      'ri.T.main.2',
    ]);
  });
});
