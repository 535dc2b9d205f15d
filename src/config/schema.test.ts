import { z } from 'zod';
import { expect, test } from 'vitest';
import { pipelineJsonSchema } from './json-schema.ts';
import { pipelineSchema } from './schema.ts';
import type { Schema } from './walk-schema.ts';
import { alternatives, defOf, hintOf, keysOf } from './walk-schema.ts';

/** Every key of every block, with its dotted path. */
function allKeys(schema: Schema, path = ''): [string, Schema][] {
  return keysOf(schema).flatMap(([key, child]) => {
    const own = path === '' ? key : `${path}.${key}`;
    return [
      [own, child] as [string, Schema],
      ...insideOf(child).flatMap((inner) => allKeys(inner, own)),
    ];
  });
}

function insideOf(schema: Schema): Schema[] {
  return [...alternatives(schema, 'map'), ...alternatives(schema, 'list')].flatMap((option) => {
    const def = defOf(option);
    if (def.type === 'record') return insideOf(def.valueType);
    if (def.type === 'array') return insideOf(def.element);
    return def.type === 'object' ? [option] : [];
  });
}

const KEYS = allKeys(pipelineSchema);

test('the walk finds the keys of blocks in maps and lists', () => {
  const paths = KEYS.map(([path]) => path);
  expect(paths).toContain('source.tables.columns.from');
  expect(paths).toContain('processing.schema_mapping.field_mappings.default_value');
  expect(paths.length).toBeGreaterThan(60);
});

test.each(KEYS)('%s has a description, and examples that its own schema takes', (_path, schema) => {
  const { description, examples } = (z.globalRegistry.get(schema) ?? {}) as {
    description?: string;
    examples?: unknown[];
  };
  expect(description).toMatch(/^[A-Z`*].*\.$/su);
  if (defOf(alternatives(schema, 'scalar')[0] ?? schema).type === 'unknown') return;
  expect(examples?.length).toBeGreaterThan(0);
  for (const example of examples ?? []) expect(z.safeParse(schema, example).success).toBe(true);
});

test('only keys with a default or a question mark may be left out', () => {
  const required = KEYS.filter(([, schema]) => !z.safeParse(schema, undefined).success).map(
    ([path]) => path,
  );
  expect(required).toEqual([
    'pipeline_id',
    'source',
    'source.source_type',
    'source.tables.table',
    'source.tables.columns.type',
    'processing.schema_mapping.target_object_type_rid',
    'processing.schema_mapping.field_mappings',
    'processing.schema_mapping.primary_key_field',
    'processing.routes.source_table',
    'processing.routes.target_table',
  ]);
});

test('the one secret of the model is marked as one', () => {
  expect(KEYS.filter(([, schema]) => hintOf(schema).secret).map(([path]) => path)).toEqual([
    'source.password_secret_ref',
  ]);
});

// The schema for editors, judged by a parser made from it.
const fromJson = z.fromJSONSchema(pipelineJsonSchema());
const base = { pipeline_id: 'p', source: { source_type: 'debezium_json', path: 'f' } };

test.each([
  ['the least', base],
  ['a reference for a number', { ...base, checkpoint: { interval_ms: '${env:MS}' } }],
  ['a reference for a word', { ...base, engine: '${env:ENGINE}' }],
  ['an empty key', { ...base, checkpoint: null, display_name: null, engine: null }],
  ['a free key', { ...base, 'x-mine': 1 }],
  [
    'a table',
    {
      ...base,
      source: {
        ...base.source,
        tables: ['a.b', { table: 'a.c', columns: { x: 'long', y: { type: 'date', from: 'iso' } } }],
      },
    },
  ],
])('the JSON Schema takes %s', (_what, file) => {
  expect(fromJson.safeParse(file).success).toBe(true);
});

test.each([
  ['an unknown key', { ...base, bogus: 1 }],
  ['an unknown key inside', { ...base, checkpoint: { bogus: 1 } }],
  ['a wrong word', { ...base, engine: 'spark' }],
  [
    'a wrong type word',
    { ...base, source: { ...base.source, tables: [{ table: 'a.c', columns: { x: 'lng' } }] } },
  ],
  ['a text for a number', { ...base, checkpoint: { interval_ms: '5' } }],
  ['a missing key', { source: base.source }],
])('the JSON Schema refuses %s', (_what, file) => {
  expect(fromJson.safeParse(file).success).toBe(false);
});

test('the JSON Schema is of draft 2020-12 and describes every key at the top', () => {
  const schema = pipelineJsonSchema();
  expect(schema['$schema']).toBe('https://json-schema.org/draft/2020-12/schema');
  const properties = schema['properties'] as Record<string, { description?: string }>;
  for (const key of Object.values(properties)) expect(key.description).toBeTypeOf('string');
  expect(schema['additionalProperties']).toBe(false);
});
