import { beforeEach, expect, test } from 'vitest';
import { memoryStore } from '../../storage/memory.ts';
import type { Catalog, Table } from '../catalog/catalog.ts';
import { hadoopCatalog } from '../catalog/hadoop.ts';
import { applySchemaPlan, changeSchema, isPromotion, planSchemaChange } from './evolve.ts';
import { currentSchema, type TableMetadata } from './metadata.ts';
import { newFields } from './schema.ts';

const REF = { namespace: 'db', name: 't' };
let catalog: Catalog;
let table: Table;
beforeEach(async () => {
  catalog = hadoopCatalog({ warehouse: 'file:/wh', store: memoryStore() });
  table = await catalog.createTable({
    ...REF,
    fields: newFields([
      { name: 'id', type: 'int', required: true },
      { name: 'price', type: 'decimal(9,2)', required: false },
    ]),
    identifierFieldIds: [1],
  });
});

const columns = (metadata: TableMetadata): string[] =>
  currentSchema(metadata).fields.map(
    (f) =>
      `${f.id} ${f.name} ${JSON.stringify(f.type).slice(1, -1)}${f.required ? ' required' : ''}`,
  );

test('added columns take new ids, are optional, and come in a schema of their own', async () => {
  const changed = await changeSchema(catalog, REF, {
    addColumns: [
      { name: 'a b', type: 'string' },
      { name: 'at', type: 'timestamptz' },
    ],
  });
  expect(columns(changed.metadata)).toEqual([
    '1 id int required',
    '2 price decimal(9, 2)',
    '3 a b string',
    '4 at timestamptz',
  ]);
  expect(changed.metadata).toMatchObject({ 'last-column-id': 4, 'current-schema-id': 1 });
  expect(changed.metadata.schemas).toHaveLength(2);
  expect(currentSchema(changed.metadata)['identifier-field-ids']).toEqual([1]);
  expect(changed.metadata.snapshots).toEqual([]);
});

test('wider types keep their ids', async () => {
  const changed = await changeSchema(catalog, REF, {
    promoteColumns: [
      { name: 'id', type: 'long' },
      { name: 'price', type: 'decimal(38,2)' },
    ],
  });
  expect(columns(changed.metadata)).toEqual(['1 id long required', '2 price decimal(38, 2)']);
});

test('a column that was dropped and comes again has a new id', async () => {
  const withColumn = await changeSchema(catalog, REF, { addColumns: [{ name: 'x', type: 'int' }] });
  const dropped = { ...withColumn.metadata, 'current-schema-id': 0 };
  await catalog.commitMetadata(withColumn, dropped);
  const again = await changeSchema(catalog, REF, { addColumns: [{ name: 'x', type: 'int' }] });
  expect(columns(again.metadata).at(-1)).toBe('4 x int');
});

test('a change that the table has already makes no version', async () => {
  const change = { addColumns: [{ name: 'x', type: 'decimal(5,1)' as const }] };
  const once = await changeSchema(catalog, REF, change);
  const twice = await changeSchema(catalog, REF, change);
  expect(twice.metadataLocation).toBe(once.metadataLocation);
});

test.each([
  [{ promoteColumns: [{ name: 'id', type: 'string' as const }] }, 'E_TARGET_MISMATCH'],
  [{ promoteColumns: [{ name: 'price', type: 'decimal(9,3)' as const }] }, 'E_TARGET_MISMATCH'],
  [{ addColumns: [{ name: 'id', type: 'long' as const }] }, 'E_TARGET_MISMATCH'],
  [{ promoteColumns: [{ name: 'nothing', type: 'long' as const }] }, 'E_COLUMN_UNKNOWN'],
])('%j is refused', (change, code) => {
  expect(() => planSchemaChange(table.metadata, change)).toThrow(expect.objectContaining({ code }));
});

test.each([
  ['int', 'long', true],
  ['float', 'double', true],
  ['decimal(9, 2)', 'decimal(10, 2)', true],
  ['long', 'int', false],
  ['int', 'double', false],
  ['decimal(10, 2)', 'decimal(9, 2)', false],
  ['decimal(9, 2)', 'decimal(10, 3)', false],
  ['decimal(10, 2)', 'decimal(39, 2)', false],
  ['date', 'timestamp', false],
])('%s → %s is safe: %s', (from, to, safe) => {
  expect(isPromotion(from, to)).toBe(safe);
});

test('a plan that others overtook is a conflict, because its ids may be taken', async () => {
  const plan = planSchemaChange(table.metadata, { addColumns: [{ name: 'x', type: 'int' }] });
  const other = await changeSchema(catalog, REF, { addColumns: [{ name: 'y', type: 'int' }] });
  if (plan === null) throw new Error('no plan');
  expect(() => applySchemaPlan(other.metadata, plan)).toThrow(
    expect.objectContaining({ code: 'E_COMMIT_CONFLICT' }),
  );
});

test('a plan is a conflict also where the other column was dropped again: its id is gone for good', async () => {
  const plan = planSchemaChange(table.metadata, { addColumns: [{ name: 'x', type: 'int' }] });
  const other = await changeSchema(catalog, REF, { addColumns: [{ name: 'y', type: 'int' }] });
  if (plan === null) throw new Error('no plan');
  const dropped = { ...other.metadata, 'current-schema-id': 0 };
  expect(() => applySchemaPlan(dropped, plan)).toThrow(
    expect.objectContaining({ code: 'E_COMMIT_CONFLICT' }),
  );
});

test('a plan survives a crash as JSON, and applies once', () => {
  const plan = planSchemaChange(table.metadata, { addColumns: [{ name: 'x', type: 'int' }] });
  if (plan === null) throw new Error('no plan');
  const kept = JSON.parse(JSON.stringify(plan)) as typeof plan;
  const once = applySchemaPlan(table.metadata, kept);
  expect(columns(once).at(-1)).toBe('3 x int');
  expect(applySchemaPlan(once, kept)).toBe(once);
});

test('two writers that add columns at once both get theirs', async () => {
  await Promise.all(
    ['x', 'y', 'z'].map((name) =>
      changeSchema(
        catalog,
        REF,
        { addColumns: [{ name, type: 'int' }] },
        {
          clock: { now: () => 1, sleep: async () => {} },
        },
      ),
    ),
  );
  const metadata = (await catalog.loadTable(REF))?.metadata as TableMetadata;
  expect(
    currentSchema(metadata)
      .fields.map((f) => f.name)
      .toSorted(),
  ).toEqual(['id', 'price', 'x', 'y', 'z']);
  expect(new Set(currentSchema(metadata).fields.map((f) => f.id)).size).toBe(5);
});

test('a fixed column makes the table one that Spark reads row by row', async () => {
  const changed = await changeSchema(catalog, REF, {
    addColumns: [{ name: 'x', type: 'fixed[4]' }],
  });
  expect(changed.metadata.properties?.['read.parquet.vectorization.enabled']).toBe('false');
  expect(table.metadata.properties).not.toHaveProperty('read.parquet.vectorization.enabled');
});
