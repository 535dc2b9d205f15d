import { localLocation, localStore } from '../../src/storage/local.ts';
import { memoryStore } from '../../src/storage/memory.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { describeObjectStore } from './describe-object-store.ts';

describeObjectStore('memory', async () => ({
  store: memoryStore(),
  folder: 'memory:/bucket',
  [Symbol.asyncDispose]: async () => {},
}));

describeObjectStore('the local file system', async () => {
  const dir = await tempDir();
  return {
    store: localStore,
    folder: localLocation(`${dir.path}/warehouse`),
    [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose](),
  };
});
