import { expect, test } from 'vitest';
import { readAvro, writeAvro, type AvroSchema } from '../avro/container.ts';
import type { DataFile, ManifestFile } from './data-file.ts';
import { decodeManifest, describeManifest, encodeManifest, type ManifestHead } from './manifest.ts';
import { decodeManifestList, encodeManifestList } from './manifest-list.ts';

const BIG = 9007199254740993n;
const HEAD: ManifestHead = {
  schema: {
    type: 'struct',
    'schema-id': 3,
    fields: [{ id: 1, name: 'ä"', required: true, type: 'long' }],
  },
  specId: 0,
  content: 'data',
};

const FILE: DataFile = {
  content: 'data',
  path: "file:/wh/a b/ü%20'x.parquet",
  format: 'PARQUET',
  specId: 0,
  partition: new Map(),
  recordCount: 10,
  fileSizeBytes: 1000,
  metrics: {
    columnSizes: new Map([[1, 100]]),
    valueCounts: new Map([[1, 10]]),
    nullValueCounts: new Map([[1, 0]]),
    nanValueCounts: new Map(),
    lowerBounds: new Map([[1, Buffer.from([1, 0, 0, 0, 0, 0, 0, 0])]]),
    upperBounds: null,
  },
  keyMetadata: Buffer.from([9]),
  splitOffsets: [4, 1_000_000],
  equalityIds: [1, 2],
  sortOrderId: 0,
  referencedDataFile: 'file:/wh/y.parquet',
};

const LINE: ManifestFile = {
  ...describeManifest(HEAD, [], { path: 'm', length: 1, snapshotId: BIG, sequenceNumber: 7 }),
  addedFiles: 1,
};

const old = (status: 'existing' | 'deleted', sequenceNumber: number) =>
  ({ status, snapshotId: 5n, sequenceNumber, fileSequenceNumber: 2, file: FILE }) as const;

test('a file comes back as it was written, with every figure', () => {
  const bytes = encodeManifest(HEAD, [{ status: 'added', snapshotId: BIG, file: FILE }]);
  expect(decodeManifest(bytes, LINE)[0]?.file).toEqual(FILE);
});

test('an added file takes its sequence number from the list, so that a lost commit can use the manifest again', () => {
  const bytes = encodeManifest(HEAD, [{ status: 'added', snapshotId: BIG, file: FILE }]);
  expect(readAvro(bytes, 'm').records[0]).toMatchObject({
    snapshot_id: BIG,
    sequence_number: null,
    file_sequence_number: null,
  });
  expect(decodeManifest(bytes, { ...LINE, sequenceNumber: 8 })[0]).toMatchObject({
    snapshotId: BIG,
    sequenceNumber: 8,
    fileSequenceNumber: 8,
  });
});

test('an existing or deleted file keeps the numbers of its own commit', () => {
  const bytes = encodeManifest(HEAD, [old('existing', 3), old('deleted', 4)]);
  expect(decodeManifest(bytes, LINE)).toMatchObject([
    { status: 'existing', sequenceNumber: 3, fileSequenceNumber: 2, snapshotId: 5n },
    { status: 'deleted', sequenceNumber: 4 },
  ]);
});

test('an existing file without a sequence number is refused', () => {
  const bytes = encodeManifest(HEAD, [{ status: 'added', snapshotId: BIG, file: FILE }]);
  const file = readAvro(bytes, 'm');
  const changed = writeAvro(file.schema, file.metadata, [{ ...file.records[0], status: 0 }]);
  expect(() => decodeManifest(changed, LINE)).toThrow('no sequence number');
});

test('the lowest sequence number of a manifest is that of its live files', () => {
  const at = { path: 'm', length: 1, snapshotId: BIG, sequenceNumber: 9 };
  expect(describeManifest(HEAD, [old('existing', 3), old('deleted', 1)], at)).toMatchObject({
    minSequenceNumber: 3,
    existingFiles: 1,
    deletedFiles: 1,
    existingRows: 10,
  });
});

test('readers find the table schema, not the Avro schema, and the other keys they ask for', () => {
  const { metadata } = readAvro(encodeManifest({ ...HEAD, content: 'deletes' }, []), 'm');
  const own = Object.fromEntries([...metadata].filter(([key]) => !key.startsWith('avro.')));
  expect(own).toEqual({
    schema: JSON.stringify(HEAD.schema),
    'schema-id': '3',
    'partition-spec': '[]',
    'partition-spec-id': '0',
    'format-version': '2',
    content: 'deletes',
  });
});

