/** No secret stands in an error: not a referenced value, not a value of a secret or unknown key, not a comment. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { ConfigError, formatProblems } from './config-error.ts';
import { loadPipeline, resolvePipeline } from './load.ts';

const CANARY = 'hunter2-canary';

let dir = '';
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'lakeward-secrets-'));
  await writeFile(join(dir, 'secret'), CANARY);
});
afterAll(() => rm(dir, { recursive: true }));

/** All that a caller could print of the error. */
async function printed(text: string): Promise<string> {
  const path = join(dir, 'pipeline.yaml');
  await writeFile(path, text);
  const env = { CANARY };
  const error = await loadPipeline(path, { env }).catch((thrown: unknown) => thrown);
  if (!(error instanceof ConfigError)) return '';
  const report = formatProblems(error.problems, { color: true });
  return [
    report,
    error.message,
    String(error),
    inspect(error, { depth: 9 }),
    JSON.stringify(error),
  ].join('\n');
}

const FULL = {
  version: 1,
  pipeline_id: 'p',
  display_name: 'n',
  engine: 'embedded',
  source: {
    source_type: 'debezium_json',
    path: 'f',
    watch: false,
    on_truncate: 'apply',
    hostname: 'h',
    port: 5,
    password_secret_ref: 'r',
    tables: [
      'a.x',
      {
        table: 'a.b',
        primary_key: ['id'],
        columns: { id: 'long', at: { type: 'date', from: 'iso' } },
      },
    ],
  },
  processing: {
    schema_mapping: {
      'a.b': {
        source_table: 'a.b',
        target_object_type_rid: 'ri.type.T',
        primary_key_field: 'id',
        rid_template: '{pk}',
        target_table: 't',
        field_mappings: {
          id: {
            source_column: 'id',
            target_property: 'p',
            type_conversion: 'to_int',
            default_value: 1,
            nullable: true,
          },
          other: { target_property: 'q' },
        },
      },
      'a.x': {
        target_object_type_rid: 'ri.type.T',
        target_table: 't',
        primary_key_field: 'id',
        field_mappings: { z: {} },
      },
    },
    cleansing: { trim: true, null_tokens: ['-'] },
    deduplication: { enabled: true, window_ms: 1 },
    filter: { 'a.b': 'x > 1' },
    routes: [{ source_table: 'a.b', when: 'x', target_table: 't' }],
  },
  sink: {
    iceberg_enabled: true,
    iceberg_catalog: 'hadoop',
    iceberg_warehouse: 'w',
    iceberg: { namespace: 'n', delete_mode: 'equality' },
    doris_enabled: false,
    doris_fe_endpoints: ['x'],
    event_bus: { path: 'e' },
  },
  checkpoint: { interval_ms: 1, state_dir: 's', max_bytes: 1 },
  error_handling: { max_retries: 1, skip_corrupted: true, dead_letter_topic: 't' },
};

type Path = readonly (string | number)[];

