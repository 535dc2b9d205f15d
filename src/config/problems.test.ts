import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Problem } from './config-error.ts';
import { ConfigError, formatProblems } from './config-error.ts';
import { loadPipeline, resolvePipeline } from './load.ts';

let dir = '';
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'lakeward-problems-'));
});
afterAll(() => rm(dir, { recursive: true }));

async function problemsOf(text: string): Promise<readonly Problem[]> {
  const path = join(dir, 'pipeline.yaml');
  await writeFile(path, text);
  const error = await loadPipeline(path, { env: {} }).catch((thrown: unknown) => thrown);
  if (!(error instanceof ConfigError))
    throw new Error('the file was not refused', { cause: error });
  return error.problems.map((problem) => ({ ...problem, file: 'pipeline.yaml' }));
}

const report = async (text: string): Promise<string> => formatProblems(await problemsOf(text));

/** `line:column CODE message`, the short form. */
async function briefly(text: string): Promise<readonly string[]> {
  const problems = await problemsOf(text);
  return problems.map(({ line, column, code, path, message, suggestion }) => {
    const hint = suggestion === undefined ? '' : ` → ${suggestion}`;
    return `${line}:${column} ${code} ${path === '' ? '' : `${path}: `}${message}${hint}`;
  });
}

test('all problems of a file come in one go, in its order, with their places', async () => {
  const text = await report(`pipeline_id: factory
source:
  source_type: debezium_jsn
  path: feed/*.jsonl
  max_nestng: 5
  tables:
    - shop.orders
    - table: shop.items
      primary_key: [idd]
      columns:
        id: lng
        price: decimal(40,2)
        at: {type: timestamptz, form: epoch_ms}
        day: {type: date, from: epoch_ms}
interval_ms: 5
checkpoint:
  interval_ms: -1
sink:
  iceberg_catalog: nessie
`);
  expect(text).toMatchInlineSnapshot(`
    "pipeline.yaml:3:16  error E_CONFIG_VALUE  source.source_type: "debezium_jsn" is not known
      2 │ source:
      3 │   source_type: debezium_jsn
        │                ^^^^^^^^^^^^ did you mean "debezium_json"?  (mysql, mariadb, postgresql, oracle, mongodb, sqlserver, debezium_json, debezium_avro, kafka)
    pipeline.yaml:5:3  error E_CONFIG_UNKNOWN_KEY  source: unknown key "max_nestng"
      4 │   path: feed/*.jsonl
      5 │   max_nestng: •••
        │   ^^^^^^^^^^ did you mean "max_nesting"?
    pipeline.yaml:7:7  error E_TABLE_NO_KEY  source.tables[0]: "shop.orders" has neither a key nor a mapping: write "- {table: shop.orders, primary_key: [id]}", with its key columns
      6 │   tables:
      7 │     - shop.orders
        │       ^^^^^^^^^^^
    pipeline.yaml:9:21  error E_COLUMN_UNKNOWN  source.tables[1].primary_key[0]: key column "idd" is not in the table's columns
      8 │     - table: shop.items
      9 │       primary_key: [idd]
        │                     ^^^ did you mean "id"?
    pipeline.yaml:11:13  error E_CONFIG_VALUE  source.tables[1].columns.id: "lng" is not a type word
      10 │       columns:
      11 │         id: lng
         │             ^^^ did you mean "long"?  (boolean, int, long, float, double, decimal(18,2), date, time, timestamp, timestamptz, string, uuid, binary, fixed[16])
    pipeline.yaml:12:16  error E_CONFIG_VALUE  source.tables[1].columns.price: "decimal(40,2)": a decimal has a precision of 1 to 38
      11 │         id: lng
      12 │         price: decimal(40,2)
         │                ^^^^^^^^^^^^^
    pipeline.yaml:13:33  error E_CONFIG_UNKNOWN_KEY  source.tables[1].columns.at: unknown key "form"
      12 │         price: decimal(40,2)
      13 │         at: {type: timestamptz, form: •••}
         │                                 ^^^^ did you mean "from"?  (type, from)
    pipeline.yaml:14:33  error E_CONFIG_VALUE  source.tables[1].columns.day.from: "epoch_ms" does not fit date
      13 │         at: {type: timestamptz, form: •••}
      14 │         day: {type: date, from: epoch_ms}
         │                                 ^^^^^^^^ (epoch_day, iso)
    pipeline.yaml:15:1  error E_CONFIG_UNKNOWN_KEY  unknown key "interval_ms"; it belongs under checkpoint
      14 │         day: {type: date, from: epoch_ms}
      15 │ interval_ms: •••
         │ ^^^^^^^^^^^
    pipeline.yaml:17:16  error E_CONFIG_VALUE  checkpoint.interval_ms: expected a whole number from 0 to 2147483647, found -1
      16 │ checkpoint:
      17 │   interval_ms: -1
         │                ^^
    pipeline.yaml:19:20  error E_CONFIG_UNSUPPORTED  sink.iceberg_catalog: "nessie" is not supported: this version writes the hadoop catalog (tables are folders of the warehouse); leave iceberg_catalog out, or set it to hadoop
      18 │ sink:
      19 │   iceberg_catalog: nessie
         │                    ^^^^^^
    11 errors in pipeline.yaml"
  `);
});

