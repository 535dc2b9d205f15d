/**
 * The bytes of single lines of a feed file. DuckDB's reader passes blank lines over, so a line number (from 1, every
 * line counted) and a row number (from 0, blank lines not counted) differ; this file knows both.
 */
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { Decompress } from 'fzstd';
import { PipelineError } from '../model/errors.ts';

export interface FeedLine {
  readonly line: number;
  readonly row: number;
  readonly bytes: Buffer;
}

export interface LinesWanted {
  readonly lines?: ReadonlySet<number>;
  readonly rows?: ReadonlySet<number>;
}

export interface FoundLines {
  readonly found: readonly FeedLine[];
  /** All lines of the file that are not blank. */
  readonly rows: number;
  /** Row number of the first row behind line `until`. */
  readonly rowsUntil: number;
}

/** @throws E_SOURCE_READ */
export async function findLines(
  file: string,
  wanted: LinesWanted,
  until = Infinity,
): Promise<FoundLines> {
  const found: FeedLine[] = [];
  let line = 0;
  let row = 0;
  let rowsUntil = 0;
  for await (const bytes of linesOf(file)) {
    line += 1;
    const blank = isBlank(bytes);
    if (!blank && (wanted.lines?.has(line) === true || wanted.rows?.has(row) === true)) {
      found.push({ line, row, bytes: Buffer.from(bytes) });
    }
    if (!blank) row += 1;
    if (line <= until) rowsUntil = row;
  }
  return { found, rows: row, rowsUntil };
}

/** The first line that is not blank; null where there is none. @throws E_SOURCE_READ */
export async function firstLine(file: string): Promise<Buffer | null> {
  for await (const bytes of linesOf(file)) {
    if (!isBlank(bytes)) return Buffer.from(bytes);
  }
  return null;
}

const NEWLINE = 10;

async function* linesOf(file: string): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  try {
    for await (const chunk of chunksOf(file)) {
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
        const piece = chunk.subarray(start, end);
        yield rest.length === 0 ? piece : Buffer.concat([...rest, piece]);
        rest = [];
        start = end + 1;
      }
      if (start < chunk.length) rest.push(chunk.subarray(start));
    }
  } catch (cause) {
    if (cause instanceof PipelineError) throw cause;
    throw new PipelineError('E_SOURCE_READ', `The feed file ${file} cannot be read.`, {
      subject: { file },
      cause,
    });
  }
  if (rest.length > 0) yield Buffer.concat(rest);
}

function chunksOf(file: string): AsyncIterable<Buffer> {
  const stream = createReadStream(file, { highWaterMark: 1 << 20 });
  if (file.endsWith('.gz')) {
    const gunzip = createGunzip();
    stream.on('error', (error) => gunzip.destroy(error));
    return stream.pipe(gunzip);
  }
  return file.endsWith('.zst') ? inflateZstd(stream) : stream;
}

async function* inflateZstd(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let out: Buffer[] = [];
  const inflate = new Decompress((chunk) => out.push(Buffer.from(chunk)));
  for await (const chunk of stream) {
    inflate.push(chunk);
    yield* out;
    out = [];
  }
  inflate.push(new Uint8Array(0), true);
  yield* out;
}

function isBlank(bytes: Buffer): boolean {
  for (const byte of bytes) {
    if (byte !== 32 && (byte < 9 || byte > 13)) return false;
  }
  return true;
}
