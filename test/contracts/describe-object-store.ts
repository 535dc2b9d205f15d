import { describe, expect, test } from 'vitest';
import { AlreadyExistsError, type ObjectStore } from '../../src/storage/object-store.ts';

export interface ObjectStoreSubject extends AsyncDisposable {
  readonly store: ObjectStore;
  /** A folder, as the store spells its paths, that holds nothing yet. */
  readonly folder: string;
}

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));

/** What every object store has to keep. */
export function describeObjectStore(name: string, open: () => Promise<ObjectStoreSubject>): void {
  const check = (
    claim: string,
    body: (store: ObjectStore, folder: string) => Promise<void>,
  ): void =>
    // oxlint-disable-next-line vitest/valid-title, vitest/expect-expect -- title and assertions are the caller's
    test(claim, async () => {
      await using subject = await open();
      await body(subject.store, subject.folder);
    });

  describe(`${name} as an object store`, () => {
    check('a file that was never written is null, not an error', async (store, folder) => {
      expect(await store.read(`${folder}/none`)).toBeNull();
      expect(await store.read(`${folder}/no/such/folder/none`)).toBeNull();
    });

    check('what is written is read, byte by byte', async (store, folder) => {
      const every = Uint8Array.from({ length: 1024 }, (_, i) => i % 256);
      await store.write(`${folder}/a/deep/file`, every);
      expect(Buffer.from((await store.read(`${folder}/a/deep/file`)) ?? '')).toEqual(
        Buffer.from(every),
      );
    });

    check('a file of no bytes is a file', async (store, folder) => {
      await store.write(`${folder}/empty`, bytes(''));
      expect(await store.read(`${folder}/empty`)).toHaveLength(0);
    });

    check('a second write takes the place of the first', async (store, folder) => {
      await store.write(`${folder}/file`, bytes('a long first text'));
      await store.write(`${folder}/file`, bytes('short'));
      expect(Buffer.from((await store.read(`${folder}/file`)) ?? '').toString()).toBe('short');
    });

    check('bytes that change hands do not change what is stored', async (store, folder) => {
      const given = bytes('abc');
      await store.write(`${folder}/file`, given);
      given.fill(0);
      (await store.read(`${folder}/file`))?.fill(1);
      expect(Buffer.from((await store.read(`${folder}/file`)) ?? '').toString()).toBe('abc');
    });

    check(
      'an exclusive creation refuses a name that is taken and leaves the file as it is',
      async (store, folder) => {
        await store.createExclusive(`${folder}/file`, bytes('first'));
        await expect(
          store.createExclusive(`${folder}/file`, bytes('second')),
        ).rejects.toBeInstanceOf(AlreadyExistsError);
        expect(Buffer.from((await store.read(`${folder}/file`)) ?? '').toString()).toBe('first');
      },
    );

    check(
      'of many that create one name at once, one wins, whole, and the others leave nothing behind',
      async (store, folder) => {
        const racers = Array.from({ length: 20 }, (_, i) => `${i}`.repeat(5000));
        const results = await Promise.allSettled(
          racers.map((text) => store.createExclusive(`${folder}/race`, bytes(text))),
        );
        const winners = racers.filter((_, i) => results[i]?.status === 'fulfilled');
        expect(winners).toHaveLength(1);
        expect(Buffer.from((await store.read(`${folder}/race`)) ?? '').toString()).toBe(winners[0]);
        expect(await store.list(folder)).toEqual([{ name: 'race', isFolder: false }]);
      },
    );

    check(
      'a list names the files and folders directly in a folder, in order',
      async (store, folder) => {
        for (const path of ['b', 'a/x', 'a/y/z', 'B', 'c'])
          await store.write(`${folder}/${path}`, bytes('x'));
        expect(await store.list(folder)).toEqual([
          { name: 'B', isFolder: false },
          { name: 'a', isFolder: true },
          { name: 'b', isFolder: false },
          { name: 'c', isFolder: false },
        ]);
        expect(await store.list(`${folder}/nowhere`)).toEqual([]);
      },
    );

    check('a name that begins like a folder is not in it', async (store, folder) => {
      await store.write(`${folder}/ab/file`, bytes('x'));
      expect(await store.list(`${folder}/a`)).toEqual([]);
    });

    check(
      'a removed file is gone, its name is free, and removing it again is nothing',
      async (store, folder) => {
        await store.write(`${folder}/file`, bytes('x'));
        await store.remove(`${folder}/file`);
        await store.remove(`${folder}/file`);
        expect(await store.read(`${folder}/file`)).toBeNull();
        await store.createExclusive(`${folder}/file`, bytes('y'));
      },
    );

    check(
      'names with blanks, quotes, percent signs and other alphabets are names like others',
      async (store, folder) => {
        const names = ["it's 100% é ☃ %20 +x.txt", 'a=b&c'];
        for (const odd of names) await store.write(`${folder}/${odd}`, bytes(odd));
        expect((await store.list(folder)).map((entry) => entry.name).toSorted()).toEqual(
          names.toSorted(),
        );
        for (const odd of names)
          expect(Buffer.from((await store.read(`${folder}/${odd}`)) ?? '').toString()).toBe(odd);
      },
    );
  });
}