test('a mistake in a mapping is told where it stands', async () => {
  const text = await report(`pipeline_id: p
source:
  source_type: debezium_json
  path: f
  tables: [{ table: shop.items, columns: { id: long, price: long, raw: binary, d: { type: date, from: epoch_day } } }]
processing:
  schema_mapping:
    shop.itemz:
      target_object_type_rid: ri.type.Item
      primary_key_field: id
      field_mappings: { id: {} }
    shop.items:
      target_object_type_rid: ri.type.Item
      primary_key_field: idd
      rid_template: ri.{type}.x
      field_mappings:
        id: { target_property: code }
        price: { target_property: Code, type_conversion: to_int, default_value: 42.9 }
        prize: { target_property: rid }
        raw: { type_conversion: to_int }
        d: { type_conversion: epoch_ms_to_datetime }
`);
  expect(text).toMatchInlineSnapshot(`
    "pipeline.yaml:8:5  error E_CONFIG_VALUE  processing.schema_mapping["shop.itemz"]: "shop.itemz" is mapped, but source.tables does not list it
      7 │   schema_mapping:
      8 │     shop.itemz:
        │     ^^^^^^^^^^ did you mean "shop.items"?
    pipeline.yaml:13:7  error E_TARGET_MISMATCH  processing.schema_mapping["shop.items"].target_object_type_rid: two mappings write one table with different columns: their target properties are not the same (the other is mapping "shop.itemz"); give one another target_table
      12 │     shop.items:
      13 │       target_object_type_rid: ri.type.Item
         │       ^^^^^^^^^^^^^^^^^^^^^^
    pipeline.yaml:14:26  error E_COLUMN_UNKNOWN  processing.schema_mapping["shop.items"].primary_key_field: "idd" is not in the table's columns (source.tables)
      13 │       target_object_type_rid: ri.type.Item
      14 │       primary_key_field: idd
         │                          ^^^ did you mean "id"?
    pipeline.yaml:15:21  error E_CONFIG_VALUE  processing.schema_mapping["shop.items"].rid_template: {type} is not a placeholder here
      14 │       primary_key_field: idd
      15 │       rid_template: ri.{type}.x
         │                     ^^^^^^^^^^^ ({object_type}, {pk})
    pipeline.yaml:18:35  error E_CONFIG_VALUE  processing.schema_mapping["shop.items"].field_mappings.price: target property "Code" differs from that of field "id" only in case; readers of Iceberg tables take them for one
      17 │         id: { target_property: code }
      18 │         price: { target_property: Code, type_conversion: to_int, default_value: 42.9 }
         │                                   ^^^^
    pipeline.yaml:18:81  error E_CONFIG_VALUE  processing.schema_mapping["shop.items"].field_mappings.price.default_value: default value 42.9 is not a whole number, so to_int cannot convert it
      17 │         id: { target_property: code }
      18 │         price: { target_property: Code, type_conversion: to_int, default_value: 42.9 }
         │                                                                                 ^^^^
    pipeline.yaml:19:9  error E_COLUMN_UNKNOWN  processing.schema_mapping["shop.items"].field_mappings.prize: "prize" is not in the table's columns (source.tables)
      18 │         price: { target_property: Code, type_conversion: to_int, default_value: 42.9 }
      19 │         prize: { target_property: rid }
         │         ^^^^^ did you mean "price"?
    pipeline.yaml:19:35  error E_CONFIG_VALUE  processing.schema_mapping["shop.items"].field_mappings.prize: target property "rid" is taken: "rid" is the key column of mapped tables
      18 │         price: { target_property: Code, type_conversion: to_int, default_value: 42.9 }
      19 │         prize: { target_property: rid }
         │                                   ^^^
    pipeline.yaml:20:33  error E_CONFIG_VALUE  processing.schema_mapping["shop.items"].field_mappings.raw.type_conversion: "to_int" cannot take a binary column
      19 │         prize: { target_property: rid }
      20 │         raw: { type_conversion: to_int }
         │                                 ^^^^^^
    pipeline.yaml:21:31  error E_CONFIG_VALUE  processing.schema_mapping["shop.items"].field_mappings.d.type_conversion: "epoch_ms_to_datetime" cannot take a date column read from epoch_day
      20 │         raw: { type_conversion: to_int }
      21 │         d: { type_conversion: epoch_ms_to_datetime }
         │                               ^^^^^^^^^^^^^^^^^^^^
    10 errors in pipeline.yaml"
  `);
});