function leafPaths(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([key, child]) =>
    leafPaths(child, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}

function withValue(value: unknown, path: Path, put: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return put;
  if (Array.isArray(value))
    return value.map((item, index) =>
      index === step ? withValue(item, rest, put) : (item as unknown),
    );
  return {
    ...(value as object),
    [step]: withValue((value as Record<string, unknown>)[step], rest, put),
  };
}

test('a referenced value never stands in an error, wherever the reference is', async () => {
  let refused = 0;
  for (const reference of ['${env:CANARY}', '${file:secret}', 'x${env:NONE:-hunter2-canary}.{y}']) {
    for (const path of leafPaths(FULL)) {
      const text = await printed(
        stringify({ ...(withValue(FULL, path, reference) as object), bogus: 1 }),
      );
      refused += text === '' ? 0 : 1;
      expect({ path, leaks: text.includes(CANARY) }).toEqual({ path, leaks: false });
    }
  }
  expect(refused).toBe(3 * leafPaths(FULL).length);
});

test('an object of the library keeps referenced values out of its errors, too', () => {
  for (const path of leafPaths(FULL)) {
    const file = { ...(withValue(FULL, path, '${env:CANARY}') as object), bogus: 1 };
    const text = inspect(refusalOf(file), { depth: 9 });
    expect({ path, leaks: text.includes(CANARY) }).toEqual({ path, leaks: false });
  }
});

function refusalOf(file: unknown): unknown {
  try {
    return resolvePipeline(file as never, { env: { CANARY }, baseDir: dir });
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

test('a notice shows the reference to a name, not the name', () => {
  const { notices } = resolvePipeline(
    {
      pipeline_id: 'p',
      source: { source_type: 'debezium_json', path: 'f', tables: ['a.b', '${env:NAME}'] },
      processing: {
        schema_mapping: {
          'a.b': { target_object_type_rid: 't', primary_key_field: 'i', field_mappings: { i: {} } },
        },
      },
    },
    { env: { NAME: `a.${CANARY}` } },
  );
  expect(notices).toHaveLength(1);
  expect(notices[0]?.message).toBe('skipped, because no mapping covers them: ${env:NAME}');
});

const HEAD = 'pipeline_id: p\nsource:\n  source_type: debezium_json\n  path: f\n';

test.each([
  ['a misspelt secret', `${HEAD}  pasword: ${CANARY}\n`],
  ['a secret before a mistake', `${HEAD}  password_secret_ref: ${CANARY}\n  bogus: 1\n`],
  ['a secret that is a number', `${HEAD}  password_secret_ref: 5\n  bogus: ${CANARY}\n`],
  ['a secret that is a block', `${HEAD}  password_secret_ref:\n    inner: ${CANARY}\n`],
  ['an unknown block', `${HEAD}  auth:\n    user: ${CANARY}\n    list: [${CANARY}]\n  bogus: 1\n`],
  ['an unknown block scalar', `${HEAD}  pem: |\n    ${CANARY}\n  bogus: 1\n`],
  ['a quoted unknown value', `${HEAD}  pw: "a\n    ${CANARY}"\n  bogus: 1\n`],
  ['a block where a text belongs', `${HEAD}  hostname: { token: ${CANARY} }\n`],
  ['a comment', `${HEAD}  port: x # ${CANARY}\n`],
  ['a comment above', `${HEAD}  # ${CANARY}\n  port: x\n`],
  ['a comment in braces', `${HEAD}  tables: [ # ${CANARY}\n   5 ]\n`],
  ['a comment after a block header', `${HEAD}  port: | # ${CANARY}\n    h\n`],
  ['a value glued to its key', `${HEAD}  password:${CANARY}: x\n`],
  ['a value glued to its key in braces', `pipeline_id: p\nsource: {password:${CANARY}}\n`],
  ['a free key', `x-secret: ${CANARY}\nbogus: 1\n${HEAD}`],
  ['credentials in a URL', `${HEAD}  hostname: https://user:${CANARY}@host/\n  bogus: 1\n`],
  ['a default of a reference', `${HEAD}  hostname: \${env:H:-${CANARY}}\n  bogus: 1\n`],
  [
    'a column that is a secret',
    `${HEAD}  tables: [{table: a.b, primary_key: [x], columns: {password: ${CANARY}}}]\n`,
  ],
  ['enrichment', `${HEAD}processing:\n  enrichment: { key: ${CANARY} }\n`],
  ['a key that stands there twice', `${HEAD}  pasword: a\n  pasword: ${CANARY}\n`],
  ['an unclosed quote', `${HEAD}  pasword: "${CANARY}\n`],
  ['an unclosed brace', `${HEAD}  pasword: { a: ${CANARY}\nx: 1`],
  ['a tab', `${HEAD}  pasword: a\n\t${CANARY}\n`],
  ['a stray text', `${HEAD}  pasword: a\n ${CANARY}\n b: 1\n`],
  ['an unknown alias', `${HEAD}  pasword: *${CANARY}\n`],
  ['a tag', `${HEAD}  pasword: !${CANARY} x\n`],
  ['an escape', `${HEAD}  pasword: "\\q${CANARY}"\n`],
  ['a multi-line mess', `${HEAD}  pasword: |\n   ${CANARY}\n  ${CANARY}\n`],
])('%s is not printed', async (_what, text) => {
  const report = await printed(text);
  expect(report).not.toBe('');
  expect(report).not.toContain(CANARY);
});

test('text that is no YAML never shows more than keys', async () => {
  const parts = fc.constantFrom(
    CANARY,
    ': ',
    '\n',
    '  ',
    '"',
    "'",
    '{',
    '}',
    '[',
    '- ',
    '|',
    '#',
    '&a ',
    '*a',
    '\t',
    'key',
    '!t ',
    '---',
    ',',
    '? ',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(parts, { maxLength: 14 }), async (words) => {
      const text = await printed(`pipeline_id: p\nsource:\n  pasword: ${words.join('')}`);
      // A key of the file may be shown; the canary stands there as a key only when a colon follows it.
      const isKey = /hunter2-canary\s*["'}\]]*\s*:/u.test(words.join(''));
      expect(isKey || !text.includes(CANARY)).toBe(true);
    }),
    { numRuns: 150 },
  );
});
