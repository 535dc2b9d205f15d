import { expect, test } from 'vitest';
import { ancestors, currentSnapshotId, formatMetadata, parseMetadata } from './metadata.ts';

const SNAPSHOT = `{"snapshot-id": 9007199254740993, "sequence-number": 1, "timestamp-ms": 1, "manifest-list": "l", "summary": {"operation": "append"}}`;

function metadataText(fields: Readonly<Record<string, string>> = {}): string {
  const all: Record<string, string> = {
    'format-version': '2',
    'table-uuid': '"u"',
    location: '"file:/wh/db/t"',
    'last-sequence-number': '1',
    'last-updated-ms': '1',
    'last-column-id': '1',
    schemas: '[{"type": "struct", "schema-id": 0, "fields": []}]',
    'current-schema-id': '0',
    'partition-specs': '[{"spec-id": 0, "fields": []}]',
    'default-spec-id': '0',
    ...fields,
  };
  return `{${Object.entries(all)
    .map(([key, value]) => `"${key}": ${value}`)
    .join(', ')}}`;
}

test('a snapshot id beyond 2^53 survives reading and writing wherever it stands', () => {
  const id = '9007199254740993';
  const text = metadataText({
    'current-snapshot-id': id,
    snapshots: `[${SNAPSHOT}]`,
    refs: `{"main": {"snapshot-id": ${id}, "type": "branch"}}`,
    'snapshot-log': `[{"snapshot-id": ${id}, "timestamp-ms": 1}]`,
    statistics: `[{"snapshot-id": ${id}, "statistics-path": "p"}]`,
  });
  const metadata = parseMetadata(text, 'x');
  expect(currentSnapshotId(metadata)).toBe(9007199254740993n);
  const again = formatMetadata(parseMetadata(formatMetadata(metadata), 'x'));
  expect(again.match(/9007199254740993/g)).toHaveLength(5);
  expect(again).not.toContain('9007199254740992');
});

test('a small snapshot id is a bigint too', () => {
  const metadata = parseMetadata(
    metadataText({ 'current-snapshot-id': '7', snapshots: '[{"snapshot-id": 7}]' }),
    'x',
  );
  expect(currentSnapshotId(metadata)).toBe(7n);
});

test('fields of other writers are carried on, with their numbers as they were written', () => {
  const text = metadataText({
    'x-unknown': '{"a": 1.10, "b": [123456789012345678901, true, null, "é"]}',
  });
  const written = formatMetadata(parseMetadata(text, 'x')).replaceAll(/\s+/g, '');
  expect(written).toContain('"x-unknown":{"a":1.10,"b":[123456789012345678901,true,null,"é"]}');
});

test.each([['-1'], ['null'], [undefined]])('a current snapshot of %s is none', (value) => {
  const text = metadataText(value === undefined ? {} : { 'current-snapshot-id': value });
  expect(currentSnapshotId(parseMetadata(text, 'x'))).toBeNull();
  expect(ancestors(parseMetadata(text, 'x'))).toEqual([]);
});

test('ancestors go back as far as snapshots have not expired', () => {
  const snapshots = [1, 3, 4].map((n) => `{"snapshot-id": ${n}, "parent-snapshot-id": ${n - 1}}`);
  const text = metadataText({ 'current-snapshot-id': '4', snapshots: `[${snapshots.join(',')}]` });
  expect(ancestors(parseMetadata(text, 'x')).map((s) => s['snapshot-id'])).toEqual([4n, 3n]);
});

test('version 1 comes out in the shape of version 2', () => {
  const text = `{"format-version": 1, "table-uuid": "u", "location": "l", "last-updated-ms": 1, "last-column-id": 1,
    "schema": {"type": "struct", "fields": [{"id": 1, "name": "a", "required": false, "type": "int"}]},
    "partition-spec": [{"source-id": 1, "field-id": 1000, "name": "a", "transform": "identity"}]}`;
  const metadata = parseMetadata(text, 'x');
  expect(metadata.schemas[0]?.fields[0]?.name).toBe('a');
  expect(metadata['partition-specs'][0]?.fields[0]?.['field-id']).toBe(1000);
  expect(metadata['last-sequence-number']).toBe(0);
});

test.each([
  ['{', 'E_TABLE_METADATA'],
  ['[]', 'E_TABLE_METADATA'],
  [metadataText({ location: '1' }), 'E_TABLE_METADATA'],
  [metadataText({ 'current-schema-id': '9' }), 'E_TABLE_METADATA'],
  [metadataText({ 'current-snapshot-id': '5' }), 'E_TABLE_METADATA'],
  [metadataText({ 'format-version': '3' }), 'E_CONFIG_UNSUPPORTED'],
])('%.30s is refused', (text, code) => {
  expect(() => parseMetadata(text, 'x')).toThrow(expect.objectContaining({ code }));
});
