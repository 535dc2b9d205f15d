import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { line, wrapped, type FieldTypes } from '../scenarios/envelopes.ts';
import {
  pipelineCase,
  type Outcome,
  type PipelineCase,
  type PipelineKeys,
} from '../scenarios/pipeline-case.ts';

/*
 * One feed with a bit of everything, cut in every way: what comes out never depends on where checkpoints, files, runs
 * and compressed blocks end.
 */

let lsn = 100;
const at = (table: string, order = (lsn += 10)): Record<string, unknown> => ({
  connector: 'postgresql',
  db: 'plant',
  schema: 'shop',
  table,
  lsn: order,
  ts_ms: 1_700_000_000_000 + order,
});

const FIELDS: FieldTypes = { id: 'int64', v: 'string', n: 'string' };
const t = (op: string, parts: { before?: string | null; after?: string | null }): string =>
  line(op, { ...parts, source: at('t') });
const u = (op: string, parts: { before?: string | null; after?: string | null }): string =>
  line(op, { ...parts, source: at('u') });
// Delivered twice; between 150 and 160.
const late = line('u', { before: null, after: '{"id":2,"v":"b3","n":3}', source: at('t', 155) });

const FEED: readonly string[] = [
  t('c', { before: null, after: '{"id":1,"v":"a","n":1.10}' }),
  t('c', { before: null, after: '{"id":2,"v":"b","n":2}' }),
  u('r', { after: '{"id":1,"price":"12.50"}' }),
  '',
  t('u', { before: '{"id":1,"v":"a","n":1.10}', after: '{"id":1,"v":"a2","n":1.10}' }),
  '{"op":"c","after":{"id":',
  wrapped(
    FIELDS,
    t('c', { before: null, after: '{"id":9007199254740993,"v":"😀 \\"q\\"","n":"x"}' }),
  ),
  late,
  t('u', { before: '{"id":2,"v":"b3","n":3}', after: '{"id":20,"v":"b3","n":3}' }),
  late,
  u('c', { after: '{"id":2,"price":"1.005"}' }),
  u('u', { after: '{"id":1,"price":7}' }),
  'null',
  t('m', {}),
  t('d', { before: '{"id":9007199254740993}', after: null }),
  u('t', {}),
  u('c', { after: '{"id":3,"price":0.10}' }),
  t('c', { after: '{"v":"no key"}' }),
  t('c', { before: null, after: '{"id":1,"v":"again","n":12345678901234567890.123456789}' }),
  t('u', { before: '{"id":1}', after: '{"id":1,"v":null,"n":-5}' }),
  line('c', { after: '{"id":1}', source: at('elsewhere') }),
  t('c', { before: null, after: '{"id":7,"v":"hidden","n":0}' }),
  t('u', { before: '{"id":7,"v":"hidden","n":0}', after: '{"id":7,"v":"seen","n":0}' }),
  t('u', { before: '{"id":20,"v":"b3","n":3}', after: '{"id":20,"v":"hidden","n":3}' }),
  line('x', { after: '{"id":5}' }),
  t('d', { before: '{"id":404,"v":"z","n":1}', after: null }),
];

function pipeline(rest: PipelineKeys = {}, source: PipelineKeys = {}): PipelineKeys {
  const mapping = (name: string, fields: PipelineKeys): PipelineKeys => ({
    target_object_type_rid: `ri.type.${name}`,
    primary_key_field: 'id',
    field_mappings: fields,
  });
  return {
    source: {
      tables: [
        { table: 'shop.t', columns: { id: 'long', v: 'string', n: 'string' } },
        { table: 'shop.u', columns: { id: 'long', price: 'decimal(10,2)' } },
      ],
      ...source,
    },
    processing: {
      schema_mapping: {
        'shop.t': mapping('Part', { v: {}, n: {} }),
        'shop.u': mapping('Unit', { price: {} }),
      },
      filter: { 'shop.t': "v IS DISTINCT FROM 'hidden'" },
      deduplication: { window_ms: 3_600_000 },
    },
    sink: { event_bus_enabled: true },
    ...rest,
  };
}

const whole = Buffer.from(FEED.map((text) => `${text}\n`).join(''));

/** Runs after each part was added to the feed. */
async function grown(
  made: PipelineCase,
  parts: readonly Uint8Array[],
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  await made.feed('a.jsonl', []);
  for (const part of parts) {
    await made.append('a.jsonl', part);
    outcomes.push(await made.run());
  }
  return outcomes;
}