test('maps with whole keys say that they are maps, and every field has its id', () => {
  const { schema } = readAvro(encodeManifest(HEAD, []), 'm');
  const text = JSON.stringify(schema);
  expect(text.match(/"logicalType":"map"/g)).toHaveLength(6);
  expect(fieldsWithoutId(schema)).toEqual([]);
  expect(text.match(/"element-id":/g)).toHaveLength(2);
});

function fieldsWithoutId(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(fieldsWithoutId);
  if (typeof schema !== 'object' || schema === null) return [];
  const {
    fields = [],
    items,
    type,
  } = schema as Record<string, unknown> & { fields?: readonly object[] };
  const missing = fields.filter((f) => !('field-id' in f)).map((f) => JSON.stringify(f));
  return [
    ...missing,
    ...fields.flatMap(fieldsWithoutId),
    ...fieldsWithoutId(items),
    ...fieldsWithoutId(type),
  ];
}

test('a manifest of format version 1 is data of sequence number 0, its partition known by field id', () => {
  const schema: AvroSchema = {
    type: 'record',
    name: 'manifest_entry',
    fields: [
      { name: 'status', type: 'int', 'field-id': 0 },
      { name: 'snapshot_id', type: ['null', 'long'], 'field-id': 1 },
      {
        name: 'data_file',
        'field-id': 2,
        type: {
          type: 'record',
          name: 'r2',
          fields: [
            { name: 'file_path', type: 'string', 'field-id': 100 },
            { name: 'file_format', type: 'string', 'field-id': 101 },
            {
              name: 'partition',
              'field-id': 102,
              type: {
                type: 'record',
                name: 'r102',
                fields: [
                  {
                    name: 'day_x',
                    type: ['null', { type: 'int', logicalType: 'date' }],
                    'field-id': 1000,
                  },
                ],
              },
            },
            { name: 'record_count', type: 'long', 'field-id': 103 },
            { name: 'file_size_in_bytes', type: 'long', 'field-id': 104 },
            { name: 'block_size_in_bytes', type: 'long', 'field-id': 105 },
          ],
        },
      },
    ],
  };
  const file = {
    file_path: 'p',
    file_format: 'parquet',
    partition: { day_x: 19000 },
    record_count: 1n,
    file_size_in_bytes: 2n,
    block_size_in_bytes: 3n,
  };
  const bytes = writeAvro(schema, new Map(), [{ status: 0, snapshot_id: 4n, data_file: file }]);
  expect(decodeManifest(bytes, { ...LINE, sequenceNumber: 0 })).toMatchObject([
    {
      status: 'existing',
      sequenceNumber: 0,
      file: {
        content: 'data',
        format: 'PARQUET',
        partition: new Map([[1000, 19000]]),
        equalityIds: null,
      },
    },
  ]);
});

test('a manifest list comes back as it was written', () => {
  const summary = {
    contains_null: true,
    contains_nan: null,
    lower_bound: Buffer.from([1]),
    upper_bound: null,
  };
  const lines = [
    LINE,
    { ...LINE, content: 'deletes' as const, partitions: [summary], keyMetadata: Buffer.from([1]) },
  ];
  const head = { snapshotId: BIG, parentSnapshotId: null, sequenceNumber: 7 };
  const bytes = encodeManifestList(head, lines);
  expect(
    decodeManifestList(bytes, 'l').map((line) => ({
      ...line,
      partitions: line.partitions.map((p) => ({ ...(p as object) })),
    })),
  ).toEqual(lines);
  expect(Object.fromEntries(readAvro(bytes, 'l').metadata)).toMatchObject({
    'snapshot-id': '9007199254740993',
    'parent-snapshot-id': 'null',
    'sequence-number': '7',
    'format-version': '2',
  });
});

test('a line without partitions is carried on with an empty array, because strict readers refuse null there', () => {
  const { schema, metadata, records } = readAvro(
    encodeManifestList({ snapshotId: 1n, parentSnapshotId: 2n, sequenceNumber: 1 }, [LINE]),
    'l',
  );
  const foreign = writeAvro(schema, metadata, [{ ...records[0], partitions: null }]);
  const carried = encodeManifestList(
    { snapshotId: 3n, parentSnapshotId: 1n, sequenceNumber: 2 },
    decodeManifestList(foreign, 'l'),
  );
  expect(readAvro(carried, 'l').records[0]?.['partitions']).toEqual([]);
});
