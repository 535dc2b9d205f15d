import { open } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { create, line, remove, update, wrapped } from './envelopes.ts';
import {
  mirrorOf,
  pipelineCase,
  ranCase,
  type FeedPart,
  type PipelineKeys,
} from './pipeline-case.ts';

const GOOD = [create({ id: 1, v: 'a' }), create({ id: 2, v: 'b' })] as const;

/** Between two good lines, a bad one: the code of its dead letter, once both neighbours are found written. */
async function codeBetween(bad: FeedPart, pipeline: PipelineKeys = mirrorOf()): Promise<string> {
  await using made = await ranCase(pipeline, [GOOD[0], bad, GOOD[1]]);
  expect(made.outcome.error).toBeNull();
  expect(await made.rows('shop.t')).toHaveLength(2);
  const [letter, ...others] = await made.deadLetters();
  expect(others).toEqual([]);
  expect(letter?.line).toBe(2);
  return letter?.code ?? 'no dead letter';
}

describe('lines', () => {
  const LINES: readonly (readonly [title: string, bad: FeedPart, code: string])[] = [
    ['cut in a text', '{"op":"c","after":{"id":3,"v":"x', 'E_LINE_JSON'],
    ['cut where a value has to stand', '{"op":"c","after":{"id":', 'E_LINE_JSON'],
    ['cut in an array', '{"op":"c","after":{"id":3,"v":[1,', 'E_LINE_JSON'],
    ['cut after a backslash', '{"op":"c","after":{"id":3,"v":"\\', 'E_LINE_JSON'],
    ['closed once too often', `${create({ id: 3 })}}`, 'E_LINE_JSON'],
    ['of two objects', `${create({ id: 3 })} ${create({ id: 4 })}`, 'E_LINE_JSON'],
    [
      'invalid UTF-8',
      Buffer.from([...Buffer.from('{"op":"c","x":"'), 0xc3, 0x28, 0x22, 0x7d]),
      'E_LINE_UTF8',
    ],
    ['a lone surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 'E_LINE_UTF8'],
    ['binary', Buffer.from([0, 1, 2, 3, 0x1f, 0x8b]), 'E_LINE_UTF8'],
    ['a field named twice', '{"op":"c","op":"d","after":{"id":3}}', 'E_LINE_DUPLICATE_FIELD'],
    [
      'a column named twice',
      '{"op":"c","after":{"id":3,"v":"x","v":"y"}}',
      'E_LINE_DUPLICATE_FIELD',
    ],
    [
      'a column named twice, once in escapes',
      '{"op":"c","after":{"id":3,"v":"x","\\u0076":"y"}}',
      'E_LINE_DUPLICATE_FIELD',
    ],
    ['an unknown op', line('x', { after: { id: 3 } }), 'E_ENVELOPE_OP'],
    ['a flattened record', '{"id":3,"v":"x","__op":"c","__deleted":"false"}', 'E_ENVELOPE_OP'],
    ['an update without after', line('u', { before: { id: 1 } }), 'E_ENVELOPE_AFTER'],
    ['a delete without before', line('d', { after: null }), 'E_ENVELOPE_BEFORE'],
    [
      'nesting of 10,000',
      create(`{"id":3,"v":${'['.repeat(10_000)}${']'.repeat(10_000)}}`),
      'E_LINE_NESTING',
    ],
    [
      'nesting of 10,000 objects, cut',
      `{"op":"c","after":{"id":3,"v":${'{"a":'.repeat(10_000)}`,
      'E_LINE_JSON|E_LINE_NESTING',
    ],
  ];

  test.each(LINES)('%s', async (_, bad, code) => {
    expect(code.split('|')).toContain(await codeBetween(bad));
  });

  test('nesting up to the limit is read', async () => {
    const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    // The line's object and its image are two levels of the 512.
    await using made = await ranCase(mirrorOf(), [create(`{"id":1,"v":${deep(510)}}`)]);
    expect((await made.rows('shop.t'))[0]?.['v']).toBe(deep(510));
    expect(await codeBetween(create(`{"id":3,"v":${deep(511)}}`))).toBe('E_LINE_NESTING');
  });

  test('the limit of nesting can be raised', async () => {
    const v = `${'['.repeat(900)}${']'.repeat(900)}`;
    await using made = await ranCase(mirrorOf({}, { source: { max_nesting: 1000 } }), [
      create(`{"id":1,"v":${v}}`),
    ]);
    expect((await made.rows('shop.t'))[0]?.['v']).toBe(v);
  });

  test('a line longer than the limit is a dead letter, at the limit it is read', async () => {
    const text = create({ id: 3, v: 'x'.repeat(1000) });
    const limit = { source: { max_line_bytes: Buffer.byteLength(text) } };
    expect(await codeBetween(create({ id: 3, v: 'x'.repeat(1001) }), mirrorOf({}, limit))).toBe(
      'E_LINE_TOO_LONG',
    );
    await using made = await ranCase(mirrorOf({}, limit), [text]);
    expect(await made.rows('shop.t')).toHaveLength(1);
  });

  test('a line of 100 MB is a dead letter, and its neighbours are written', async () => {
    await using made = await pipelineCase(mirrorOf());
    await made.feed('a.jsonl', [GOOD[0]]);
    const file = await open(made.path('feed', 'a.jsonl'), 'a');
    await file.write('{"op":"c","after":{"id":3,"v":"');
    const block = Buffer.alloc(1_000_000, 'x');
    for (let i = 0; i < 100; i += 1) await file.write(block);
    await file.write(`"}}\n${GOOD[1]}\n`);
    await file.close();
    const { error } = await made.run();
    expect(error).toBeNull();
    expect((await made.rows('shop.t')).map(({ id }) => id)).toEqual(['1', '2']);
    const letters = await made.deadLetters();
    expect(letters).toMatchObject([{ code: 'E_LINE_TOO_LONG', line: 2 }]);
    expect(letters[0]?.bytes.length).toBe(100_000_034);
  });
});

describe('files', () => {
  test.each([
    ['an empty file', ''],
    ['a file of blank lines', '\n\n \n'],
    ['a file of a byte order mark', '\ufeff'],
  ])('%s', async (_, text) => {
    await using made = await ranCase(mirrorOf(), Buffer.from(text));
    expect(made.outcome).toMatchObject({ error: null, counters: { changes: 0, deadLetters: 0 } });
    expect(await made.tables()).toEqual([]);
  });

  test('a folder without files', async () => {
    await using made = await pipelineCase(mirrorOf());
    expect(await made.run()).toMatchObject({ error: null, checkpoints: [] });
  });

  test('a file that is no gzip in spite of its name', async () => {
    await using made = await pipelineCase(mirrorOf());
    await made.feed('a.jsonl.gz', [GOOD[0]]);
    expect((await made.run()).error).toMatchObject({
      code: 'E_SOURCE_READ',
      subject: { file: 'a.jsonl.gz' },
    });
  });

  test('a file of another thing altogether', async () => {
    await using made = await ranCase(
      mirrorOf(),
      Buffer.from('<html>\n<body>404</body>\n</html>\n'),
    );
    expect(made.outcome.error).toBeNull();
    expect((await made.deadLetters()).map(({ code }) => code)).toEqual(
      Array(3).fill('E_LINE_JSON'),
    );
  });
});

describe('keys', () => {
  const KEYS: readonly (readonly [title: string, type: unknown, id: string, code: string])[] = [
    ['a text for a number', 'long', '"x"', 'E_VALUE_INTEGER'],
    ['an empty text for a number', 'long', '""', 'E_VALUE_INTEGER'],
    ['a fraction for a whole number', 'long', '1.5', 'E_VALUE_INTEGER'],
    ['a boolean for a number', 'long', 'true', 'E_VALUE_INTEGER'],
    ['an object for a number', 'long', '{"a":1}', 'E_VALUE_INTEGER'],
    ['a number out of range', 'long', '9223372036854775808', 'E_VALUE_RANGE'],
    ['a number out of the range of int', 'int', '2147483648', 'E_VALUE_RANGE'],
    ['too many digits', 'decimal(10,2)', '1.005', 'E_VALUE_DECIMAL'],
    ['no date', 'date', '"2024-02-30"', 'E_VALUE_DATE'],
    ['null', 'long', 'null', 'E_KEY_MISSING'],
    ['NaN in text', 'long', '"NaN"', 'E_VALUE_INTEGER'],
    ['NaN in text for a decimal', 'decimal(10,2)', '"NaN"', 'E_VALUE_NUMBER'],
    ['a bare NaN', 'long', 'NaN', 'E_LINE_JSON'],
    ['a bare Infinity', 'decimal(10,2)', '-Infinity', 'E_LINE_JSON'],
  ];

  test.each(KEYS)('%s', async (_, type, id, code) => {
    const pipeline = mirrorOf({ columns: { id: type, v: 'string' } });
    await using made = await ranCase(pipeline, [create(`{"id":${id},"v":"x"}`)]);
    expect((await made.deadLetters()).map((letter) => letter.code)).toEqual([code]);
    expect(made.outcome.counters.changes).toBe(0);
  });

  test.each([
    ['a create', create({ v: 'x' })],
    ['an update', line('u', { after: { v: 'x' } })],
    ['a delete', remove({ v: 'x' })],
    ['a delete whose before is empty', remove({})],
  ])('%s without its key column', async (_, text) => {
    expect(await codeBetween(text)).toBe('E_KEY_MISSING');
  });

  test('a part of the key that is missing', async () => {
    const table = {
      primary_key: ['id', 'part'],
      columns: { id: 'long', part: 'string', v: 'string' },
    };
    await using made = await ranCase(mirrorOf(table), [create({ id: 1, v: 'a' })]);
    expect((await made.deadLetters()).map(({ code }) => code)).toEqual(['E_KEY_MISSING']);
  });

  test('a delete whose key cannot be', async () => {
    expect(await codeBetween(remove({ id: 'x' }))).toBe('E_VALUE_INTEGER');
  });

  test('an update whose old key cannot be leaves nobody guessing', async () => {
    expect(await codeBetween(update({ id: 'x' }, { id: 3, v: 'c' }))).toBe('E_VALUE_INTEGER');
  });

  test('a mapped table’s key that is missing', async () => {
    const schema_mapping = {
      'shop.t': {
        target_object_type_rid: 'ri.type.T',
        primary_key_field: 'id',
        field_mappings: { v: {} },
      },
    };
    await using made = await ranCase(
      {
        source: { tables: [{ table: 'shop.t', columns: { id: 'long', v: 'string' } }] },
        processing: { schema_mapping },
        sink: { event_bus_enabled: true },
      },
      [GOOD[0], create({ v: 'x' }), remove({ id: 'y' })],
    );
    expect((await made.deadLetters()).map(({ code }) => code)).toEqual([
      'E_KEY_MISSING',
      'E_VALUE_INTEGER',
    ]);
    expect(await made.events()).toHaveLength(1);
  });

  test.each(['float', 'double'])(
    'a key of type %s is refused before anything is written',
    async (type) => {
      const attempt = async (): Promise<void> => {
        await using made = await ranCase(mirrorOf({ columns: { id: type, v: 'string' } }), [
          GOOD[0],
        ]);
        expect(await made.tables()).toEqual([]);
        throw made.outcome.error ?? new Error('it was not refused');
      };
      await expect(attempt()).rejects.toMatchObject({ code: 'E_KEY_TYPE', kind: 'config' });
    },
  );

  test('a key that the schema part says is a double is refused', async () => {
    await using made = await ranCase(
      { source: { tables: [{ table: 'shop.t', primary_key: ['id'] }] } },
      [wrapped({ id: 'double' }, create({ id: 1.5 }))],
    );
    expect(made.outcome.error).toMatchObject({ code: 'E_KEY_TYPE', kind: 'config' });
  });

  test('keys that look alike are told apart', async () => {
    const ids = [
      'a',
      'A',
      ' a',
      'a ',
      'ä',
      'a\u0308',
      'ａ',
      '',
      '\0',
      "'",
      '1',
      '01',
      '1.0',
      'null',
    ];
    await using made = await ranCase(
      mirrorOf({ columns: { id: 'string', v: 'string' } }),
      ids.map((id, i) => create({ id, v: String(i) })),
    );
    expect(await made.rows('shop.t')).toHaveLength(ids.length);
    await made.append(
      'a.jsonl',
      ids.filter((_, i) => i % 2 === 0).map((id) => remove({ id })),
    );
    await made.run();
    const left = (await made.rows('shop.t')).map(({ v }) => Number(v)).sort((a, b) => a - b);
    expect(left).toEqual(ids.map((_, i) => i).filter((i) => i % 2 === 1));
  });
});

describe('a feed that is bad throughout', () => {
  test('a thousand bad lines between good ones are a thousand dead letters', async () => {
    const lines = Array.from({ length: 1000 }, (_, i) =>
      i % 2 === 0 ? `{"bad ${i}` : create({ id: i, v: 'x' }),
    );
    await using made = await ranCase(mirrorOf(), lines);
    expect(await made.deadLetters()).toHaveLength(500);
    expect(await made.rows('shop.t')).toHaveLength(500);
    expect((await made.deadLetters()).map(({ line: at }) => at)).toEqual(
      Array.from({ length: 500 }, (_, i) => 2 * i + 1),
    );
  });

  test('the counters add up to the lines', async () => {
    const lines = [
      ...GOOD,
      '',
      'null',
      '{',
      line('m', {}),
      create({ id: 1 }, { db: 'shop', table: 'u' }),
      create({ id: 'x', v: 'y' }),
      line('x', {}),
    ];
    await using made = await ranCase(mirrorOf(), lines);
    const { changes, duplicates, deadLetters, skipped, unmapped, tombstones, messages } =
      made.outcome.counters;
    expect({ changes, duplicates, deadLetters, skipped, unmapped, tombstones, messages }).toEqual({
      changes: 2,
      duplicates: 0,
      deadLetters: 3,
      skipped: 0,
      unmapped: 1,
      tombstones: 2,
      messages: 1,
    });
  });
});
