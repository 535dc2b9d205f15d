import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readAvro, writeAvro, type AvroSchema } from './container.ts';

const SCHEMA: AvroSchema = {
  type: 'record',
  name: 'row',
  fields: [
    { name: 'id', type: 'long', 'field-id': 1 },
    {
      name: 'at',
      type: ['null', { type: 'long', logicalType: 'timestamp-micros' }],
      default: null,
      'field-id': 2,
    },
    { name: 'bytes', type: ['null', 'bytes'], default: null, 'field-id': 3 },
    { name: 'ids', type: { type: 'array', items: 'long', 'element-id': 5 }, 'field-id': 4 },
  ],
};
const row = (id: bigint, ids: readonly bigint[] = []): object => ({
  id,
  at: -id,
  bytes: Buffer.from([0, 255]),
  ids,
});
const write = (rows: readonly object[]): Buffer =>
  writeAvro(SCHEMA, new Map([['own key', 'ü']]), rows);

test('longs come back to the last bit, nested and as logical types too', () => {
  fc.assert(
    fc.property(fc.array(fc.bigInt({ min: -(2n ** 63n) + 1n, max: 2n ** 63n - 1n })), (ids) => {
      const rows = [9007199254740993n, -(2n ** 63n) + 1n, ...ids].map((id) => row(id, ids));
      expect(readAvro(write(rows), 'x').records.map((r) => ({ ...r }))).toEqual(rows);
    }),
    { numRuns: 50 },
  );
});

test('the file carries field ids in its schema, and its own keys', () => {
  const { schema, metadata } = readAvro(write([row(1n)]), 'x');
  expect(schema).toEqual(SCHEMA);
  expect(metadata.get('own key')).toBe('ü');
  expect(metadata.get('avro.codec')).toBe('deflate');
});

test('many records take more than one block and come back in order', () => {
  const rows = Array.from({ length: 12_000 }, (_, i) => row(BigInt(i)));
  const bytes = write(rows);
  const sync = bytes.subarray(-16);
  let blocks = -1;
  for (let at = bytes.indexOf(sync); at !== -1; at = bytes.indexOf(sync, at + 16)) blocks++;
  expect(blocks).toBeGreaterThan(1);
  expect(readAvro(bytes, 'x').records.map((r) => r['id'])).toEqual(rows.map((_, i) => BigInt(i)));
});

test('a file without records is whole', () => {
  expect(readAvro(write([]), 'x').records).toEqual([]);
});

test('a file that is cut anywhere is refused, never read in part', () => {
  const bytes = write([row(1n), row(2n, [1n, 2n])]);
  const headEnd = bytes.indexOf(bytes.subarray(-16)) + 16;
  for (let end = 0; end < bytes.length; end++) {
    if (end === headEnd) continue; // a file of no blocks is a file of no records
    expect(() => readAvro(bytes.subarray(0, end), 'x'), `cut at ${end}`).toThrow(
      expect.objectContaining({ code: 'E_TABLE_METADATA' }),
    );
  }
});

test('a codec that is not known is refused by name', () => {
  const bytes = write([row(1n)]);
  const other = Buffer.from(bytes.toString('latin1').replace('deflate', 'snappyX'), 'latin1');
  expect(() => readAvro(other, 'there')).toThrow('there is compressed with snappyX');
});

test('files of other writers without compression are read', () => {
  const deflated = write([row(7n)]);
  const sync = deflated.subarray(-16);
  const headEnd = deflated.indexOf(sync) + 16;
  const body = writeBody(7n);
  const head = Buffer.from(
    deflated.subarray(0, headEnd).toString('latin1').replace('\x0edeflate', '\x08null'),
    'latin1',
  );
  const plain = Buffer.concat([head, Buffer.from([2, body.length * 2]), body, sync]);
  expect(readAvro(plain, 'x').records[0]).toMatchObject({ id: 7n, ids: [] });
});

// id 7, at null, bytes null, ids empty.
function writeBody(id: bigint): Buffer {
  return Buffer.from([Number(id * 2n), 0, 0, 0]);
}