test('two mappings of one table with different columns are refused at the second', async () => {
  const mapping = (column: string, conversion: string): string =>
    `{ target_object_type_rid: ri.type.Pump, primary_key_field: id, field_mappings: { ${column}: { ${conversion} } } }`;
  const file = (second: string, sink = ''): string => `pipeline_id: p
source: { source_type: debezium_json, path: f }
${sink}
processing:
  schema_mapping:
    a.pumps: ${mapping('id', 'type_conversion: to_int')}
    ${second}
`;
  expect(await briefly(file(`a.others: ${mapping('name', '')}`))).toEqual([
    '7:17 E_TARGET_MISMATCH processing.schema_mapping["a.others"].target_object_type_rid: two mappings write one table with different columns: their target properties are not the same (the other is mapping "a.pumps"); give one another target_table',
  ]);
  expect(await briefly(file(`a.others: ${mapping('id', 'type_conversion: to_string')}`))).toEqual([
    '7:17 E_TARGET_MISMATCH processing.schema_mapping["a.others"].target_object_type_rid: two mappings write one table with different columns: a property is string in one and long in the other (the other is mapping "a.pumps"); give one another target_table',
  ]);
  const elsewhere = `b.others: ${mapping('name', '')}`;
  expect(await briefly(file(`${elsewhere}\n    b.other: 5`))).toHaveLength(1);
  expect(await briefly(file(elsewhere, 'sink: { iceberg: { namespace: lake } }'))).toHaveLength(1);
});

test.each([
  ['', '1:1 E_CONFIG_SYNTAX the file is empty; a pipeline needs at least pipeline_id and source'],
  [
    '# only a comment\n',
    '1:1 E_CONFIG_SYNTAX the file is empty; a pipeline needs at least pipeline_id and source',
  ],
  ['- a\n- b\n', '1:1 E_CONFIG_SYNTAX the file must hold keys with values, found a list'],
  ['text', '1:1 E_CONFIG_SYNTAX the file must hold keys with values, found one text'],
  ['pipeline_id: a\npipeline_id: b\n', '2:1 E_CONFIG_SYNTAX this key stands there twice'],
  ['source:\n\tpath: x\n', '2:1 E_CONFIG_SYNTAX a tab cannot indent; use spaces'],
  [
    'pipeline_id: "a\n',
    '2:1 E_CONFIG_SYNTAX a character is missing here, such as a closing quote, brace or bracket, or the colon after a key',
  ],
  [
    'pipeline_id: *none\n',
    '1:14 E_CONFIG_SYNTAX pipeline_id: an alias (*name) has no anchor (&name) before it',
  ],
  ['pipeline_id: !!js/eval x\n', '1:14 E_CONFIG_SYNTAX tags (!name) are not supported'],
  [
    'a: 1\n---\nb: 2\n',
    '2:1 E_CONFIG_SYNTAX a pipeline file holds one document; remove what follows "---"',
  ],
  ['__proto__: {}\n', '1:1 E_CONFIG_SYNTAX the name __proto__ is not supported'],
  [
    'a: &a { b: 1 }\nc: { <<: *a }\n',
    '2:6 E_CONFIG_SYNTAX c: merge keys (<<) are not supported; repeat the keys, or use an alias for the value',
  ],
  ['? [a, b]\n: c\n', '1:3 E_CONFIG_SYNTAX a key must be a text'],
])('the text %j is refused with a reason', async (text, expected) => {
  expect((await briefly(text))[0]).toBe(expected);
});

