import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ConfigError } from './config-error.ts';
import { loadPipeline } from './load.ts';

let dir = '';
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'lakeward-unknown-'));
});
afterAll(() => rm(dir, { recursive: true }));

/** Every block of the file, in block style; `⟨…⟩` marks where a key may be put and how far it is indented. */
const TEMPLATE = `⟨0⟩pipeline_id: p
source:
  ⟨2⟩source_type: debezium_json
  path: f
  tables:
    - ⟨6⟩table: a.b
      primary_key: [id]
      columns:
        id: long
        at:
          ⟨10⟩type: date
processing:
  ⟨2⟩schema_mapping:
    a.b:
      ⟨6⟩target_object_type_rid: ri.type.T
      primary_key_field: id
      field_mappings:
        id:
          ⟨10⟩target_property: q
  cleansing:
    ⟨4⟩trim: true
  deduplication:
    ⟨4⟩enabled: true
  routes:
    - ⟨6⟩source_table: a.b
      target_table: t
sink:
  ⟨2⟩iceberg_enabled: true
  iceberg:
    ⟨4⟩namespace: n
  event_bus:
    ⟨4⟩path: e
checkpoint:
  ⟨2⟩interval_ms: 1
error_handling:
  ⟨2⟩max_retries: 1
`;
const PLACE = /⟨(\d+)⟩/gu;
const PLACES = [...TEMPLATE.matchAll(PLACE)];

/** Any name, but for the known ones, `x-` names and YAML's own characters, which the quotes below take care of. */
const unknownName = fc
  .oneof(fc.string({ minLength: 1 }), fc.stringMatching(/^[a-z_]{1,20}$/u))
  .filter(
    (name) =>
      name.isWellFormed() && !name.startsWith('x-') && !TEMPLATE.includes(name) && !KNOWN.has(name),
  );
const KNOWN = new Set(['version', 'engine', 'display_name', 'watch', '<<', '__proto__', '']);

test('an unknown key is refused at its very place, whatever its name and wherever it stands', async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.nat(PLACES.length - 1), unknownName, async (which, name) => {
      const place = PLACES[which];
      const indent = Number(place?.[1]);
      const before = TEMPLATE.slice(0, place?.index).replaceAll(PLACE, '');
      const after = TEMPLATE.slice(place?.index).replaceAll(PLACE, '');
      const path = join(dir, `${(run += 1)}.yaml`);
      await writeFile(path, `${before}${JSON.stringify(name)}: 1\n${' '.repeat(indent)}${after}`);
      const error = await loadPipeline(path, { env: {} }).catch((thrown: unknown) => thrown);
      if (!(error instanceof ConfigError)) throw new Error('the key was taken', { cause: error });
      const line = before.split('\n').length;
      expect(error.code).toBe('E_CONFIG_UNKNOWN_KEY');
      expect(error.problems.map((problem) => [problem.line, problem.column])).toEqual([
        [line, (before.split('\n').at(-1)?.length ?? 0) + 1],
      ]);
    }),
    { numRuns: 150 },
  );
});
