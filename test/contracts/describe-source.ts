import { describe, expect, test } from 'vitest';
import type { Place } from '../../src/model/change.ts';
import type { ChangeBatch, Source } from '../../src/model/source.ts';
import type { Database } from '../../src/sql/database.ts';
import { sql } from '../../src/sql/sql.ts';
import { mirror } from '../../src/stages/schema-mapping.ts';
import { newDeadLetters, newWork } from '../kit/batch-work.ts';
import { readChanges } from '../kit/memory-sink.ts';
import type { ScriptedLine } from '../kit/scripted-source.ts';

export interface SourceSubject extends AsyncDisposable {
  readonly db: Database;
  /** The source of a process that starts now. */
  open(): Source;
  /** `<file>:<line>` of a line of the feed, which is numbered from 0 over all files. */
  place(line: number): string;
}

const change = (seq: number): ScriptedLine => {
  const [op, before, after] =
    seq % 3 === 0
      ? (['d', { id: 'k2', v: 'x' }, null] as const)
      : (['c', null, { id: `k${seq % 3}`, v: `v${seq}` }] as const);
  return { table: 'shop.a', op, before, after, seq };
};
const TARGET = { namespace: 'shop', table: 'a' };
const LINES = 12;
const BAD = [2, 8];

/** The feed that every subject has to offer, cut into several batches: two of its lines are bad. */
export const FEED: readonly ScriptedLine[] = Array.from({ length: LINES }, (_, i) =>
  BAD.includes(i) ? { bad: 'E_LINE_JSON' as const } : change(i + 1),
);

/** What is read of one batch. */
interface Read {
  readonly changes: readonly string[];
  /** Places of what was rejected. */
  readonly bad: readonly string[];
  /** Places of the changes, as the batch itself tells. */
  readonly places: readonly string[];
  readonly position: string;
}

const EXPECTED = FEED.flatMap((line) =>
  'bad' in line
    ? []
    : [
        `${line.op === 'd' ? 3 : 1} ${(line.after ?? line.before)?.['id']} ${line.after?.['v'] ?? null}`,
      ],
);
const goodPlaces = (subject: SourceSubject): readonly string[] =>
  FEED.flatMap((line, i) => ('bad' in line ? [] : [subject.place(i)]));

/** What every source has to keep. */
export function describeSource(name: string, make: () => Promise<SourceSubject>): void {
  const check = (claim: string, body: (subject: SourceSubject) => Promise<void>): void =>
    // oxlint-disable-next-line vitest/valid-title, vitest/expect-expect -- title and assertions are the caller's
    test(claim, async () => {
      await using subject = await make();
      await body(subject);
    });

  describe(`${name} as a source`, () => {
    check(
      'every line comes once, in the order of the feed, in more than one batch',
      async (subject) => {
        const read = await readAll(subject, subject.open(), null);
        expect(read.length).toBeGreaterThan(2);
        expect(read.flatMap((batch) => batch.changes)).toEqual(EXPECTED);
        expect(read.flatMap((batch) => batch.bad)).toEqual(BAD.map((line) => subject.place(line)));
      },
    );

    check('a change knows its line, also among bad ones', async (subject) => {
      const read = await readAll(subject, subject.open(), null);
      expect(read.flatMap((batch) => batch.places)).toEqual(goodPlaces(subject));
    });

    check('the next process goes on exactly where any batch ended', async (subject) => {
      const read = await readAll(subject, subject.open(), null);
      for (const [i, batch] of read.entries()) {
        const rest = await readAll(subject, subject.open(), batch.position);
        expect(rest.flatMap((b) => b.changes)).toEqual(read.slice(i + 1).flatMap((b) => b.changes));
        expect(rest.flatMap((b) => b.bad)).toEqual(read.slice(i + 1).flatMap((b) => b.bad));
        expect(rest.flatMap((b) => b.places)).toEqual(read.slice(i + 1).flatMap((b) => b.places));
      }
    });

    check(
      'a source that was read goes back to any position, as after an outage',
      async (subject) => {
        const source = subject.open();
        const read = await readAll(subject, source, null);
        const again = await readAll(subject, source, read[0]?.position ?? null);
        expect(again.flatMap((b) => b.changes)).toEqual(read.slice(1).flatMap((b) => b.changes));
        expect((await readAll(subject, source, null)).flatMap((b) => b.changes)).toEqual(EXPECTED);
      },
    );

    check('a batch that is cut in front of a line ends there', async (subject) => {
      const source = subject.open();
      const [first] = await readAll(subject, subject.open(), null);
      const end = first?.places.at(-1) ?? '';
      const rest = goodPlaces(subject).slice(goodPlaces(subject).indexOf(end));
      expect(rest.length).toBeLessThan(EXPECTED.length);
      for await (const batch of batchesOf(source, null, never)) {
        const place = await placeOf(subject, batch, end);
        const { position } = await batch.end(place);
        const read = await readAll(subject, subject.open(), position);
        expect(read.flatMap((b) => b.places)).toEqual(rest);
        break;
      }
    });

    check('what is aborted ends, and what it gave before is good', async (subject) => {
      const abort = new AbortController();
      const source = subject.open();
      const read: Read[] = [];
      for await (const batch of batchesOf(source, null, abort.signal)) {
        read.push(await readBatch(subject, batch));
        abort.abort();
      }
      expect(read).toHaveLength(1);
      const rest = await readAll(subject, subject.open(), read[0]?.position ?? null);
      expect([...read, ...rest].flatMap((batch) => batch.changes)).toEqual(EXPECTED);
    });

    check(
      'to acknowledge is to forget at most what lies before, however often',
      async (subject) => {
        const [first] = await readAll(subject, subject.open(), null);
        const position = first?.position ?? '';
        const source = subject.open();
        await source.acknowledge(position);
        await source.acknowledge(position);
        const rest = await readAll(subject, source, position);
        expect([...(first?.changes ?? []), ...rest.flatMap((batch) => batch.changes)]).toEqual(
          EXPECTED,
        );
      },
    );

    check('a feed that was read to its end has nothing more to give', async (subject) => {
      const read = await readAll(subject, subject.open(), null);
      const rest = await readAll(subject, subject.open(), read.at(-1)?.position ?? null);
      expect(rest.flatMap((batch) => [...batch.changes, ...batch.bad])).toEqual([]);
    });
  });
}