test('a reference in braces without quotes is explained, once', async () => {
  const problems = await briefly('pipeline_id: p\nsource: { path: ${env:P}, watch: true }\n');
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain('inside braces or brackets, a ${…} needs quotes');
});

test('aliases of aliases end at a bound, and deep nesting does, too', async () => {
  const lines = ['l0: &l0 [x, x, x, x, x, x, x, x, x, x]'];
  for (let level = 1; level < 9; level += 1)
    lines.push(
      `l${level}: &l${level} [${Array(10)
        .fill(`*l${level - 1}`)
        .join(', ')}]`,
    );
  const bomb = await briefly(lines.join('\n'));
  expect(bomb[0]).toMatch(/^1:1 E_CONFIG_SYNTAX the file is nested deeper than/u);
  const deep = await briefly(`a: ${'['.repeat(5000)}${']'.repeat(5000)}`);
  expect(deep[0]).toMatch(/E_CONFIG_SYNTAX the file is nested too deep/u);
  const self = await briefly('a: &a [*a]\n');
  expect(self[0]).toMatch(/E_CONFIG_SYNTAX/u);
});

const withLine = (line: string): string =>
  `pipeline_id: p\nsource: { source_type: debezium_json, path: f }\n${line}\n`;

test.each([
  ['version: 2', '3:10 E_CONFIG_VALUE version: expected 1, found 2'],
  [
    'engine: flink',
    '3:9 E_CONFIG_UNSUPPORTED engine: "flink" is not supported: this version runs pipelines on the embedded engine; leave engine out, or set it to embedded',
  ],
  [
    'sink: { iceberg_catalog: glue }',
    '3:26 E_CONFIG_VALUE sink.iceberg_catalog: "glue" is not known',
  ],
  [
    'sink: { iceberg: { delete_mode: position } }',
    '3:33 E_CONFIG_UNSUPPORTED sink.iceberg.delete_mode: "position" is not supported: this version writes equality deletes; leave delete_mode out, or set it to equality',
  ],
  [
    'sink: { iceberg: { namespace: a.b } }',
    '3:31 E_CONFIG_VALUE sink.iceberg.namespace: "a.b" is not one namespace: no dots, slashes or control characters',
  ],
  [
    'sink: { iceberg_warehouse: "s3://b/w" }',
    '3:28 E_CONFIG_UNSUPPORTED sink.iceberg_warehouse: s3:// is not supported in this version; give a local path or a file: URI',
  ],
  [
    'sink: { iceberg_warehouse: "file:w" }',
    '3:28 E_CONFIG_VALUE sink.iceberg_warehouse: a file: URI is absolute and has no host, such as file:///data/feed',
  ],
  [
    'sink: { doris_enabled: true }',
    '3:24 E_CONFIG_UNSUPPORTED sink.doris_enabled: Doris is not supported: this version writes Iceberg and the event log; set doris_enabled to false',
  ],
  [
    'sink: { doris_fe_endpoints: ["fe:8030"] }',
    '3:29 E_CONFIG_UNSUPPORTED sink.doris_fe_endpoints: Doris is not supported: this version writes Iceberg and the event log; set doris_enabled to false',
  ],
  [
    'sink: { iceberg_enabled: false, event_bus_enabled: false }',
    '3:1 E_CONFIG_VALUE sink: nothing would be written: iceberg_enabled and event_bus_enabled are both false',
  ],
  [
    'sink: { iceberg_enabled: false }',
    '3:1 E_CONFIG_VALUE sink: nothing would be written: only mapped tables have events, and there is no schema_mapping',
  ],
  [
    'processing: { enrichment: { rules: [] } }',
    '3:15 E_CONFIG_UNSUPPORTED processing.enrichment: enrichment is not in this version; remove it, or join the tables when they are read',
  ],
  [
    'processing: { deduplication: { window_ms: 1, dedup_window_ms: 2 } }',
    '3:63 E_CONFIG_VALUE processing.deduplication.dedup_window_ms: dedup_window_ms is another spelling of window_ms; give one of them',
  ],
  [
    'processing: { schema_mapping: {} }',
    '3:31 E_CONFIG_VALUE processing.schema_mapping: a schema mapping without entries would skip every table; leave it out to mirror them as they are',
  ],
  [
    'processing: { cleansing: { null_tokens: [NULL] } }',
    '3:42 E_CONFIG_VALUE processing.cleansing.null_tokens[0]: expected text, found null; quote it if it is a text',
  ],
  [
    'processing: { filter: { orders: a > 1 } }',
    '3:25 E_CONFIG_VALUE processing.filter.orders: "orders" is not a table: a table is named "db.table", or "schema.table" where the envelope names a schema',
  ],
  [
    'processing: { routes: [{ source_table: a.b, target_table: "x.{tabel}" }] }',
    '3:59 E_CONFIG_VALUE processing.routes[0].target_table: {tabel} is not a placeholder here → table',
  ],
  [
    'processing: { routes: [{ source_table: a.b, target_table: x/y }] }',
    '3:59 E_CONFIG_VALUE processing.routes[0].target_table: "x/y": a target table’s name cannot hold slashes or control characters',
  ],
  [
    'checkpoint: { interval_ms: 1.5 }',
    '3:28 E_CONFIG_VALUE checkpoint.interval_ms: expected a whole number from 0 to 2147483647, found 1.5',
  ],
  [
    'checkpoint: { interval_ms: 60s }',
    '3:28 E_CONFIG_VALUE checkpoint.interval_ms: expected a whole number from 0 to 2147483647, found text',
  ],
  [
    'checkpoint: { interval_ms: 4294967296 }',
    '3:28 E_CONFIG_VALUE checkpoint.interval_ms: expected a whole number from 0 to 2147483647, found 4294967296',
  ],
  ['checkpoint: 5', '3:13 E_CONFIG_VALUE checkpoint: expected a map, found 5'],
  [
    'error_handling: { skip_corrupted: yes }',
    '3:35 E_CONFIG_VALUE error_handling.skip_corrupted: expected true or false, found text',
  ],
  [
    'display_name: ${X}',
    '3:15 E_CONFIG_VALUE display_name: ${X} is not a reference: write ${env:X} for the variable, or "$${" for a literal "${"',
  ],
  ['display_name: ${env:X}', '3:15 E_CONFIG_SECRET display_name: the variable X is not set'],
  [
    'checkpoint:\n  interval_ms: ${env:X}',
    '4:16 E_CONFIG_SECRET checkpoint.interval_ms: the variable X is not set',
  ],
  [
    'display_name: ${file:/none}',
    '3:15 E_CONFIG_SECRET display_name: the file of ${file:/none} cannot be read',
  ],
  [
    'display_name: ${k8s:a/b#c}',
    '3:15 E_CONFIG_SECRET display_name: the secret of ${k8s:a/b#c} is not mounted',
  ],
  [
    'display_name: ${k8s:a/../b#c}',
    '3:15 E_CONFIG_VALUE display_name: not a reference: write ${env:NAME}, ${env:NAME:-default}, ${file:/path} or ${k8s:namespace/name#key}, or "$${" for a literal "${"',
  ],
  [
    'display_name: "${env:X"',
    '3:15 E_CONFIG_VALUE display_name: a "${" is not closed with "}"; write "$${" for a literal one',
  ],
  [
    'checkpoint:\n  interval_ms: ${env:X:-soon}',
    '4:16 E_CONFIG_VALUE checkpoint.interval_ms: expected a whole number from 0 to 2147483647, found another value in ${env:X:-…}',
  ],
  ['pipelin_id: q', '3:1 E_CONFIG_UNKNOWN_KEY unknown key "pipelin_id" → pipeline_id'],
  ['tables: [a.b]', '3:1 E_CONFIG_UNKNOWN_KEY unknown key "tables"; it belongs under source'],
])('%s is refused', async (line, expected) => {
  expect(await briefly(withLine(line))).toEqual([expected]);
});

