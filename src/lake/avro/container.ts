import { randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import avsc from 'avsc';
import { decompress as unzstd } from 'fzstd';
import { PipelineError } from '../../model/errors.ts';

/*
 * Avro object container file (Avro 1.11 spec, Object Container Files):
 *   magic     'Obj' 01
 *   metadata  map<bytes>: avro.schema, avro.codec, and the file's own keys
 *   sync      16 bytes
 *   block*    long count · long length · length bytes (through the codec) · sync
 *
 * avsc's own container encoder drops attributes it does not know, `field-id` among them, so the container is made here
 * around its record types. A `long` is a bigint: snapshot ids do not fit a double.
 */

/** An Avro schema, as its JSON form. */
export type AvroSchema = string | readonly AvroSchema[] | { readonly [attribute: string]: unknown };

export interface AvroFile {
  readonly schema: AvroSchema;
  readonly metadata: ReadonlyMap<string, string>;
  /** One object a record, fields by their Avro names; longs are bigints, bytes are Buffers. */
  readonly records: readonly Readonly<Record<string, unknown>>[];
}

const MAGIC = Buffer.from([0x4f, 0x62, 0x6a, 0x01]);
const BLOCK_BYTES = 64_000;

const longType = avsc.types.LongType.__with({
  fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(value);
    return bytes;
  },
  fromJSON: BigInt,
  toJSON: Number,
  isValid: (value: unknown) => typeof value === 'bigint',
  compare: (a: bigint, b: bigint) => (a === b ? 0 : a < b ? -1 : 1),
});

const metadataType = avsc.Type.forSchema({ type: 'map', values: 'bytes' });

/** Types that are kept ready: making one takes as long as decoding a small manifest, and files share few schemas. */
const TYPES_MAX = 32;
const types = new Map<string, avsc.Type>();

function recordType(schemaText: string): avsc.Type {
  const known = types.get(schemaText);
  if (known !== undefined) return known;
  // By the hook, because avsc makes a type of its own for a long with a logical type.
  const type = avsc.Type.forSchema(JSON.parse(schemaText) as avsc.Schema, {
    wrapUnions: false,
    typeHook: (part) => (isLong(part) ? longType : undefined),
  });
  if (types.size >= TYPES_MAX) types.clear();
  types.set(schemaText, type);
  return type;
}

function isLong(schema: unknown): boolean {
  return schema === 'long' || (schema as { type?: unknown } | null)?.type === 'long';
}

/** Encodes records into one container file, deflated. `metadata` holds the file's own keys. */
export function writeAvro(
  schema: AvroSchema,
  metadata: ReadonlyMap<string, string>,
  records: readonly object[],
): Buffer {
  const schemaText = JSON.stringify(schema);
  const type = recordType(schemaText);
  const sync = randomBytes(16);
  const header: Record<string, Buffer> = {
    'avro.schema': Buffer.from(schemaText),
    'avro.codec': Buffer.from('deflate'),
  };
  for (const [key, value] of metadata) header[key] = Buffer.from(value);
  const parts = [MAGIC, metadataType.toBuffer(header), sync];
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  const flush = (): void => {
    if (pending.length === 0) return;
    const body = deflateRawSync(Buffer.concat(pending));
    parts.push(varint(pending.length), varint(body.length), body, sync);
    pending = [];
    pendingBytes = 0;
  };
  for (const record of records) {
    const bytes = type.toBuffer(record);
    pending.push(bytes);
    pendingBytes += bytes.length;
    if (pendingBytes >= BLOCK_BYTES) flush();
  }
  flush();
  return Buffer.concat(parts);
}

/**
 * Decodes a container file by the schema that it carries.
 * @throws E_TABLE_METADATA for a damaged file, E_CONFIG_UNSUPPORTED for a codec other than null, deflate, zstandard
 */
export function readAvro(bytes: Uint8Array, path: string): AvroFile {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    return decode(buffer, path);
  } catch (cause) {
    if (cause instanceof PipelineError) throw cause;
    throw new PipelineError(
      'E_TABLE_METADATA',
      `${path} is not a whole Avro file: ${String(cause)}`,
      { cause },
    );
  }
}

function decode(buffer: Buffer, path: string): AvroFile {
  if (!buffer.subarray(0, 4).equals(MAGIC)) throw new Error('wrong magic');
  const header = metadataType.decode(buffer, 4);
  const keys = Object.entries(header.value as Readonly<Record<string, Buffer>>);
  const metadata = new Map(keys.map(([key, value]) => [key, value.toString('utf8')]));
  const schemaText = metadata.get('avro.schema') ?? '';
  const schema = JSON.parse(schemaText) as AvroSchema;
  const type = recordType(schemaText);
  const inflate = decoderOf(metadata.get('avro.codec') ?? 'null', path);
  const sync = buffer.subarray(header.offset, header.offset + 16);
  if (sync.length !== 16) throw new Error('the file ends inside its header');
  const records: Readonly<Record<string, unknown>>[] = [];
  let offset = header.offset + 16;
  while (offset < buffer.length) {
    const count = readVarint(buffer, offset);
    const length = readVarint(buffer, count.next);
    const end = length.next + length.value;
    if (!buffer.subarray(end, end + 16).equals(sync))
      throw new Error(`no sync marker at byte ${end}`);
    const block = inflate(buffer.subarray(length.next, end));
    let at = 0;
    for (let i = 0; i < count.value; i++) {
      const record = type.decode(block, at);
      if (record.offset < 0) throw new Error('a block ends inside a record');
      records.push(record.value);
      at = record.offset;
    }
    if (at !== block.length) throw new Error('a block is longer than its records');
    offset = end + 16;
  }
  return { schema, metadata, records };
}

function decoderOf(codec: string, path: string): (block: Buffer) => Buffer {
  if (codec === 'null') return (block) => block;
  if (codec === 'deflate') return (block) => inflateRawSync(block);
  if (codec === 'zstandard') return (block) => Buffer.from(unzstd(block));
  throw new PipelineError(
    'E_CONFIG_UNSUPPORTED',
    `${path} is compressed with ${codec}, which is not supported`,
  );
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = BigInt(value) * 2n; // zigzag of a number that is never negative
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

function readVarint(buffer: Buffer, offset: number): { value: number; next: number } {
  let result = 0n;
  let next = offset;
  for (let shift = 0n; ; shift += 7n) {
    const byte = buffer[next++];
    if (byte === undefined || shift > 63n) throw new Error('the file ends inside a block');
    result |= BigInt(byte & 127) << shift;
    if (byte < 128) break;
  }
  const value = Number((result >> 1n) ^ -(result & 1n));
  if (value < 0) throw new Error('a block has a negative length');
  return { value, next };
}
