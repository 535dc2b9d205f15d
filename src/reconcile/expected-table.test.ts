import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { resolvePipeline, type PipelineFile } from '../config/load.ts';
import type { PipelineSpec } from '../model/spec.ts';
import { expectedTables, matchesPattern, snakeCase } from './expected-table.ts';

const specOf = (file: {
  tables?: unknown;
  processing?: unknown;
  namespace?: string;
  on_truncate?: string;
}): PipelineSpec =>
  resolvePipeline({
    pipeline_id: 'p',
    source: {
      source_type: 'debezium_json',
      path: 'feed.json',
      ...(file.tables === undefined ? {} : { tables: file.tables }),
      ...(file.on_truncate === undefined ? {} : { on_truncate: file.on_truncate }),
    },
    processing: file.processing ?? {},
    sink: { iceberg: file.namespace === undefined ? {} : { namespace: file.namespace } },
  } as PipelineFile).spec;

const ORDERS = {
  table: 'shop.orders',
  primary_key: ['id'],
  columns: { id: 'long', at: { type: 'timestamptz', from: 'epoch_ms' } },
};
const MAPPING = {
  target_object_type_rid: 'ri.type.PumpStation',
  primary_key_field: 'id',
  field_mappings: { id: { target_property: 'pump_id', type_conversion: 'to_string' }, at: {} },
};

test('a table without a mapping is itself, by its own key', () => {
  expect(expectedTables(specOf({ tables: [ORDERS] }))).toMatchObject([
    {
      namespace: 'shop',
      name: 'orders',
      key: ['id'],
      deduplicate: true,
      truncate: true,
      sources: [
        {
          table: 'shop.orders',
          onlyTable: true,
          key: ['id'],
          values: [
            { column: 'id', source: 'id', type: 'long' },
            { column: 'at', source: 'at', type: 'timestamptz', from: 'epoch_ms' },
          ],
        },
      ],
    },
  ]);
});

test('a mapped table has a rid and its properties; tables without a mapping are skipped', () => {
  const spec = specOf({
    tables: [ORDERS, 'shop.other'],
    processing: { schema_mapping: { 'shop.orders': MAPPING } },
    namespace: 'lake',
  });
  const [table, ...others] = expectedTables(spec);
  expect(others).toEqual([]);
  expect(table).toMatchObject({ namespace: 'lake', name: 'pump_station', key: ['rid'] });
  expect(table?.sources[0]).toMatchObject({
    onlyTable: false,
    key: ['id'],
    rid: { template: 'ri.{object_type}.main.{pk}', objectType: 'PumpStation', column: 'id' },
    values: [
      { column: 'pump_id', source: 'id', type: 'string', conversion: 'to_string' },
      { column: 'at', source: 'at', type: 'timestamptz', from: 'epoch_ms' },
    ],
  });
});

test('a pattern stands for the tables that were discovered, which bring their columns and key', () => {
  const discovered = {
    'shop.orders_1': {
      columns: [{ name: 'id', type: 'long', nullable: false } as const],
      key: ['id'],
    },
  };
  const spec = specOf({ tables: [{ table: 'shop.orders_*', primary_key: ['id'] }] });
  expect(expectedTables(spec)).toEqual([]);
  expect(expectedTables(spec, discovered)).toMatchObject([
    { name: 'orders_1', sources: [{ key: ['id'], values: [{ column: 'id', type: 'long' }] }] },
  ]);
});

test('several sources share a table', () => {
  const tables = [ORDERS, { ...ORDERS, table: 'shop.archive' }];
  const processing = { routes: [{ source_table: 'shop.*', target_table: 'all.{db}_rows' }] };
  expect(expectedTables(specOf({ tables, processing }))).toMatchObject([
    {
      namespace: 'all',
      name: 'shop_rows',
      sources: [{ table: 'shop.orders' }, { table: 'shop.archive' }],
    },
  ]);
});

test('a row takes every route that it meets, and its own table when it meets none', () => {
  const processing = {
    routes: [
      { source_table: 'shop.orders', when: 'id < 10', target_table: 'small' },
      { source_table: 'shop.orders', when: 'id > 5', target_table: 'large' },
    ],
  };
  const tables = expectedTables(specOf({ tables: [ORDERS], processing }));
  expect(tables.map((t) => [t.name, t.sources[0]?.include?.text.replace(/\s+/g, ' ')])).toEqual([
    ['small', 'coalesce((id < 10 ), FALSE)'],
    ['large', 'coalesce((id > 5 ), FALSE)'],
    ['orders', '(NOT coalesce((id < 10 ), FALSE)) AND (NOT coalesce((id > 5 ), FALSE))'],
  ]);
});

test('two routes of a table to one target let a row in by either', () => {
  const processing = {
    routes: [
      { source_table: 'shop.orders', when: 'id < 10', target_table: 'some' },
      { source_table: 'shop.orders', when: 'id > 50', target_table: 'some' },
    ],
  };
  const [some] = expectedTables(specOf({ tables: [ORDERS], processing }));
  expect(some?.sources.map((source) => source.include?.text.replace(/\s+/g, ' '))).toEqual([
    '(coalesce((id < 10 ), FALSE)) OR (coalesce((id > 50 ), FALSE))',
  ]);
});

test('all filters that name the table hold together, and a comment at their end hides nothing', () => {
  const processing = { filter: { 'shop.*': 'id > 1 -- not the first', 'shop.orders': 'id < 9' } };
  const [table] = expectedTables(specOf({ tables: [ORDERS], processing }));
  expect(table?.sources[0]?.filter?.text).toBe(
    '(coalesce((id > 1 -- not the first\n), FALSE)) AND (coalesce((id < 9\n), FALSE))',
  );
});

test('what a truncate does comes from the file', () => {
  expect(expectedTables(specOf({ tables: [ORDERS], on_truncate: 'ignore' }))).toMatchObject([
    { truncate: false },
  ]);
});

test.each([
  ['PumpStation', 'pump_station'],
  ['HTTPPump2', 'http_pump2'],
  ['Pump2Station', 'pump2_station'],
  ['pump', 'pump'],
  ['Pump-Station x', 'pump_station_x'],
])('%s becomes %s', (word, snake) => {
  expect(snakeCase(word)).toBe(snake);
});

test('a star stands for any characters, all else for itself', () => {
  expect(matchesPattern('shop.*_log', 'shop.a.b_log')).toBe(true);
  expect(matchesPattern('shop.*', 'shopXorders')).toBe(false);
  expect(matchesPattern('*', 'a.b')).toBe(true);
});

test('no file here imports the engine, a source, a stage, a sink or their casts', async () => {
  const folder = new URL('.', import.meta.url);
  for (const name of (await readdir(folder)).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
  )) {
    const text = await readFile(new URL(name, folder), 'utf8');
    const imported = [...text.matchAll(/from '([^']+)'/g)].map((match) => match[1] ?? '');
    const allowed =
      /^(\.\/|node:|@duckdb\/|fzstd$|lossless-json$|\.\.\/model\/(errors|spec|types)\.ts$|\.\.\/sql\/sql\.ts$)/;
    expect({ name, others: imported.filter((path) => !allowed.test(path)) }).toEqual({
      name,
      others: [],
    });
  }
});