const withSource = (lines: string): string =>
  `pipeline_id: p\nsource:\n  source_type: debezium_json\n${lines}\n`;

test.each([
  [
    '',
    '2:1 E_CONFIG_VALUE source.path: debezium_json needs source.path: a file, a folder or a glob',
  ],
  [
    '  path: f\n  startup_mode: latest-offset',
    '5:17 E_CONFIG_UNSUPPORTED source.startup_mode: "latest-offset" is not supported: debezium_json reads a feed from its start; leave startup_mode out, or set it to initial',
  ],
  [
    '  path: f\n  tables: []',
    '5:11 E_CONFIG_VALUE source.tables: expected a list of at least one, found an empty list',
  ],
  [
    '  path: f\n  tables: [a.b]',
    '5:12 E_TABLE_NO_KEY source.tables[0]: "a.b" has neither a key nor a mapping: write "- {table: a.b, primary_key: [id]}", with its key columns',
  ],
  [
    '  path: f\n  tables: [{table: a.b, columns: {id: long}}]',
    '5:20 E_TABLE_NO_KEY source.tables[0]: "a.b" has neither a key nor a mapping: add "primary_key: [id]", with its key columns',
  ],
  [
    '  path: f\n  tables: [{table: a.b, primary_key: id}]',
    '5:38 E_CONFIG_VALUE source.tables[0].primary_key: expected a list of at least one, found text',
  ],
  [
    '  path: f\n  tables: [{table: a.b, primary_key: [x], columns: {x: double}}]',
    '5:39 E_KEY_TYPE source.tables[0].primary_key[0]: key column "x" is double, which cannot be a key',
  ],
  [
    '  path: f\n  tables: [{table: a.b, primary_key: [x, x]}]',
    '5:42 E_CONFIG_VALUE source.tables[0].primary_key[1]: "x" is in the key twice',
  ],
  [
    '  path: f\n  tables: [{table: a.b, primary_key: [X], columns: {X: int, x: int}}]',
    '5:61 E_CONFIG_VALUE source.tables[0].columns.x: column "x" differs from "X" only in case; readers of Iceberg tables take them for one',
  ],
  [
    '  path: f\n  tables: [{table: a.b, primary_key: [x], columns: {x: bigint}}]',
    '5:56 E_CONFIG_VALUE source.tables[0].columns.x: "bigint" is not a type word → long',
  ],
  [
    '  path: f\n  tables: [{table: a.b, primary_key: [x], columns: {x: {from: iso}}}]',
    '5:53 E_CONFIG_VALUE source.tables[0].columns.x.type: type is missing: expected a type word',
  ],
  [
    '  path: f\n  tables: [{table: a.b, primary_key: [x], columns: {x: {type: int, from: iso}}}]',
    '5:74 E_CONFIG_VALUE source.tables[0].columns.x.from: int has one form in the feed; leave "from" out',
  ],
  [
    '  path: f\n  tables: [{table: a.b, primary_key: [x], columns: {x: "decimal(5,6)"}}]',
    '5:56 E_CONFIG_VALUE source.tables[0].columns.x: "decimal(5,6)": the scale of a decimal is at most its precision',
  ],
  [
    '  path: f\n  tables: [{table: a.b, primary_key: [x]}, {table: a.b, primary_key: [x]}]',
    '5:52 E_CONFIG_VALUE source.tables[1]: "a.b" is listed twice',
  ],
  [
    '  path: f\n  tables: [{table: a.b, primary_key: [x]}, {table: c, primary_key: [x]}]',
    '5:52 E_CONFIG_VALUE source.tables[1]: "c" is not a table: a table is named "db.table", or "schema.table" where the envelope names a schema',
  ],
])('a source with %j is refused', async (lines, expected) => {
  expect(await briefly(withSource(lines))).toEqual([expected]);
});