const never = new AbortController().signal;

async function* batchesOf(
  source: Source,
  position: string | null,
  signal: AbortSignal,
): AsyncGenerator<ChangeBatch> {
  for await (const batch of source.read(position, signal)) if (batch !== null) yield batch;
}

async function readAll(
  subject: SourceSubject,
  source: Source,
  position: string | null,
): Promise<readonly Read[]> {
  const read: Read[] = [];
  for await (const batch of batchesOf(source, position, never))
    read.push(await readBatch(subject, batch));
  return read;
}

async function readBatch(subject: SourceSubject, batch: ChangeBatch): Promise<Read> {
  const { db } = subject;
  const deadLetters = newDeadLetters();
  const work = newWork({ db, targets: async (view) => [mirror(view, TARGET)], deadLetters });
  const result = await work.run(batch);
  const rows = (
    await Promise.all(result.changes.map((changes) => readChanges(db, changes)))
  ).flat();
  const places = await db.rows(
    sql`SELECT ord, file || ':' || line AS place FROM ${await batch.places()}`,
  );
  const placeOfRow = new Map(places.map((row) => [Number(row['ord']), String(row['place'])]));
  await work.drop(result);
  return {
    changes: rows.map(({ kind, key, row }) => `${kind} ${key} ${row[1] ?? null}`),
    bad: deadLetters.pending().map((letter) => `${letter.file}:${letter.line}`),
    places: rows.map(({ ordinal }) => placeOfRow.get(ordinal) ?? ''),
    position: result.position,
  };
}

async function placeOf(subject: SourceSubject, batch: ChangeBatch, at: string): Promise<Place> {
  await readViews(subject, batch);
  const row = await subject.db.one(
    sql`SELECT file, line, byte FROM ${await batch.places()} WHERE file || ':' || line = ${at}`,
  );
  return { file: String(row['file']), line: Number(row['line']), byte: Number(row['byte']) };
}

// A batch may be ended once its views have been read.
async function readViews(subject: SourceSubject, batch: ChangeBatch): Promise<void> {
  const work = newWork({ db: subject.db, targets: async (view) => [mirror(view, TARGET)] });
  const result = await work.run({
    ...batch,
    end: async () => ({
      counts: { bytes: 0, tombstones: 0, messages: 0, unmapped: 0 },
      position: '',
    }),
  });
  await work.drop(result);
}
