import { decimalOf } from '../../model/types.ts';

/*
 * Single values as bytes (Iceberg v2 spec, Appendix D: Binary single-value serialization), and the truncated bounds that
 * manifests carry. A bound that is wrong hides rows from readers, a missing one costs them time: when unsure, null.
 */

/** Code points of a string, or bytes of a binary, that a bound keeps (`truncate(16)`). */
export const BOUND_LENGTH = 16;

/** 4 bytes, little-endian: int and date (days since 1970). */
export function intBytes(value: bigint): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(Number(value));
  return bytes;
}

/** 8 bytes, little-endian: long, time, timestamp, timestamptz (microseconds). */
export function longBytes(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(value);
  return bytes;
}

export function booleanBytes(value: boolean): Buffer {
  return Buffer.from([value ? 1 : 0]);
}

/**
 * A float's or double's bound: never NaN, and a zero is the one that bounds both zeros. Null: no bound.
 * @param side which bound it is to be
 */
export function floatBytes(
  value: number,
  type: 'float' | 'double',
  side: 'lower' | 'upper',
): Buffer | null {
  if (Number.isNaN(value)) return null;
  const signed = value === 0 ? (side === 'lower' ? -0 : 0) : value;
  const bytes = Buffer.alloc(type === 'float' ? 4 : 8);
  if (type === 'float') bytes.writeFloatLE(signed);
  else bytes.writeDoubleLE(signed);
  return bytes;
}

/** The unscaled value of a decimal written in full (`-14.20`), as the shortest two's complement, big-endian. */
export function decimalBytes(text: string): Buffer {
  return minimalBytes(BigInt(text.replace('.', '')));
}

function minimalBytes(value: bigint): Buffer {
  let length = 1;
  while (BigInt.asIntN(length * 8, value) !== value) length++;
  const hex = BigInt.asUintN(length * 8, value).toString(16);
  return Buffer.from(hex.padStart(length * 2, '0'), 'hex');
}

export function lowerText(value: string): Buffer {
  return Buffer.from(String.fromCodePoint(...codePoints(value).slice(0, BOUND_LENGTH)));
}

/**
 * The upper bound of a text: itself if short, else its first 16 code points with the last one that can be raised
 * raised by one. Null where none can. Surrogates are no code points of a text, so U+D7FF is followed by U+E000.
 */
export function upperText(value: string): Buffer | null {
  const points = codePoints(value);
  if (points.length <= BOUND_LENGTH) return Buffer.from(value);
  for (let i = BOUND_LENGTH - 1; i >= 0; i--) {
    const point = points[i] ?? 0;
    if (point === 0x10ffff) continue;
    const raised = point === 0xd7ff ? 0xe000 : point + 1;
    return Buffer.from(String.fromCodePoint(...points.slice(0, i), raised));
  }
  return null;
}

function codePoints(value: string): number[] {
  return Array.from(value, (character) => character.codePointAt(0) ?? 0);
}

export function lowerBinary(value: Uint8Array): Buffer {
  return Buffer.from(value.subarray(0, BOUND_LENGTH));
}

/** The same for bytes: 0xff cannot be raised. */
export function upperBinary(value: Uint8Array): Buffer | null {
  if (value.length <= BOUND_LENGTH) return Buffer.from(value);
  for (let i = BOUND_LENGTH - 1; i >= 0; i--) {
    const byte = value[i] ?? 0;
    if (byte === 0xff) continue;
    return Buffer.from([...value.subarray(0, i), byte + 1]);
  }
  return null;
}

export function isDecimal(type: string): boolean {
  return decimalOf(type) !== null;
}