test('a default must fit the column when nothing converts it', async () => {
  const file = (type: string): string => `pipeline_id: p
source: { source_type: debezium_json, path: f, tables: [{ table: a.b, columns: { x: ${type} } }] }
processing:
  schema_mapping:
    a.b:
      target_object_type_rid: ri.type.T
      primary_key_field: x
      field_mappings:
        x: { default_value: 1.5 }
`;
  expect(await briefly(file('long'))).toEqual([
    '9:29 E_CONFIG_VALUE processing.schema_mapping["a.b"].field_mappings.x.default_value: default value 1.5 is not a whole number, but the column is long',
  ]);
  // The engine reads such a default as it reads the column, so its text says nothing here.
  expect(await briefly(`${file('{ type: timestamptz, from: epoch_ms }')}bogus: 1\n`)).toHaveLength(
    1,
  );
});

test('a fault in an aliased value is told where the alias stands', async () => {
  const problems = await briefly('x-n: &n text\ncheckpoint:\n  interval_ms: *n\n');
  expect(problems.filter((line) => line.includes('interval_ms'))).toEqual([
    '3:16 E_CONFIG_VALUE checkpoint.interval_ms: expected a whole number from 0 to 2147483647, found text',
  ]);
});

test('a source type of a later version is refused with what works', async () => {
  expect(await briefly('pipeline_id: p\nsource: { source_type: mysql, hostname: h }\n')).toEqual([
    '2:24 E_CONFIG_UNSUPPORTED source.source_type: "mysql" is not read in this version; debezium_json is',
  ]);
});

