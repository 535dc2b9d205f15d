import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isPipelineError } from '../model/errors.ts';
import { loadPipeline, resolvePipeline } from './load.ts';
import type { PipelineFile } from './load.ts';

let dir = '';
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'lakeward-config-'));
});
afterAll(() => rm(dir, { recursive: true }));

async function load(text: string, env: Record<string, string> = {}, name = 'pipeline.yaml') {
  await writeFile(join(dir, name), text);
  return loadPipeline(join(dir, name), { env });
}

const MINIMAL = `
pipeline_id: p
source: { source_type: debezium_json, path: feed.jsonl }
`;

/** The pipeline of the model's own test, with the source that this version reads. */
const MODEL: PipelineFile = {
  pipeline_id: 'test-pipeline',
  display_name: 'Test',
  source: {
    source_type: 'debezium_json',
    path: 'feed.jsonl',
    hostname: 'localhost',
    port: 3306,
    database: 'test',
    tables: ['test.equipment'],
    username: 'root',
    password_secret_ref: 'test-secret',
  },
  processing: {
    schema_mapping: {
      'test.equipment': {
        source_table: 'test.equipment',
        target_object_type_rid: 'ri.type.Equipment',
        field_mappings: {
          id: { source_column: 'id', target_property: 'equipment_id' },
          name: { source_column: 'name', target_property: 'display_name' },
          status: { source_column: 'status', target_property: 'status' },
        },
        primary_key_field: 'id',
      },
    },
  },
  sink: { iceberg_enabled: false, doris_enabled: false, event_bus_enabled: true },
};

test('every default of the model holds, but for those that would need a server', async () => {
  const { spec, notices } = await load(MINIMAL);
  expect(notices).toEqual([]);
  expect(spec).toEqual({
    pipeline_id: 'p',
    display_name: 'p',
    engine: 'embedded',
    source: {
      source_type: 'debezium_json',
      path: join(dir, 'feed.jsonl'),
      watch: false,
      tables: [],
      startup_mode: 'initial',
      on_truncate: 'apply',
      max_line_bytes: 67_108_864,
      max_nesting: 512,
    },
    processing: {
      schema_mapping: undefined,
      cleansing: { trim: false, null_tokens: [] },
      deduplication: { enabled: true, window_ms: 60_000 },
      filter: undefined,
      routes: [],
    },
    sink: {
      iceberg_enabled: true,
      iceberg_catalog: 'hadoop',
      iceberg_warehouse: join(dir, 'warehouse'),
      iceberg: { delete_mode: 'equality' },
      event_bus_enabled: true,
      event_bus: { path: join(dir, 'events') },
    },
    checkpoint: {
      interval_ms: 60_000,
      min_pause_ms: 500,
      timeout_ms: 600_000,
      max_bytes: undefined,
      state_dir: join(dir, '.lakeward', 'p'),
    },
    error_handling: {
      max_retries: 3,
      retry_interval_ms: 5000,
      dead_letter_enabled: true,
      skip_corrupted: false,
    },
  });
});

test('the pipeline of the model is taken, and what it does not need is named once', () => {
  const { spec, notices } = resolvePipeline(MODEL, { baseDir: dir });
  expect(spec.processing.schema_mapping).toEqual([
    {
      source_table: 'test.equipment',
      target_object_type_rid: 'ri.type.Equipment',
      field_mappings: [
        { source_column: 'id', target_property: 'equipment_id', nullable: true },
        { source_column: 'name', target_property: 'display_name', nullable: true },
        { source_column: 'status', target_property: 'status', nullable: true },
      ],
      primary_key_field: 'id',
      rid_template: 'ri.{object_type}.main.{pk}',
    },
  ]);
  expect(notices).toEqual([
    {
      message:
        'accepted, not used by debezium_json: hostname, port, database, username, password_secret_ref',
      paths: [
        'source.hostname',
        'source.port',
        'source.database',
        'source.username',
        'source.password_secret_ref',
      ],
    },
  ]);
});

test('YAML, JSON and an object with the same keys give the same spec', async () => {
  const json = await load(JSON.stringify(MODEL, null, '\t'), {}, 'pipeline.json');
  const yaml = await load(JSON.stringify(MODEL));
  const object = resolvePipeline(MODEL, { baseDir: dir });
  expect(json).toEqual(object);
  expect(yaml).toEqual(object);
});