const cutEvery = (bytes: number): readonly Uint8Array[] =>
  Array.from({ length: Math.ceil(whole.length / bytes) }, (_, i) =>
    whole.subarray(i * bytes, (i + 1) * bytes),
  );

const cutAtLines = (lines: number): readonly string[] =>
  Array.from({ length: Math.ceil(FEED.length / lines) }, (_, i) =>
    FEED.slice(i * lines, (i + 1) * lines)
      .map((text) => `${text}\n`)
      .join(''),
  );

/** All that may not depend on the cut. */
async function seen(made: PipelineCase): Promise<unknown> {
  const letters = await made.deadLetters();
  const events = await made.events();
  return {
    parts: await made.rows('shop.part'),
    units: await made.rows('shop.unit'),
    letters: letters.map(({ code, table, key, bytes }) => [
      code,
      table,
      key,
      Buffer.from(bytes).toString(),
    ]),
    events: events.map(({ id, type, time, data }) => [id, type, time, { ...data, position: null }]),
  };
}

const CUTS: Readonly<Record<string, (made: PipelineCase) => Promise<readonly Outcome[]>>> = {
  'a checkpoint for each line': async (made) => {
    made.use(pipeline({ checkpoint: { max_bytes: 1 } }));
    await made.feed('a.jsonl', whole);
    return [await made.run()];
  },
  'a checkpoint for a few lines': async (made) => {
    made.use(pipeline({ checkpoint: { max_bytes: 700 } }));
    await made.feed('a.jsonl', whole);
    return [await made.run()];
  },
  'a gzip file': async (made) => {
    await made.feed('a.jsonl.gz', gzipSync(whole));
    return [await made.run()];
  },
  'a gzip file and a checkpoint for a few lines': async (made) => {
    made.use(pipeline({ checkpoint: { max_bytes: 500 } }));
    await made.feed('a.jsonl.gz', gzipSync(whole));
    return [await made.run()];
  },
  'a file for each line': async (made) => {
    for (const [i, text] of FEED.entries())
      await made.feed(`${String(i).padStart(3, '0')}.jsonl`, [text]);
    return [await made.run()];
  },
  'three files, plain and compressed': async (made) => {
    const [a = '', b = '', c = ''] = cutAtLines(10);
    await made.feed('a.jsonl', Buffer.from(a));
    await made.feed('b.jsonl.gz', gzipSync(b));
    await made.feed('c.jsonl', Buffer.from(c));
    return [await made.run()];
  },
  'a run for each line': (made) =>
    grown(
      made,
      cutAtLines(1).map((text) => Buffer.from(text)),
    ),
  'runs that end in the middle of lines': (made) => grown(made, cutEvery(333)),
  'no checkpoint in a run of its own, then everything from the start of a new one': async (
    made,
  ) => {
    await made.feed('a.jsonl', whole);
    const stopped = await made.run({ signal: AbortSignal.abort() });
    return [stopped, await made.run()];
  },
};

describe('however the feed is cut', () => {
  let expected: unknown;
  beforeAll(async () => {
    await using made = await pipelineCase(pipeline());
    await made.feed('a.jsonl', whole);
    await made.run();
    expected = await seen(made);
  });

  test('in one piece, it gives this', () => {
    expect(expected).toMatchObject({
      parts: [
        { rid: 'ri.Part.main.1', v: null, n: '-5' },
        { rid: 'ri.Part.main.7', v: 'seen', n: '0' },
      ],
      units: [{ rid: 'ri.Unit.main.3', price: '0.10' }],
    });
    const { letters, events } = expected as { letters: unknown[][]; events: { type: string }[] };
    expect(letters.map(([code]) => code)).toEqual([
      'E_LINE_JSON',
      'E_VALUE_DECIMAL',
      'E_KEY_MISSING',
      'E_ENVELOPE_OP',
    ]);
    expect(events).toHaveLength(16);
  });

  test.each(Object.entries(CUTS))('%s: the same rows, events and dead letters', async (_, cut) => {
    await using made = await pipelineCase(pipeline());
    const outcomes = await cut(made);
    expect(outcomes.map(({ error }) => error)).toEqual(outcomes.map(() => null));
    expect(await seen(made)).toEqual(expected);
  });
});