test('what is missing is told at the block that lacks it', async () => {
  expect(await briefly('version: 1\n')).toEqual([
    '1:1 E_CONFIG_VALUE pipeline_id: pipeline_id is missing: expected a name of at most 63 letters, digits, ".", "_" and "-", beginning with a letter or digit',
    '1:1 E_CONFIG_VALUE source: source is missing: expected a map',
  ]);
});

test('one misspelt column does not cause a second problem', async () => {
  const problems = await briefly(`pipeline_id: p
source:
  source_type: debezium_json
  path: f
  tables: [{ table: a.b, columns: { id: lnog } }]
processing:
  schema_mapping:
    a.b: { target_object_type_rid: ri.type.T, primary_key_field: id, field_mappings: { id: {} } }
`);
  expect(problems).toEqual([
    '5:41 E_CONFIG_VALUE source.tables[0].columns.id: "lnog" is not a type word → long',
  ]);
});

test('the error carries the first problem, and an object has paths instead of lines', () => {
  const error = refusalOf({ pipeline_id: '', source: { source_type: 'debezium_json', pth: 'f' } });
  const { code, message, problems, subject } = error;
  expect(code).toBe('E_CONFIG_VALUE');
  expect(subject).toEqual({});
  expect(message).toMatch(/^pipeline_id: expected a name of at most 63 .* \(and 2 more\)$/u);
  expect(problems.map(({ path }) => path)).toEqual(['pipeline_id', 'source', 'source.path']);
  expect(formatProblems(problems)).toContain('source: unknown key "pth" — did you mean "path"?');
});

function refusalOf(file: unknown): ConfigError {
  try {
    resolvePipeline(file as never);
  } catch (error) {
    if (error instanceof ConfigError) return error;
  }
  throw new Error('the object was not refused');
}

test.each([
  [() => 5, 'expected plain data'],
  [new Date(0), 'expected plain data'],
  [JSON.parse('{"__proto__": 1}') as unknown, 'the name __proto__ is not supported'],
  [[1], 'expected a map, found a list'],
  [5, 'expected a map, found 5'],
])('%o is no pipeline', (value, message) => {
  expect(() => resolvePipeline(value as never)).toThrow(message);
});

test('colours are put on when asked for, and only then', async () => {
  const problems = await problemsOf('a: 1\n');
  const escape = String.fromCodePoint(27);
  expect(formatProblems(problems)).not.toContain(escape);
  expect(formatProblems(problems, { color: true })).toContain(escape);
});

test('carets stand under what they mean beside wide letters, and long lines are cut', async () => {
  const text = await report(
    withLine(`checkpoint: { state_dir: "${'é'.repeat(90)}𝄞", interval_ms: x }`),
  );
  expect(text).toMatchInlineSnapshot(`
    "pipeline.yaml:3:135  error E_CONFIG_VALUE  checkpoint.interval_ms: expected a whole number from 0 to 2147483647, found text
      3 │ …ééé𝄞", interval_ms: x }
        │                      ^
    1 error in pipeline.yaml"
  `);
});
