import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mirrorOf, pipelineCase, type Outcome, type PipelineCase } from './pipeline-case.ts';

/**
 * Feeds that were run on Flink's debezium-json format, with what that format makes of them and what Lakeward makes of
 * them. The table is `shop.t (id long, v string)`; the lines carry no `source` block unless they show one.
 */
interface EnvelopeCase {
  readonly name: string;
  readonly feed?: string;
  readonly feedBase64?: string;
  readonly rows: readonly (readonly [number, string | null])[];
  /** Line and code of each dead letter. */
  readonly letters: readonly (readonly [number, string])[];
  readonly messages?: number;
  readonly tombstones?: number;
  /** True: what the quick reader takes and the exact one refuses (docs/feeds.md, three limits of the engine's own reader). */
  readonly limit?: boolean;
  /** Null: Flink's job fails. */
  readonly flinkRows: readonly (readonly [number, string | null])[] | null;
}

const CASES = JSON.parse(
  readFileSync(new URL('fixtures/envelopes.json', import.meta.url), 'utf8'),
) as readonly EnvelopeCase[];

/** Where Lakeward differs on purpose from Flink, beside going on where Flink fails. */
const DIFFERENCES: Readonly<Record<string, readonly string[]>> = {
  'a truncate empties the table instead of failing the job': [
    'op "t"',
    'op t, as Debezium writes truncate',
  ],
  'a message of the log is counted and skipped': ['op "m"', 'op m, as Debezium writes messages'],
  'an image that the operation does not use is not read': [
    'c: bad value in unused before',
    'd: bad value in unused after',
  ],
  'an update needs no before image': ['u: before null', 'u: before missing', 'u: before is {}'],
  'an update that changes the key leaves no row under the old one': ['u: key changes'],
  'blank lines and a bare null are tombstones like empty ones': [
    'line of blanks',
    'line with a tab',
    'literal null',
    'schema-include: payload null',
  ],
  'both forms of envelope are read in one feed': [
    'schema+payload, schema-include off',
    'schema-include: plain message',
  ],
  'a second value, or text after the first, would be lost without a word': [
    'lone CR between messages',
    'two messages on one line',
    'text after the message',
    'comma after the message',
    'NUL byte after the message',
  ],
  'which of two fields of one name holds is unknown': [
    'duplicate key in after',
    'duplicate op',
    'duplicate after',
  ],
  'JSON has no raw control characters, no byte order mark inside a file and no half of a letter': [
    'raw tab inside a string',
    'NUL byte in a value',
    'byte order mark on a middle line',
    'escaped lone surrogate',
  ],
  'these bytes are not UTF-8': ['overlong UTF-8 in a value', 'CESU-8 surrogates in a value'],
  'a limit of the quick reader: the value is what it seems to be': ['trailing comma in an object'],
};

const EXPLAINED = new Set(Object.values(DIFFERENCES).flat());

async function ran(kase: EnvelopeCase): Promise<{ made: PipelineCase; outcome: Outcome }> {
  const made = await pipelineCase(mirrorOf());
  const feed =
    kase.feedBase64 === undefined
      ? Buffer.from(kase.feed ?? '')
      : Buffer.from(kase.feedBase64, 'base64');
  await made.feed('a.jsonl', feed);
  return { made, outcome: await made.run() };
}

async function rowsOf(made: PipelineCase): Promise<unknown> {
  if ((await made.tables()).length === 0) return [];
  return (await made.rows('shop.t')).map((row) => [Number(row['id']), row['v']]);
}

async function lettersOf(made: PipelineCase): Promise<readonly unknown[]> {
  return (await made.deadLetters()).map((letter) => [letter.line, letter.code]);
}

describe('each envelope gives its rows and its dead letters', () => {
  test.for(CASES)('$name', async (kase) => {
    const { made, outcome } = await ran(kase);
    await using _ = made;
    expect(outcome.error).toBeNull();
    expect({ rows: await rowsOf(made), letters: await lettersOf(made) }).toEqual({
      rows: kase.rows,
      letters: kase.letters,
    });
    expect(outcome.counters).toMatchObject({
      deadLetters: kase.letters.length,
      messages: kase.messages ?? 0,
      tombstones: kase.tombstones ?? 0,
      skipped: 0,
      unmapped: 0,
    });
  });
});

/** Ids of a case's rows, so that all cases fit into one table: the digits 1 to 9 become 10 n + 1 to 10 n + 9. */
const renumbered = (feed: string, n: number): string =>
  feed.replaceAll(
    /("id":\s*)(\d)(?=[\s,}])/gu,
    (_, name: string, digit: string) => `${name}${n}${digit}`,
  );

/** Cases that are whole lines, about rows of their own, and not about a file as such. */
const LINES = CASES.filter(({ feed, name, limit }) => {
  const isWhole = feed !== undefined && feed.endsWith('\n') && !feed.startsWith('\ufeff');
  return isWhole && limit !== true && !feed.includes('"op":"t"') && name !== 'UTF-16LE file';
});

describe('in the company of all the others, whose bad lines have everything read again', () => {
  let made: PipelineCase;
  const rows = new Map<string, string | null>();
  const codes = new Map<number, string>();
  const firstLines = new Map<string, number>();
  beforeAll(async () => {
    made = await pipelineCase(mirrorOf());
    const feeds = LINES.map(({ feed = '' }, i) => renumbered(feed, i + 1));
    let lines = 0;
    for (const [i, { name }] of LINES.entries()) {
      firstLines.set(name, lines);
      lines += (feeds[i] ?? '').split('\n').length - 1;
    }
    await made.feed('a.jsonl', Buffer.from(feeds.join('')));
    await made.run();
    for (const row of await made.rows('shop.t')) rows.set(row['id'] ?? '', row['v'] ?? null);
    for (const letter of await made.deadLetters()) codes.set(letter.line, letter.code);
  });
  afterAll(() => made[Symbol.asyncDispose]());

  test.for(LINES.map((kase, i) => ({ ...kase, n: i + 1 })))('$name', ({ name, n, ...kase }) => {
    const first = firstLines.get(name) ?? 0;
    const lines = (kase.feed ?? '').split('\n').length - 1;
    const own = Array.from({ length: 9 }, (_, i) => `${n}${i + 1}`).filter((id) => rows.has(id));
    const letters = [...codes].filter(([line]) => line > first && line <= first + lines);
    expect(own.map((id) => [Number(id) - n * 10, rows.get(id)])).toEqual(kase.rows);
    expect(letters.map(([line, code]) => [line - first, code])).toEqual(kase.letters);
  });
});

describe('where the outcome is another one than Flink’s', () => {
  test('there is a reason', () => {
    const unexplained = CASES.filter(({ rows, letters, flinkRows }) => {
      if (flinkRows === null) return letters.length === 0;
      return JSON.stringify(flinkRows) !== JSON.stringify(rows);
    }).filter(({ name }) => !EXPLAINED.has(name));
    expect(unexplained.map(({ name }) => name)).toEqual([]);
  });

  test('no reason is given twice, or for a case that is the same', () => {
    const same = CASES.filter(
      ({ rows, flinkRows }) => JSON.stringify(flinkRows) === JSON.stringify(rows),
    );
    const names = Object.values(DIFFERENCES).flat();
    expect(same.filter(({ name }) => EXPLAINED.has(name)).map(({ name }) => name)).toEqual([]);
    expect(names.length).toBe(EXPLAINED.size);
    expect(names.filter((name) => !CASES.some((kase) => kase.name === name))).toEqual([]);
  });
});
