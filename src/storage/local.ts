import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { PipelineError } from '../model/errors.ts';
import { AlreadyExistsError, type ObjectStore, type StoreEntry } from './object-store.ts';

/** The object store of the local file system. It needs hard links, which make creation exclusive. */
export const localStore: ObjectStore = {
  read: (path) => readLocal(localPath(path)),
  write: (path, bytes) => publish(localPath(path), bytes, rename),
  createExclusive: (path, bytes) => publish(localPath(path), bytes, linkThenUnlink),
  list: (folder) => listLocal(localPath(folder)),
  remove: (path) => writing(localPath(path), () => rm(localPath(path), { force: true })),
};

/**
 * The path on this machine of a location: `file:/a`, `file:///a`, `file://localhost/a` and `/a` are all `/a`.
 * Nothing is percent-decoded: table metadata holds paths as they are, not escaped as in a URI.
 * @throws E_CONFIG_UNSUPPORTED for another scheme or host
 */
export function localPath(location: string): string {
  const path = /^file:(?:\/\/(?:localhost)?(?=\/))?(\/.*)$/s.exec(location)?.[1] ?? location;
  if (!path.startsWith('/') || (path.startsWith('//') && location.startsWith('file:'))) {
    throw new PipelineError('E_CONFIG_UNSUPPORTED', `${location} is not on the local file system`);
  }
  return path;
}

/** The location of an absolute path on this machine, in the one form that we write: `file:/a/b`, not escaped. */
export function localLocation(path: string): string {
  return `file:${resolve(path)}`;
}

/** Creates the folder that is to hold a file, and its parents, durably. @throws E_WAREHOUSE_WRITE */
export async function ensureFolderOf(location: string): Promise<void> {
  const folder = dirname(localPath(location));
  await writing(folder, () => makeFolder(folder));
}

/** Makes a file that something else wrote, and its name in its folder, survive a power cut. @throws E_WAREHOUSE_WRITE */
export async function syncFile(location: string): Promise<void> {
  const path = localPath(location);
  await writing(path, async () => {
    await syncPath(path);
    await syncPath(dirname(path));
  });
}

// Level by level: a recursive mkdir tells ENOENT where the file system is read-only.
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    if (codeOf(error) === 'EEXIST' && (await stat(folder)).isDirectory()) return;
    if (codeOf(error) !== 'ENOENT' || folder === dirname(folder)) throw error;
    await makeFolder(dirname(folder));
    return makeFolder(folder);
  }
  await syncPath(dirname(folder));
}

async function readLocal(path: string): Promise<Uint8Array | null> {
  try {
    return await readFile(path);
  } catch (cause) {
    if (isMissing(cause)) return null;
    throw new PipelineError('E_TABLE_METADATA', `${path} cannot be read: ${reason(cause)}`, {
      cause,
    });
  }
}

async function listLocal(folder: string): Promise<readonly StoreEntry[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries
      .map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (cause) {
    if (isMissing(cause)) return [];
    throw new PipelineError('E_TABLE_METADATA', `${folder} cannot be listed: ${reason(cause)}`, {
      cause,
    });
  }
}

// The temporary name is hidden and does not begin with `v<N>.`: other writers take any such name in a metadata folder
// for a version of the table.
async function publish(
  path: string,
  bytes: Uint8Array,
  place: (temporary: string, path: string) => Promise<void>,
): Promise<void> {
  await ensureFolderOf(path);
  await writing(path, async () => {
    const temporary = join(dirname(path), `.${randomUUID()}.tmp`);
    try {
      const file = await open(temporary, 'wx');
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await place(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {}); // best effort: the first error is the one to tell
      throw error;
    }
    await syncPath(dirname(path));
  });
}

// A rename would replace the winner's file without a word, so the name is taken by a link.
async function linkThenUnlink(temporary: string, path: string): Promise<void> {
  try {
    await link(temporary, path);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw new AlreadyExistsError(path);
    throw error;
  }
  await rm(temporary, { force: true }).catch(() => {}); // the file is in place; the leftover is hidden and harmless
}

async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function writing<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof AlreadyExistsError || cause instanceof PipelineError) throw cause;
    throw new PipelineError('E_WAREHOUSE_WRITE', `${path} cannot be written: ${reason(cause)}`, {
      subject: { file: path },
      cause,
    });
  }
}

function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | null)?.code;
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
