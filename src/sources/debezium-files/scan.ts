/** One pass over the bytes of a segment, beside the engine's own reading: what its relation does not tell. */
import { open } from 'node:fs/promises';
import { longRealsIn } from './long-reals.ts';

export interface Scan {
  /** Offsets of numbers that the engine's reader may have shortened unseen, ascending. */
  readonly longReals: readonly number[];
  /** Offsets of lines that are longer than allowed, ascending. */
  readonly longLines: readonly number[];
  /** Lines that hold nothing but blanks. */
  readonly blanks: number;
  /** Line ends. */
  readonly newlines: number;
  /** Of each other line: offset of its first byte, and line ends before it. Null: not asked for. */
  readonly lines: Lines | null;
}

export interface Lines {
  readonly offsets: Float64Array;
  readonly before: Float64Array;
}

export interface ScanOptions {
  readonly wantsLines: boolean;
  readonly maxLineBytes: number;
}

const BLOCK_BYTES = 4 << 20;
/** What precedes a block is kept in front of it, so that a number across its border is seen whole. */
const KEPT_BYTES = 1024;
const NEWLINE = 10;
const SPACE = 32;
const TAB = 9;
const RETURN = 13;

export async function scanFile(path: string, options: ScanOptions): Promise<Scan> {
  const handle = await open(path);
  try {
    const buffer = Buffer.allocUnsafe(KEPT_BYTES + BLOCK_BYTES);
    const longReals: number[] = [];
    const lines = new LineCounter(options);
    let kept = 0;
    for (let at = 0; ;) {
      const { bytesRead } = await handle.read(buffer, kept, BLOCK_BYTES, at);
      if (bytesRead === 0) break;
      const seen = buffer.subarray(0, kept + bytesRead);
      for (const offset of longRealsIn(seen)) {
        const place = at - kept + offset;
        if (place > (longReals.at(-1) ?? -1)) longReals.push(place);
      }
      lines.take(seen.subarray(kept), at);
      at += bytesRead;
      const keep = Math.min(KEPT_BYTES, seen.length);
      seen.copy(buffer, 0, seen.length - keep);
      kept = keep;
    }
    return { longReals, ...lines.end() };
  } finally {
    await handle.close();
  }
}

class LineCounter {
  readonly #options: ScanOptions;
  readonly #longLines: number[] = [];
  #offsets = new Float64Array(1 << 14);
  #before = new Float64Array(1 << 14);
  #count = 0;
  #newlines = 0;
  #blanks = 0;
  /** Where the line at hand begins. */
  #start = 0;
  /** The line at hand has shown a byte that is no blank. */
  #isShown = false;
  #end = 0;

  constructor(options: ScanOptions) {
    this.#options = options;
  }

  take(bytes: Buffer, at: number): void {
    let from = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
      this.#add(this.#isShown || hasMore(bytes, from, end), at + end);
      this.#newlines += 1;
      from = end + 1;
      this.#start = at + from;
      this.#isShown = false;
    }
    this.#isShown ||= hasMore(bytes, from, bytes.length);
    this.#end = at + bytes.length;
  }

  end(): Omit<Scan, 'longReals'> {
    if (this.#end > this.#start) this.#add(this.#isShown, this.#end);
    const lines = {
      offsets: this.#offsets.subarray(0, this.#count),
      before: this.#before.subarray(0, this.#count),
    };
    return {
      longLines: this.#longLines,
      blanks: this.#blanks,
      newlines: this.#newlines,
      lines: this.#options.wantsLines ? lines : null,
    };
  }

  #add(isShown: boolean, end: number): void {
    if (!isShown) {
      this.#blanks += 1;
      return;
    }
    if (end - this.#start > this.#options.maxLineBytes) this.#longLines.push(this.#start);
    if (!this.#options.wantsLines) return;
    if (this.#count === this.#offsets.length) {
      this.#offsets = doubled(this.#offsets);
      this.#before = doubled(this.#before);
    }
    this.#offsets[this.#count] = this.#start;
    this.#before[this.#count] = this.#newlines;
    this.#count += 1;
  }
}

function hasMore(bytes: Buffer, from: number, end: number): boolean {
  for (let i = from; i < end; i += 1) {
    const byte = bytes[i];
    if (byte !== SPACE && byte !== TAB && byte !== RETURN) return true;
  }
  return false;
}

function doubled(values: Float64Array): Float64Array<ArrayBuffer> {
  const more = new Float64Array(values.length * 2);
  more.set(values);
  return more;
}
