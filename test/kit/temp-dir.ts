import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder that is gone, with all that lies in it, when its block ends. */
export interface TempDir extends AsyncDisposable {
  readonly path: string;
}

/** @param options `inMemory`: on a file system without a disk where there is one, for tests that sync thousands of files */
export async function tempDir(options: { readonly inMemory?: boolean } = {}): Promise<TempDir> {
  const root = options.inMemory === true ? (memoryRoot() ?? tmpdir()) : tmpdir();
  const path = await mkdtemp(join(root, 'lakeward-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

function memoryRoot(): string | null {
  try {
    accessSync('/dev/shm', constants.W_OK);
    return '/dev/shm';
  } catch {
    return null; // another system, or a container without it
  }
}
