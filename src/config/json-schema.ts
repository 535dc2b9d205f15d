/**
 * The JSON Schema (draft 2020-12) of the pipeline file, for editors. It takes what the loader takes: a known key may
 * be left empty, and a reference may stand where the value has another type or form.
 */
import { z } from 'zod';
import { pipelineSchema } from './schema.ts';

type Json = { [key: string]: unknown };

const REFERENCE = { type: 'string', pattern: '\\$\\{(env|file|k8s):' } as const;

/** What describes a key stays outside of its alternatives. */
const ABOUT = new Set(['description', 'examples', 'default', 'title']);

export function pipelineJsonSchema(): Json {
  const generated = z.toJSONSchema(pipelineSchema, {
    io: 'input',
    target: 'draft-2020-12',
  }) as Json;
  const { $schema, ...schema } = generated;
  return {
    $schema,
    title: 'Lakeward pipeline',
    description:
      'A pipeline file of Lakeward. Keys that begin with "x-" are free for your own use.',
    ...loosened(schema),
    patternProperties: { '^x-': {} },
  };
}

function loosened(schema: Json): Json {
  const parts = Object.entries(schema).map(([key, value]) => [
    key,
    loosenedPart(key, value, schema),
  ]);
  return Object.fromEntries(parts) as Json;
}

function loosenedPart(key: string, value: unknown, parent: Json): unknown {
  if (key === 'properties') {
    const required = (parent['required'] ?? []) as readonly string[];
    const properties = Object.entries(value as Record<string, Json>).map(([name, child]) => {
      const open = orReference(loosened(child));
      return [name, required.includes(name) ? open : orNull(open)];
    });
    return Object.fromEntries(properties) as Json;
  }
  if (key === 'items' || (key === 'additionalProperties' && typeof value === 'object'))
    return orReference(loosened(value as Json));
  return key === 'anyOf' ? (value as Json[]).map(loosened) : value;
}

/** Texts without a pattern take a reference as they are, lists and maps never do. */
function orReference(schema: Json): Json {
  const isScalar = ['integer', 'number', 'boolean', 'string'].includes(String(schema['type']));
  if (isScalar && schema['type'] !== 'string') return withAlternative(schema, REFERENCE);
  if (isScalar && ('enum' in schema || 'pattern' in schema))
    return withAlternative(schema, REFERENCE);
  return schema;
}

function orNull(schema: Json): Json {
  const isPlain = typeof schema['type'] === 'string' && !('const' in schema) && !('enum' in schema);
  if (isPlain) return { ...schema, type: [schema['type'], 'null'] };
  return 'type' in schema || 'anyOf' in schema ? withAlternative(schema, { type: 'null' }) : schema;
}

function withAlternative(schema: Json, other: Json): Json {
  const about = Object.entries(schema).filter(([key]) => ABOUT.has(key));
  const others = Object.entries(schema).filter(([key]) => !ABOUT.has(key));
  const rest: Json = Object.fromEntries(others);
  const own = 'anyOf' in rest ? (rest['anyOf'] as Json[]) : [rest];
  return { ...Object.fromEntries(about), anyOf: [...own, other] };
}
