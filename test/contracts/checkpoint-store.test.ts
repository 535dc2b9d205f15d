import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MemoryCheckpointStore } from '../../src/checkpoint/memory.ts';
import { FolderCheckpointStore } from '../../src/checkpoint/store.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { describeCheckpointStore } from './describe-checkpoint-store.ts';

describeCheckpointStore('memory', async () => {
  const store = new MemoryCheckpointStore();
  return { open: () => store, [Symbol.asyncDispose]: async () => {} };
});

describeCheckpointStore('a folder', async () => {
  const dir = await tempDir();
  return {
    open: () => new FolderCheckpointStore(join(dir.path, 'state', 'checkpoints')),
    [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose](),
  };
});

const CHECKPOINT = { mark: { id: 7, position: 'p' }, stages: [], prepared: [], counters: {} };

test('a file that a dying process left half written does not count', async () => {
  await using dir = await tempDir();
  await new FolderCheckpointStore(dir.path).save(CHECKPOINT);
  await writeFile(join(dir.path, '.000000000008.json.tmp'), '{"version":1');
  expect(await new FolderCheckpointStore(dir.path).latest()).toEqual(CHECKPOINT);
});

test('a checkpoint with one changed character is refused, not read', async () => {
  await using dir = await tempDir();
  await new FolderCheckpointStore(dir.path).save(CHECKPOINT);
  const [name = ''] = await readdir(dir.path);
  const text = await readFile(join(dir.path, name), 'utf8');
  await writeFile(join(dir.path, name), text.replace('"id":7', '"id":8'));
  await expect(new FolderCheckpointStore(dir.path).latest()).rejects.toMatchObject({
    code: 'E_STATE_DAMAGED',
  });
});

test('a checkpoint of a newer version is refused by name', async () => {
  await using dir = await tempDir();
  await writeFile(join(dir.path, '000000000001.json'), '{"version":99,"sha256":""}\n{}\n');
  await expect(new FolderCheckpointStore(dir.path).latest()).rejects.toMatchObject({
    code: 'E_STATE_VERSION',
  });
});

test('a folder that cannot be written is an outage', async () => {
  await using dir = await tempDir();
  const folder = join(dir.path, 'checkpoints');
  await writeFile(folder, 'a file where the folder should be');
  await expect(new FolderCheckpointStore(folder).save(CHECKPOINT)).rejects.toMatchObject({
    code: 'E_STATE_WRITE',
    kind: 'unavailable',
  });
});
