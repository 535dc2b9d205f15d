import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { localLocation, localStore } from './local.ts';
import { memoryStore } from './memory.ts';
import { AlreadyExistsError } from './object-store.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'object-store-'));
});
afterAll(() => rm(folder, { recursive: true }));

const text = (bytes: Uint8Array | null): string | null =>
  bytes === null ? null : Buffer.from(bytes).toString();

describe.each([
  { name: 'local', store: localStore, at: (path: string) => `${localLocation(folder)}/${path}` },
  { name: 'memory', store: memoryStore(), at: (path: string) => `file:/memory/${path}` },
])('the $name object store', ({ store, at }) => {
  test('reads back what was written, in folders that did not exist', async () => {
    await store.write(at('a/b/c.txt'), Buffer.from('one'));
    expect(text(await store.read(at('a/b/c.txt')))).toBe('one');
  });

  test('replaces a file as a whole', async () => {
    await store.write(at('replaced'), Buffer.from('a longer text'));
    await store.write(at('replaced'), Buffer.from('short'));
    expect(text(await store.read(at('replaced')))).toBe('short');
  });

  test('has null for a file that is not there, also below a file', async () => {
    await store.write(at('leaf'), Buffer.from('x'));
    expect(await store.read(at('nothing'))).toBeNull();
    expect(await store.read(at('leaf/below'))).toBeNull();
  });

  test('lets one of many racing creators win, and the file holds its bytes', async () => {
    const racers = Array.from({ length: 20 }, (_, i) =>
      store.createExclusive(at('race/winner'), Buffer.from(String(i))),
    );
    const outcomes = await Promise.allSettled(racers);
    const losses = outcomes.filter((o) => o.status === 'rejected').map((o): unknown => o.reason);
    expect(losses).toHaveLength(19);
    expect(losses.every((reason) => reason instanceof AlreadyExistsError)).toBe(true);
    const winner = outcomes.findIndex((o) => o.status === 'fulfilled');
    expect(text(await store.read(at('race/winner')))).toBe(String(winner));
    expect(await store.list(at('race'))).toEqual([{ name: 'winner', isFolder: false }]);
  });

  test('lists what lies directly in a folder by name, and nothing for a folder that is not there', async () => {
    for (const name of ['z', 'a', 'm/inner'])
      await store.write(at(`listed/${name}`), Buffer.from('x'));
    expect(await store.list(at('listed'))).toEqual([
      { name: 'a', isFolder: false },
      { name: 'm', isFolder: true },
      { name: 'z', isFolder: false },
    ]);
    expect(await store.list(at('no such folder'))).toEqual([]);
  });

  test('removes a file, and minds nothing when it is gone already', async () => {
    await store.write(at('removed'), Buffer.from('x'));
    await store.remove(at('removed'));
    await store.remove(at('removed'));
    expect(await store.read(at('removed'))).toBeNull();
  });
});

test('writers that lose or win leave no temporary file behind', async () => {
  const names = await readdir(folder, { recursive: true });
  expect(names.filter((name) => name.endsWith('.tmp'))).toEqual([]);
});
