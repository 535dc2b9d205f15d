/**
 * Numbers of a feed that a double cannot tell from shorter ones, such as 12.3400000000000000001. The engine's reader
 * lands them as the shorter one, so nothing of the landed text gives them away: they are looked for in the bytes.
 */
/** A double is told apart by 17 digits; with its point such a number has at least 18 characters. */
const STRIDE = 17;
const HALF = 9;
const POINT = 46;
const ZERO = 48;
const NINE = 57;

/** Offsets, ascending, of numbers with a point that a double's shortest form does not give back. */
// Any run of that many characters covers one of every STRIDE positions, so the others need not be looked at.
export function longRealsIn(bytes: Uint8Array): readonly number[] {
  const found: number[] = [];
  const end = bytes.length;
  for (let i = STRIDE - 1; i < end; i += STRIDE) {
    if (!isPart(bytes[i] ?? 0)) continue;
    // Most runs are short: a long one goes on as far as this on one side at least.
    if (!isPart(bytes[i - HALF] ?? 0) && !isPart(bytes[i + HALF] ?? 0)) continue;
    let from = i;
    while (from > 0 && isPart(bytes[from - 1] ?? 0)) from -= 1;
    let to = i + 1;
    while (to < end && isPart(bytes[to] ?? 0)) to += 1;
    if (to - from > STRIDE && isAltered(bytes, from, to) && from !== found.at(-1)) found.push(from);
    i = Math.max(i, to - STRIDE);
  }
  return found;
}

function isPart(byte: number): boolean {
  return (byte >= ZERO && byte <= NINE) || byte === POINT;
}

function isAltered(bytes: Uint8Array, from: number, to: number): boolean {
  if (!bytes.subarray(from, to).includes(POINT)) return false;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, Math.min(to - from, 64)).toString(
    'latin1',
  );
  if (to - from > 64) return true;
  // A producer that prints doubles prints the shortest form, which the reader gives back as it is.
  return String(Number(text)) !== text;
}