test('a configuration dumped with all its optional keys as null is taken', () => {
  const source = { ...MODEL.source, server_id: null, slot_name: null, startup_timestamp: null };
  const processing = { ...MODEL.processing, enrichment: null, deduplication: {} };
  const dumped = JSON.parse(JSON.stringify({ ...MODEL, source, processing })) as PipelineFile;
  expect(resolvePipeline(dumped, { baseDir: dir })).toEqual(
    resolvePipeline(MODEL, { baseDir: dir }),
  );
});

test('what a mapping leaves out follows from its keys', async () => {
  const { spec } = await load(`
pipeline_id: p
source: { source_type: debezium_json, path: f }
processing:
  schema_mapping:
    shop.items:
      target_object_type_rid: ri.type.Item
      primary_key_field: id
      field_mappings:
        sku: {}
        price: { target_property: cost }
        label: { source_column: name }
`);
  const [mapping] = spec.processing.schema_mapping ?? [];
  expect(mapping?.source_table).toBe('shop.items');
  expect(
    mapping?.field_mappings.map(({ source_column, target_property }) => [
      source_column,
      target_property,
    ]),
  ).toEqual([
    ['sku', 'sku'],
    ['price', 'cost'],
    ['name', 'name'],
  ]);
});

test('field mappings stay in the order of the file, even where their names are numbers', async () => {
  const { spec } = await load(`
pipeline_id: p
source: { source_type: debezium_json, path: f }
processing:
  schema_mapping:
    shop.items:
      target_object_type_rid: ri.type.Item
      primary_key_field: id
      field_mappings: { id: {}, 2024: {}, 007: {}, 1: {}, name: {} }
`);
  const fields = spec.processing.schema_mapping?.[0]?.field_mappings;
  expect(fields?.map((field) => field.source_column)).toEqual(['id', '2024', '007', '1', 'name']);
});

test('a default value keeps its digits as the file has them', async () => {
  const { spec } = await load(
    `
pipeline_id: p
source: { source_type: debezium_json, path: f }
processing:
  schema_mapping:
    shop.items:
      target_object_type_rid: ri.type.Item
      primary_key_field: id
      field_mappings:
        a: { default_value: 9007199254740993 }
        b: { default_value: 1.10 }
        c: { default_value: true }
        d: { default_value: "007" }
        e: { default_value: 0x1F }
        f: { default_value: "${'$'}{env:F}" }
`,
    { F: '42' },
  );
  const fields = spec.processing.schema_mapping?.[0]?.field_mappings;
  expect(fields?.map((field) => field.default_value)).toEqual([
    '9007199254740993',
    '1.10',
    'true',
    '007',
    '31',
    '42',
  ]);
});

test('tables are names or blocks, and their types are normalised', async () => {
  const { spec } = await load(`
pipeline_id: p
source:
  source_type: debezium_json
  path: f
  tables:
    - table: shop.orders
      primary_key: [id]
      columns: { id: long, price: "decimal( 18, 2 )", at: { type: timestamptz, from: epoch_ms } }
    - { table: shop.log_*, primary_key: [id] }
`);
  expect(spec.source.tables).toEqual([
    {
      table: 'shop.orders',
      primary_key: ['id'],
      columns: {
        id: { type: 'long' },
        price: { type: 'decimal(18,2)' },
        at: { type: 'timestamptz', from: 'epoch_ms' },
      },
    },
    { table: 'shop.log_*', primary_key: ['id'] },
  ]);
});

test('references are typed by the schema and may be part of a text', async () => {
  await mkdir(join(dir, 'secrets/prod/db'), { recursive: true });
  await writeFile(join(dir, 'secrets/prod/db/id'), 'from-k8s\n');
  await writeFile(join(dir, 'name.txt'), 'from-file\r\n');
  const env = {
    N: '250',
    ON: 'true',
    ID: '123',
    EMPTY: '',
    LAKEWARD_K8S_SECRETS: join(dir, 'secrets'),
  };
  const lines = [
    'pipeline_id: ${env:ID}',
    'display_name: "${file:./name.txt} ${k8s:prod/db#id} $${env:X} ${env:EMPTY:-or} ${env:NONE:-}"',
    'source: { source_type: debezium_json, path: "in/${env:ID}.jsonl", watch: "${env:ON}" }',
    'checkpoint:',
    '  interval_ms: ${env:N}',
    '  timeout_ms: ${env:NONE:-9}',
    'x-mine: ${env:NOT_SET_AND_NOT_READ}',
    '# ${env:NOT_SET_IN_A_COMMENT}',
  ];
  const { spec } = await load(lines.join('\n'), env);
  expect(spec.pipeline_id).toBe('123');
  expect(spec.display_name).toBe('from-file from-k8s ${env:X} or ');
  expect(spec.source.path).toBe(join(dir, 'in/123.jsonl'));
  expect(spec.source.watch).toBe(true);
  expect(spec.checkpoint.interval_ms).toBe(250);
  expect(spec.checkpoint.timeout_ms).toBe(9);
});

