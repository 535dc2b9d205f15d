import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { localLocation, localPath, localStore } from './local.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'local-'));
});
afterAll(() => rm(folder, { recursive: true }));

test.each([
  ['file:/a/b', '/a/b'],
  ['file:///a/b', '/a/b'],
  ['file://localhost/a/b', '/a/b'],
  ['/a/b', '/a/b'],
  ['file:/a%20b/ü #?', '/a%20b/ü #?'],
])('the location %s is the path %s: nothing is decoded', (location, path) => {
  expect(localPath(location)).toBe(path);
});

test.each(['s3://bucket/a', 'file://host/a', 'file:a', 'relative', 'file:////a'])(
  'the location %s is refused, because it is not on this machine',
  (location) => {
    expect(() => localPath(location)).toThrow(
      expect.objectContaining({ code: 'E_CONFIG_UNSUPPORTED' }),
    );
  },
);

test('a path has one location, whatever it was spelled like', () => {
  expect(localLocation('/a/./b/../c d')).toBe('file:/a/c d');
});

test('a folder that cannot be made is told with its path and the reason of the system', async () => {
  const file = join(folder, 'a file');
  await writeFile(file, '');
  const write = localStore.write(`file:${file}/below/x`, Buffer.from('x'));
  await expect(write).rejects.toMatchObject({
    code: 'E_WAREHOUSE_WRITE',
    message: expect.stringMatching(/a file\/below cannot be written: ENOTDIR/),
  });
});

test('a file in the making is hidden, because some readers take any name that begins with v<N> for a version', async () => {
  const writing = localStore.write(`file:${folder}/making/v9.metadata.json`, Buffer.alloc(2 ** 25));
  let names: string[] = [];
  while (names.length === 0) names = await readdir(join(folder, 'making')).catch(() => []);
  await writing;
  expect(names[0]).toMatch(/^\./);
});

test('a failed replacement keeps the file as it was', async () => {
  const path = join(folder, 'kept');
  await localStore.write(path, Buffer.from('old'));
  const broken = {
    get length(): number {
      throw new Error('disk gone');
    },
  } as unknown as Uint8Array;
  await expect(localStore.write(path, broken)).rejects.toMatchObject({
    code: 'E_WAREHOUSE_WRITE',
  });
  expect(await readFile(path, 'utf8')).toBe('old');
});
