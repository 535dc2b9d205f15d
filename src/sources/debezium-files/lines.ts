import { blocks, countLines, type Piece } from './segments.ts';

/** A line that holds more than blanks. */
export interface Line {
  /** Number of such lines before it in the piece, from 0: the engine's row number. */
  readonly row: number;
  /** From 1, in its file. */
  readonly line: number;
  /** Of its first byte, in its (uncompressed) file. */
  readonly byte: number;
  /** Without its line end; valid until the next line is asked for. */
  readonly bytes: Buffer;
  /** True: it is the last one, and no line end follows it. */
  readonly isOpen: boolean;
}

const NEWLINE = 10;
const RETURN = 13;

/** The lines of a piece, in order. Blank lines yield nothing, as in the engine's own reader. */
export async function* linesOf(piece: Piece): AsyncGenerator<Line> {
  let at = piece.byte;
  let number = piece.line ?? (await countLinesBefore(piece));
  let row = 0;
  let carry: Buffer[] = [];
  const take = (bytes: Buffer, isOpen: boolean): Line | null => {
    const whole = carry.length === 0 ? bytes : Buffer.concat([...carry, bytes]);
    carry = [];
    number += 1;
    const byte = at;
    at += whole.length + (isOpen ? 0 : 1);
    const end = whole.at(-1) === RETURN ? whole.length - 1 : whole.length;
    if (isBlank(whole, end)) return null;
    row += 1;
    return { row: row - 1, line: number, byte, bytes: whole.subarray(0, end), isOpen };
  };
  for await (const block of blocks(piece.file, piece.byte, piece.byte + piece.bytes)) {
    let from = 0;
    for (let end = block.indexOf(NEWLINE); end !== -1; end = block.indexOf(NEWLINE, from)) {
      const line = take(block.subarray(from, end), false);
      from = end + 1;
      if (line !== null) yield line;
    }
    if (from < block.length) carry.push(Buffer.from(block.subarray(from)));
  }
  if (carry.length > 0) {
    const line = take(Buffer.alloc(0), true);
    if (line !== null) yield line;
  }
}

/** Line ends before a piece. */
export async function countLinesBefore(piece: Piece): Promise<number> {
  let lines = 0;
  for await (const block of blocks(piece.file, 0, piece.byte)) lines += countLines(block);
  return lines;
}

function isBlank(bytes: Buffer, end: number): boolean {
  for (let i = 0; i < end; i += 1) {
    const byte = bytes[i];
    if (byte !== 32 && byte !== 9 && byte !== RETURN) return false;
  }
  return true;
}