test('absolute paths and file URIs stay where they are', async () => {
  const { spec } = await load(`
pipeline_id: p
source: { source_type: debezium_json, path: file:///data/a%20b/*.json }
sink: { iceberg_warehouse: /lake, event_bus: { path: ../events } }
checkpoint: { state_dir: "./s/<pipeline_id>" }
`);
  expect(spec.source.path).toBe('/data/a b/*.json');
  expect(spec.sink.iceberg_warehouse).toBe('/lake');
  expect(spec.sink.event_bus.path).toBe(join(dir, '../events'));
  expect(spec.checkpoint.state_dir).toBe(join(dir, 's/p'));
});

test('one filter for all tables is the filter of every table', async () => {
  const { spec } = await load(`${MINIMAL}processing: { filter: total > 0 }`);
  expect(spec.processing.filter).toEqual({ '*': 'total > 0' });
});

test('dedup_window_ms is another spelling of window_ms', async () => {
  const { spec } = await load(`${MINIMAL}processing: { deduplication: { dedup_window_ms: 5 } }`);
  expect(spec.processing.deduplication).toEqual({ enabled: true, window_ms: 5 });
});

test('known keys without a value count as left out', async () => {
  const { spec } = await load(`${MINIMAL}checkpoint:\nsink: { iceberg: ~, event_bus_enabled: }\n`);
  expect(spec.checkpoint.interval_ms).toBe(60_000);
  expect(spec.sink.event_bus_enabled).toBe(true);
});

test('an alias stands for the value of its anchor', async () => {
  const { spec } = await load(`
x-columns: &columns { id: long }
pipeline_id: p
source:
  source_type: debezium_json
  path: f
  tables:
    - { table: a.b, primary_key: [id], columns: *columns }
    - { table: a.c, primary_key: [id], columns: *columns }
`);
  expect(spec.source.tables[1]?.columns).toEqual({ id: { type: 'long' } });
});

test('notices tell of tables without a mapping, names without a dot and columns out of order', async () => {
  const { notices } = await load(`
pipeline_id: p
source:
  source_type: debezium_json
  path: f
  tables: [a.items, a.other, { table: a.x, columns: { name: string, 1: int } }]
processing:
  schema_mapping:
    a.items: { target_object_type_rid: ri.type.Item, primary_key_field: id, field_mappings: { id: {} } }
`);
  expect(notices.map((notice) => notice.message)).toEqual([
    'skipped, because no mapping covers them: a.other, a.x',
    'columns whose names are whole numbers come first in their table',
  ]);
  const dotless = await load(
    'pipeline_id: p\nsource: { source_type: debezium_json, path: f, tables: [{ table: orders, primary_key: [id] }] }',
  );
  expect(dotless.notices[0]?.message).toContain('"orders" has no dot');
});

test('a bigint is fine as a default value and typed elsewhere', () => {
  const field_mappings = { a: { default_value: 9007199254740993n as unknown as number } };
  const { spec } = resolvePipeline({
    pipeline_id: 'p',
    source: { source_type: 'debezium_json', path: 'f' },
    processing: {
      schema_mapping: {
        'a.b': { target_object_type_rid: 'ri.type.T', primary_key_field: 'a', field_mappings },
      },
    },
  });
  expect(spec.processing.schema_mapping?.[0]?.field_mappings[0]?.default_value).toBe(
    '9007199254740993',
  );
});

test('a file that cannot be read is told apart from one that is wrong', async () => {
  const missing = await loadPipeline(join(dir, 'none.yaml')).catch((error: unknown) => error);
  expect(isPipelineError(missing, 'E_CONFIG_FILE')).toBe(true);
  const folder = await loadPipeline(dir).catch((error: unknown) => error);
  expect(isPipelineError(folder, 'E_CONFIG_FILE')).toBe(true);
  await writeFile(join(dir, 'latin.yaml'), Buffer.from([0x70, 0x3a, 0x20, 0xe9]));
  const latin = await loadPipeline(join(dir, 'latin.yaml')).catch((error: unknown) => error);
  expect(isPipelineError(latin, 'E_CONFIG_SYNTAX')).toBe(true);
  await writeFile(join(dir, 'large.yaml'), Buffer.alloc(9 * 1024 * 1024, ' '));
  const large = await loadPipeline(join(dir, 'large.yaml')).catch((error: unknown) => error);
  expect(isPipelineError(large, 'E_CONFIG_FILE')).toBe(true);
});
