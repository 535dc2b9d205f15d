import { createHash } from 'node:crypto';
import { open, stat } from 'node:fs/promises';
import { basename, dirname, relative, resolve, sep } from 'node:path';
import { glob, isDynamicPattern } from 'tinyglobby';
import { PipelineError } from '../../model/errors.ts';

/** A feed file. `name` is its path below the feed's folder, with `/`; it orders the feed. */
export interface FeedFile {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  readonly compression: 'none' | 'gzip' | 'zstd';
}

/** What tells a file from another one put in its place: a hash of its first bytes. */
export interface Fingerprint {
  readonly bytes: number;
  readonly sha: string;
}

const FINGERPRINT_BYTES = 1024;

/**
 * The files of a feed in reading order: by name, code unit by code unit. A folder means all files in it and below,
 * without hidden ones.
 *
 * @throws E_SOURCE_PATH when a plain file or folder is absent; a pattern that matches nothing yields nothing
 */
export async function listFiles(path: string): Promise<readonly FeedFile[]> {
  const found = await stat(path).catch(() => null);
  if (found?.isFile()) return [fileOf(dirname(path), path, found.size)];
  if (found === null && !isDynamicPattern(path)) {
    throw new PipelineError('E_SOURCE_PATH', `no file, folder or pattern at ${path}`, {
      subject: { file: path },
    });
  }
  const base = found === null ? baseOf(path) : path;
  const pattern = found === null ? relative(base, path).split(sep).join('/') : '**/*';
  const names = await glob([pattern], {
    cwd: base,
    onlyFiles: true,
    dot: false,
    expandDirectories: false,
  });
  const files = await Promise.all(
    names.map(async (name) => {
      const full = resolve(base, name);
      return fileOf(base, full, (await stat(full)).size);
    }),
  );
  return files.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

export async function fingerprint(path: string, fileBytes: number): Promise<Fingerprint> {
  const bytes = Math.min(FINGERPRINT_BYTES, fileBytes);
  return { bytes, sha: await hashHead(path, bytes) };
}

/** Whether a file still begins with the bytes that were seen. */
export async function matches(path: string, seen: Fingerprint): Promise<boolean> {
  return (await hashHead(path, seen.bytes)) === seen.sha;
}

/** Whether the last line of a plain file has no line end. */
export async function endsOpen(file: FeedFile): Promise<boolean> {
  const handle = await open(file.path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(1), 0, 1, file.bytes - 1);
    return bytesRead === 1 && buffer[0] !== 10;
  } finally {
    await handle.close();
  }
}

async function hashHead(path: string, bytes: number): Promise<string> {
  const handle = await open(path).catch((error: unknown) => {
    throw new PipelineError('E_SOURCE_READ', `cannot open ${path}`, {
      subject: { file: path },
      cause: error,
    });
  });
  try {
    const head = Buffer.alloc(bytes);
    const { bytesRead } = await handle.read(head, 0, bytes, 0);
    return createHash('sha256').update(head.subarray(0, bytesRead)).digest('hex').slice(0, 16);
  } finally {
    await handle.close();
  }
}

function fileOf(base: string, path: string, bytes: number): FeedFile {
  const name = relative(base, path).split(sep).join('/') || basename(path);
  const compression = /\.gz$/i.test(path) ? 'gzip' : /\.zst$/i.test(path) ? 'zstd' : 'none';
  return { name, path, bytes, compression };
}

/** The folder above the first part of a pattern that is not a plain name. */
function baseOf(pattern: string): string {
  const parts = pattern.split(sep);
  const first = parts.findIndex((part) => isDynamicPattern(part));
  return parts.slice(0, Math.max(first, 1)).join(sep) || sep;
}
