import { describe, expect, test } from 'vitest';
import type { Checkpoint, CheckpointStore } from '../../src/model/checkpoint-store.ts';

export interface CheckpointStoreSubject extends AsyncDisposable {
  /** The store as a process sees it that starts now. */
  open(): CheckpointStore;
}

const checkpoint = (id: number, position = `position ${id}`): Checkpoint => ({
  mark: { id, position },
  stages: [{ seen: ['a', null, 1.5, true] }, null],
  prepared: [[{ file: 'x' }], `text of ${id}`],
  counters: { changes: id },
});

/** What every checkpoint store has to keep. */
export function describeCheckpointStore(
  name: string,
  make: () => Promise<CheckpointStoreSubject>,
): void {
  const check = (claim: string, body: (subject: CheckpointStoreSubject) => Promise<void>): void =>
    // oxlint-disable-next-line vitest/valid-title, vitest/expect-expect -- title and assertions are the caller's
    test(claim, async () => {
      await using subject = await make();
      await body(subject);
    });

  describe(`${name} as a checkpoint store`, () => {
    check('a pipeline that never saved one has no checkpoint', async (subject) => {
      expect(await subject.open().latest()).toBeNull();
    });

    check('the next process finds what was saved, all of it', async (subject) => {
      await subject.open().save(checkpoint(1));
      expect(await subject.open().latest()).toEqual(checkpoint(1));
    });

    check('of many, the last one counts', async (subject) => {
      const store = subject.open();
      for (let id = 1; id <= 12; id += 1) {
        await store.save(checkpoint(id));
        expect(await subject.open().latest()).toEqual(checkpoint(id));
      }
    });

    check('ids count as numbers, not as texts', async (subject) => {
      const store = subject.open();
      for (const id of [9, 10, 99, 100, 99_999, 100_000]) await store.save(checkpoint(id));
      expect((await subject.open().latest())?.mark.id).toBe(100_000);
    });

    check('a position may hold any text', async (subject) => {
      const position = '{"line":"a\nb\r\n\u2028 \u0000 \ud83d\ude00 \\"}';
      await subject.open().save(checkpoint(1, position));
      expect((await subject.open().latest())?.mark.position).toBe(position);
    });

    check(
      'what is done to a checkpoint after it was saved does not reach the store',
      async (subject) => {
        const counters = { changes: 1 };
        const store = subject.open();
        await store.save({ ...checkpoint(1), counters });
        counters.changes = 2;
        expect((await store.latest())?.counters).toEqual({ changes: 1 });
      },
    );
  });
}
