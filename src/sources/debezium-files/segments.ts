import { createReadStream } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { Decompress } from 'fzstd';
import { PipelineError } from '../../model/errors.ts';
import type { FeedFile } from './files.ts';

/** A stretch of one file: whole lines, from `byte` (after `line` line ends) on. */
export interface Piece {
  readonly file: FeedFile;
  readonly byte: number;
  /** Null: not counted yet. */
  readonly line: number | null;
  readonly bytes: number;
  /** True: the last line has no line end yet. */
  readonly isOpen: boolean;
  /** True: the file ends with it. */
  readonly isLast: boolean;
}

/** What the engine reads in one statement. `paths[i]` holds exactly the bytes of `pieces[i]`. */
export interface Segment {
  readonly paths: readonly string[];
  readonly pieces: readonly Piece[];
  readonly bytes: number;
  /** The paths are the feed's own files, which may grow while they are read. */
  readonly isInPlace: boolean;
}

export interface SegmentLimits {
  /** A segment ends at the first line end after so many bytes. */
  readonly segmentBytes: number;
  /** Plain files up to this size are read where they lie; 0: never. */
  readonly inPlaceBytes: number;
  readonly maxLineBytes: number;
  readonly spoolDir: string;
}

const READ_BYTES = 4 << 20;
const NEWLINE = 10;

export interface Start {
  readonly byte: number;
  readonly line: number | null;
  /** Where to stop (uncompressed); absent: at the end of the file. */
  readonly end?: number;
}

/** Whole plain files as one segment, read where they lie. */
export function inPlace(files: readonly FeedFile[], openLast: readonly boolean[]): Segment {
  const pieces = files.map((file, i) => ({
    file,
    byte: 0,
    line: 0,
    bytes: file.bytes,
    isOpen: openLast[i] ?? false,
    isLast: true,
  }));
  return {
    paths: files.map((f) => f.path),
    pieces,
    bytes: pieces.reduce((sum, p) => sum + p.bytes, 0),
    isInPlace: true,
  };
}

let spools = 0;

/**
 * Copies a file from `start` on into spool files of about `segmentBytes`, cut at line ends, and yields each. The
 * spool file of a segment is removed when the next one is asked for.
 *
 * @throws E_SOURCE_READ
 */
export async function* spool(
  file: FeedFile,
  start: Start,
  limits: SegmentLimits,
  isBounded: boolean,
): AsyncGenerator<Segment> {
  await inState(() => mkdir(limits.spoolDir, { recursive: true }));
  spools += 1;
  const path = join(limits.spoolDir, `segment-${process.pid}-${spools}.ndjson`);
  let at = start;
  const carry: Buffer[] = [];
  let out: FileHandle | null = null as FileHandle | null;
  let written = 0;
  let lines = 0;
  const close = async (isOpen: boolean, isLast: boolean): Promise<Segment> => {
    await out?.close();
    out = null;
    const piece = { file, byte: at.byte, line: at.line, bytes: written, isOpen, isLast };
    at = { byte: at.byte + written, line: at.line === null ? null : at.line + lines };
    const segment = { paths: [path], pieces: [piece], bytes: written, isInPlace: false };
    written = 0;
    lines = 0;
    return segment;
  };
  const put = async (bytes: Buffer): Promise<void> => {
    if (bytes.length === 0) return;
    await inState(async () => {
      out ??= await open(path, 'w');
      await out.write(bytes);
    });
    written += bytes.length;
    lines += countLines(bytes);
  };
  try {
    for await (const block of blocks(file, start.byte, start.end)) {
      let chunk = block;
      for (
        let end = chunk.lastIndexOf(NEWLINE) + 1;
        end > 0;
        end = chunk.lastIndexOf(NEWLINE) + 1
      ) {
        for (const part of carry.splice(0)) await put(part);
        const cut = chunk.indexOf(NEWLINE, Math.max(0, limits.segmentBytes - written - 1)) + 1;
        await put(chunk.subarray(0, cut === 0 ? end : Math.min(cut, end)));
        chunk = chunk.subarray(cut === 0 ? end : Math.min(cut, end));
        if (written >= limits.segmentBytes) yield await close(false, false);
      }
      if (chunk.length > 0) carry.push(Buffer.from(chunk));
    }
    if (isBounded) for (const part of carry) await put(part);
    if (written > 0)
      yield await close(isBounded && carry.length > 0, isBounded || carry.length === 0);
  } finally {
    await out?.close();
    await rm(path, { force: true });
  }
}

// What is read is copied into the state folder, which may be full.
async function inState<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'failed';
    throw new PipelineError(
      'E_STATE_WRITE',
      `cannot copy the feed into the state folder: ${reason}`,
      {
        cause: error,
      },
    );
  }
}

export function countLines(bytes: Buffer): number {
  let lines = 0;
  for (let i = bytes.indexOf(NEWLINE); i !== -1; i = bytes.indexOf(NEWLINE, i + 1)) lines += 1;
  return lines;
}

/** Uncompressed bytes of a file from `byte` on, in blocks that are the caller's to keep until the next one. */
export async function* blocks(
  file: FeedFile,
  byte: number,
  end = Infinity,
): AsyncGenerator<Buffer> {
  try {
    if (file.compression === 'none') {
      yield* plainBlocks(file, byte, Math.min(end, file.bytes));
      return;
    }
    let skip = byte;
    let left = end - byte;
    for await (const block of file.compression === 'gzip' ? gunzip(file) : unzstd(file)) {
      const from = Math.min(skip, block.length);
      skip -= from;
      const part = block.subarray(from, Math.min(block.length, from + left));
      left -= part.length;
      if (part.length > 0) yield part;
      if (left <= 0) return;
    }
  } catch (error) {
    throw new PipelineError('E_SOURCE_READ', `cannot read ${file.path}`, {
      subject: { file: file.name },
      cause: error,
    });
  }
}

// Only the bytes that were there when the file was listed: what is appended meanwhile is the next round's.
async function* plainBlocks(file: FeedFile, byte: number, end: number): AsyncGenerator<Buffer> {
  const handle = await open(file.path);
  try {
    const block = Buffer.allocUnsafe(READ_BYTES);
    for (let at = byte; at < end;) {
      const { bytesRead } = await handle.read(block, 0, Math.min(READ_BYTES, end - at), at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield block.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

async function* gunzip(file: FeedFile): AsyncGenerator<Buffer> {
  const input = createReadStream(file.path);
  const output = createGunzip({ chunkSize: 1 << 20 });
  input.on('error', (error) => output.destroy(error));
  input.pipe(output);
  for await (const block of output) yield block as Buffer;
}

async function* unzstd(file: FeedFile): AsyncGenerator<Buffer> {
  const ready: Buffer[] = [];
  const decoder = new Decompress((block) => ready.push(Buffer.from(block)));
  for await (const block of createReadStream(file.path, { highWaterMark: 1 << 20 })) {
    decoder.push(block as Buffer);
    yield* ready.splice(0);
  }
  decoder.push(new Uint8Array(0), true);
  yield* ready.splice(0);
}
