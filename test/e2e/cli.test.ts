import { appendFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCli, ended, folderOf, makeFolder, said, type Cli, type Ran } from './cli-process.ts';

let cli: Cli;
/** A workspace whose pipeline has run; for tests that only read. */
let shared: string;
beforeAll(async () => {
  cli = await startCli();
  shared = await makeFolder({ 'pipeline.yaml': PIPELINE, 'feed.jsonl': FEED });
  await cli.run(['run'], { cwd: shared });
});
afterAll(async () => {
  await cli.dispose();
  await rm(shared, { recursive: true });
});

const PIPELINE = `pipeline_id: shop
source:
  source_type: debezium_json
  path: ./feed.jsonl
  tables:
    - table: shop.orders
      primary_key: [id]
      columns: { id: long, customer: string, total: "decimal(18,2)", paid_at: { type: timestamptz, from: epoch_ms } }
`;

const source = { db: 'shop', table: 'orders' };
const line = (op: string, after: object | null, before: object | null = null): string =>
  `${JSON.stringify({ before, after, source, op, ts_ms: 1 })}\n`;
const BIG = '9007199254740993';
const FIRST = line('c', {
  id: 'BIG',
  customer: 'Ann, "the first"',
  total: '10.50',
  paid_at: 1_711_267_200_123,
}).replace('"BIG"', BIG);
const BAD = line('c', { id: 3, customer: 'x', total: 'n/a', paid_at: null });
const FEED = FIRST + line('c', { id: 2, customer: null, total: '7.00', paid_at: null }) + BAD;

const workspace = (feed = FEED, pipeline = PIPELINE): Promise<string> =>
  folderOf({ 'pipeline.yaml': pipeline, 'feed.jsonl': feed });
const json = ({ stdout }: Ran): unknown => JSON.parse(stdout);
const letters = async (cwd: string): Promise<{ id: string }[]> =>
  json(await cli.run(['dlq', 'list', '-o', 'json'], { cwd })) as { id: string }[];

/** A workspace whose pipeline has run. */
async function mirrored(feed?: string): Promise<string> {
  const cwd = await workspace(feed);
  expect((await cli.run(['run'], { cwd })).code).toBe(0);
  return cwd;
}

test('a bounded run ends by itself with 0 and says what it did', async () => {
  const cwd = await workspace();
  const { code, stdout, stderr } = await cli.run(['run', 'pipeline.yaml'], { cwd });
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^✔ shop: 2 changes, 1 checkpoint, [\d.]+ s \([\d,]+\/s\)\n {2}TABLE {8}ROWS WRITTEN {2}SNAPSHOTS\n {2}shop\.orders {13}2 {10}1\n {2}1 dead letter waits: lakeward dlq list pipeline\.yaml\n$/,
  );
  expect(stderr).toMatch(/^checkpoint 1: .*shop\.orders 2/);
});

test('run again, it does nothing twice and reads what was added', async () => {
  const cwd = await mirrored();
  expect(await cli.run(['run'], { cwd })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('✔ shop: nothing new since checkpoint 1'),
  });
  await appendFile(join(cwd, 'feed.jsonl'), line('d', null, { id: 2 }));
  const again = await cli.run(['run', '-o', 'json'], { cwd });
  expect(json(again)).toMatchObject({
    status: 'finished',
    changes: 1,
    checkpoints: 1,
    last_checkpoint: 2,
    dead_letters: 0,
    dead_letters_waiting: 1,
  });
});

test('run -o json gives one object on stdout', async () => {
  const result = json(await cli.run(['-o', 'json', 'run'], { cwd: await workspace() }));
  expect(result).toMatchObject({
    pipeline_id: 'shop',
    status: 'finished',
    changes: 2,
    tables: [{ table: 'shop.orders', rows: 2, snapshots: 1 }],
    dead_letters: 1,
    next: 'lakeward dlq list pipeline.yaml',
  });
});

test('--strict makes waiting dead letters exit code 3', async () => {
  const cwd = await workspace();
  expect((await cli.run(['run', '--strict'], { cwd })).code).toBe(3);
  expect((await cli.run(['run', '--strict'], { cwd })).code).toBe(3);
  expect((await cli.run(['dlq', 'discard', '--all', '--yes'], { cwd })).code).toBe(0);
  expect((await cli.run(['run', '--strict'], { cwd })).code).toBe(0);
});

test('-q leaves stderr and stdout empty when all is well', async () => {
  expect(await cli.run(['run', '-q'], { cwd: await workspace(FIRST) })).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  });
});

test('an invalid pipeline file exits with 65 and shows the place', async () => {
  const cwd = await workspace(FEED, PIPELINE.replace('source_type', 'sourc_type'));
  const human = await cli.run(['validate'], { cwd });
  expect(human).toMatchObject({ code: 65, stdout: '' });
  expect(human.stderr).toContain('pipeline.yaml:3:3');
  expect(human.stderr).toContain('E_CONFIG_UNKNOWN_KEY');
  expect(human.stderr).toContain('did you mean "source_type"?');
  const run = await cli.run(['run'], { cwd });
  expect(run).toMatchObject({ code: 65, stdout: '' });
  const machine = await cli.run(['validate', '-o', 'json'], { cwd });
  expect(machine).toMatchObject({ code: 65, stderr: '' });
  expect(json(machine)).toMatchObject([
    {
      file: 'pipeline.yaml',
      valid: false,
      problems: expect.arrayContaining([
        expect.objectContaining({ code: 'E_CONFIG_UNKNOWN_KEY', line: 3, column: 3 }),
      ]) as unknown,
    },
  ]);
});

test('validate passes over many files and fails when one is wrong', async () => {
  const cwd = await workspace();
  const { code, stdout, stderr } = await cli.run(['validate', 'pipeline.yaml', 'absent.yaml'], {
    cwd,
  });
  expect(code).toBe(65);
  expect(stdout).toBe('✔ pipeline.yaml: pipeline shop is valid\n');
  expect(stderr).toContain('E_CONFIG_FILE');
});

test.each([
  [['rnu'], "unknown command 'rnu' (Did you mean run?)"],
  [['run', '--strictt'], "unknown option '--strictt' (Did you mean --strict?)"],
  [['run', '-o', 'xml'], 'Allowed choices are table, json, ndjson, csv'],
  [['query'], "missing required argument 'sql'"],
  [['query', ' '], 'the query is empty'],
  [['query', 'SELECT 1'], 'there is no pipeline.yaml here'],
  [['query', 'SELECT 1', 'a.yaml', '--warehouse', '.'], 'name one warehouse, not 2'],
  [['query', 'SELECT 1', '--warehouse', '.', '--at', 'yesterday'], '--at yesterday is neither'],
  [['dlq', 'replay'], 'name the dead letters by their ids, or say --all'],
  [['dlq', 'replay', '--all', '00000000'], 'either ids or --all'],
  [['dlq'], 'Usage: lakeward dlq'],
])('%j is refused with 64', async (args, message) => {
  const { code, stdout, stderr } = await cli.run(args, { cwd: await folderOf({}) });
  expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
  expect(stderr).toContain(message);
});

test('with -o json an error is one JSON object on stderr', async () => {
  const { code, stdout, stderr } = await cli.run(['rnu', '-o', 'json']);
  expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
  expect(JSON.parse(stderr)).toEqual({
    code: 'E_USAGE',
    kind: 'config',
    message: expect.stringContaining('rnu'),
    subject: {},
    advice: expect.any(String),
  });
});

test('an error has a stack trace only with -v', async () => {
  const cwd = await folderOf({});
  const args = ['run', 'absent.yaml'];
  expect((await cli.run(args, { cwd })).stderr).not.toMatch(/^\s+at .*\.js:/mu);
  expect((await cli.run([...args, '-v'], { cwd })).stderr).toMatch(/^\s+at .*\.js:/mu);
});

test('a feed that is absent is a configuration error, a damaged one is unavailable', async () => {
  const absent = await folderOf({ 'pipeline.yaml': PIPELINE });
  expect(await cli.run(['run'], { cwd: absent })).toMatchObject({
    code: 65,
    stderr: expect.stringContaining('E_SOURCE_PATH'),
  });
  const retries = 'error_handling: { max_retries: 0 }\n';
  const damaged = await folderOf({
    'pipeline.yaml': PIPELINE.replace('feed.jsonl', 'feed.jsonl.gz') + retries,
    'feed.jsonl.gz': 'no gzip',
  });
  expect(await cli.run(['run'], { cwd: damaged })).toMatchObject({
    code: 69,
    stderr: expect.stringContaining('E_SOURCE_READ'),
  });
});

test('query gives longs and decimals in all their digits', async () => {
  const cwd = shared;
  const query = 'SELECT * FROM shop.orders ORDER BY id DESC';
  const inJson = await cli.run(['query', query, '-o', 'json'], { cwd });
  const row = `{"id":${BIG},"customer":"Ann, \\"the first\\"","total":"10.50","paid_at":"2024-03-24T08:00:00.123000Z"}`;
  expect(inJson).toEqual({
    code: 0,
    stdout: `[\n  ${row},\n  {"id":2,"customer":null,"total":"7.00","paid_at":null}\n]\n`,
    stderr: '',
  });
  expect((await cli.run(['query', query, '-o', 'ndjson'], { cwd })).stdout.split('\n')[0]).toBe(
    row,
  );
  const csv = await cli.run(['query', query, 'pipeline.yaml', '-o', 'csv'], { cwd });
  expect(csv.stdout).toBe(
    `id,customer,total,paid_at\n${BIG},"Ann, ""the first""",10.50,2024-03-24T08:00:00.123000Z\n2,,7.00,\n`,
  );
  const table = await cli.run(['query', '-', '-p', 'pipeline.yaml'], {
    cwd,
    stdin: 'SELECT id, total FROM orders',
  });
  expect(table.stdout).toBe(`              id  total\n${BIG}  10.50\n               2   7.00\n`);
  expect(table.stderr).toMatch(/^2 rows, [\d.]+ s\n$/);
});

test('query reads an earlier state with --at', async () => {
  const cwd = await mirrored();
  await appendFile(join(cwd, 'feed.jsonl'), line('d', null, { id: 2 }));
  expect((await cli.run(['run'], { cwd })).code).toBe(0);
  const snapshots = json(
    await cli.run(['catalog', 'snapshots', 'orders', '-o', 'json'], { cwd }),
  ) as { committed_at: string; operation: string; checkpoint_id: number; position: unknown }[];
  expect(
    snapshots.map(({ operation, checkpoint_id, position }) => ({
      operation,
      checkpoint_id,
      position,
    })),
  ).toEqual([
    {
      operation: 'delete',
      checkpoint_id: 2,
      position: expect.objectContaining({ file: 'feed.jsonl' }),
    },
    {
      operation: 'append',
      checkpoint_id: 1,
      position: expect.objectContaining({ file: 'feed.jsonl' }),
    },
  ]);
  const text = (await cli.run(['catalog', 'snapshots', 'orders', '-o', 'csv'], { cwd })).stdout;
  const oldest = text.trim().split('\n').at(-1)?.split(',')[0] ?? '';
  const count = async (at: string): Promise<string> =>
    (await cli.run(['query', 'SELECT count(*) n FROM orders', '--at', at, '-o', 'csv'], { cwd }))
      .stdout;
  expect(await count(oldest)).toBe('n\n2\n');
  expect(await count(snapshots[1]?.committed_at ?? '')).toBe('n\n2\n');
  expect(await count(snapshots[0]?.committed_at ?? '')).toBe('n\n1\n');
  expect(await cli.run(['query', 'FROM orders', '--at', '2001-01-01'], { cwd })).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('E_NOT_FOUND'),
  });
});

test.each([
  ['DROP VIEW orders', 'a query reads only'],
  ['WITH a AS (SELECT 1) DELETE FROM orders', 'E_QUERY'],
  ["COPY (SELECT 1) TO 'x.csv'", 'a query reads only'],
  ["SELECT * FROM read_text('/etc/hostname')", 'Cannot access file'],
  ['SELECT 1; SELECT 2', 'one statement at a time'],
  ['SELECT * FROM ordres', 'there is no table ordres'],
  ['SELECT * FROM ordres', 'did you mean orders?'],
  ['SELECT FROM WHERE', 'syntax error'],
])('the query %j is refused', async (query, message) => {
  const cwd = shared;
  const { code, stdout, stderr } = await cli.run(['query', query], { cwd });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(message);
});

test('a query cannot write by having itself explained', async () => {
  const cwd = await mirrored();
  const files = json(await cli.run(['catalog', 'files', 'orders', '-o', 'json'], { cwd })) as {
    path: string;
  }[];
  const path = files[0]?.path ?? '';
  const before = await readFile(path);
  const copy = `COPY (SELECT 1 AS a FROM orders) TO '${path}' (USE_TMP_FILE false)`;
  for (const query of [
    `EXPLAIN ANALYZE ${copy}`,
    `explain /* */ (analyze, format json) -- x\n${copy}`,
  ]) {
    expect(await cli.run(['query', query], { cwd })).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('reads only'),
    });
  }
  expect((await readFile(path)).equals(before)).toBe(true);
  const plan = await cli.run(['query', 'EXPLAIN SELECT count(*) FROM orders'], { cwd });
  expect(plan).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('│    UNGROUPED_AGGREGATE    │\n'),
  });
});

test('query sees every table with SHOW and DESCRIBE', async () => {
  const cwd = shared;
  expect((await cli.run(['query', 'SHOW TABLES', '-o', 'csv'], { cwd })).stdout).toBe(
    'name\norders\n',
  );
  expect((await cli.run(['query', 'DESCRIBE orders', '-o', 'csv'], { cwd })).stdout).toContain(
    'total,"DECIMAL(18,2)",',
  );
  expect(
    (
      await cli.run(
        [
          'query',
          'SELECT o.id FROM shop.orders o, orders AS p WHERE o.id = p.id AND p.id = 2',
          '-o',
          'csv',
        ],
        { cwd },
      )
    ).stdout,
  ).toBe('id\n2\n');
});

test('catalog lists tables and files, also of a bare warehouse', async () => {
  const cwd = shared;
  const bare = ['--warehouse', 'warehouse', '-o', 'json'];
  expect(json(await cli.run(['catalog', 'tables', ...bare], { cwd }))).toMatchObject([
    { table: 'shop.orders', rows: 2, data_files: 1, delete_files: 0, snapshots: 1 },
  ]);
  expect(json(await cli.run(['catalog', 'files', 'shop.orders', ...bare], { cwd }))).toEqual([
    {
      path: expect.stringContaining('/warehouse/shop/orders/data/'),
      content: 'data',
      rows: 2,
      bytes: expect.any(Number),
      sequence_number: 1,
    },
  ]);
  expect(await cli.run(['catalog', 'files', 'order', ...bare.slice(0, 2)], { cwd })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('did you mean orders?'),
  });
});

test('dlq list prints the fields that others rely on', async () => {
  const cwd = shared;
  expect(await letters(cwd)).toEqual([
    {
      id: expect.stringMatching(/^[0-9a-f]{8}$/),
      code: 'E_VALUE_NUMBER',
      message: expect.stringContaining('total'),
      table: 'shop.orders',
      key: '3',
      file: 'feed.jsonl',
      line: 3,
      byte: Buffer.byteLength(FEED) - Buffer.byteLength(BAD),
      checkpoint: 1,
    },
  ]);
});

test('dlq show gives the very bytes', async () => {
  const cwd = shared;
  const [letter] = await letters(cwd);
  const shown = await cli.run(['dlq', 'show', letter?.id ?? '', 'pipeline.yaml'], { cwd });
  expect(shown.code).toBe(0);
  expect(shown.stdout.trimEnd()).toBe(BAD.trimEnd());
  const encoded = json(await cli.run(['dlq', 'show', letter?.id ?? '', '-o', 'json'], { cwd })) as {
    bytes_base64: string;
  };
  expect(Buffer.from(encoded.bytes_base64, 'base64').toString()).toBe(shown.stdout);
  expect(await cli.run(['dlq', 'show', 'ffffffff'], { cwd })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('E_NOT_FOUND'),
  });
});

test('dlq replay applies a letter once the pipeline can take it', async () => {
  const cwd = await mirrored();
  const replay = ['dlq', 'replay', '--all', '-o', 'json'];
  expect(json(await cli.run(replay, { cwd }))).toEqual({ applied: 0, superseded: 0, failed: 1 });
  expect(await letters(cwd)).toHaveLength(1);
  const tokens = 'processing: { cleansing: { null_tokens: [n/a] } }\n';
  await appendFile(join(cwd, 'pipeline.yaml'), tokens);
  expect(json(await cli.run(replay, { cwd }))).toEqual({ applied: 1, superseded: 0, failed: 0 });
  expect(await letters(cwd)).toEqual([]);
  const row = await cli.run(['query', 'FROM orders WHERE id = 3', '-o', 'csv'], { cwd });
  expect(row.stdout).toContain('3,x,,\n');
});

test('dlq discard asks nobody where nobody can answer', async () => {
  const cwd = await mirrored();
  const [letter] = await letters(cwd);
  const id = letter?.id ?? '';
  expect(await cli.run(['dlq', 'discard', id], { cwd })).toMatchObject({
    code: 64,
    stdout: '',
    stderr: expect.stringContaining('--yes'),
  });
  expect(await letters(cwd)).toHaveLength(1);
  expect(await cli.run(['dlq', 'discard', id, 'pipeline.yaml', '--yes'], { cwd })).toMatchObject({
    code: 0,
    stdout: '1 dead letter discarded\n',
  });
  expect(await letters(cwd)).toEqual([]);
});

test('reconcile takes a table that is not on the lake for an empty one', async () => {
  const bad = await mirrored(BAD);
  const without = await cli.run(['reconcile'], { cwd: bad });
  expect([without.code, without.stdout]).toEqual([
    0,
    'shop.orders: not on the lake, since the feed leaves no row of it\n',
  ]);
  const gone = await mirrored();
  await rm(join(gone, 'warehouse/shop/orders'), { recursive: true });
  const missing = await cli.run(['reconcile'], { cwd: gone });
  expect(missing.code).toBe(2);
  expect(missing.stdout).toMatch(/^shop\.orders: MISSING on the lake\n[^]*2 missing, 0 extra/u);
});

test('reconcile exits with 0 when tables equal their feed and with 2 when not', async () => {
  const cwd = await mirrored();
  const equal = await cli.run(['reconcile', 'pipeline.yaml', 'orders'], { cwd });
  expect(equal).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^shop\.orders: equal to its feed\n.*, 1 dead letter left out\n/),
  });
  await appendFile(
    join(cwd, 'feed.jsonl'),
    line('c', { id: 4, customer: 'unread', total: '1.00', paid_at: null }),
  );
  expect((await cli.run(['reconcile'], { cwd })).code).toBe(0);
  await writeFile(join(cwd, 'feed.jsonl'), FEED.replace('"7.00"', '"7.50"'));
  const differs = await cli.run(['reconcile', '-o', 'json'], { cwd });
  expect(differs.code).toBe(2);
  expect(json(differs)).toMatchObject([
    {
      table: 'shop.orders',
      equal: false,
      different: 1,
      differences: [{ kind: 'different', key: { id: '2' } }],
    },
  ]);
});

test('explain prints the SQL of each step and writes nothing', async () => {
  const cwd = await workspace();
  const explained = json(await cli.run(['explain', '-o', 'json'], { cwd })) as {
    steps: { name: string; sql: string }[];
  }[];
  expect(explained).toMatchObject([{ table: 'shop.orders', target: 'shop.orders' }]);
  expect(explained[0]?.steps.map(({ sql }) => sql).join('\n')).toMatch(/read_json.*COPY/su);
  const { code, stdout } = await cli.run(['explain'], { cwd });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^-- shop\.orders → shop\.orders\n-- 1\. /);
  expect(stdout.match(/^-- \d+\. /gmu)).toHaveLength(explained[0]?.steps.length ?? 0);
  expect((await readdir(cwd)).toSorted()).toEqual(['feed.jsonl', 'pipeline.yaml']);
});

test('a watched feed is locked against a second run, and SIGTERM ends it with 0 after a checkpoint', async () => {
  const cwd = await workspace(
    FIRST,
    `${PIPELINE.replace('  tables:', '  watch: true\n  tables:')}checkpoint: { interval_ms: 50, min_pause_ms: 0 }\n`,
  );
  const first = cli.start(['run'], { cwd });
  const end = ended(first);
  await said(first, /checkpoint 1/);
  expect(await cli.run(['run'], { cwd })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('E_PIPELINE_LOCKED'),
  });
  expect((await cli.run(['doctor'], { cwd })).stdout).toContain(`PID ${first.pid}`);
  expect(
    (await cli.run(['query', 'SELECT count(*) n FROM orders', '-o', 'csv'], { cwd })).stdout,
  ).toBe('n\n1\n');
  first.kill('SIGTERM');
  expect(await end).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('stopped after checkpoint 1'),
    stderr: expect.stringContaining('stopping'),
  });
  const second = cli.start(['run'], { cwd, env: { NODE_OPTIONS: '' } });
  const secondEnd = ended(second);
  await appendFile(
    join(cwd, 'feed.jsonl'),
    line('c', { id: 5, customer: null, total: '1.00', paid_at: null }),
  );
  await said(second, /checkpoint 2/);
  second.kill('SIGINT');
  expect((await secondEnd).code).toBe(130);
});

test('a reader that goes away ends a query quietly', async () => {
  const cwd = shared;
  const child = cli.start(['query', 'SELECT range FROM range(1000000000000)', '-o', 'csv'], {
    cwd,
  });
  const stderr: string[] = [];
  child.stderr?.on('data', (part: Buffer) => stderr.push(part.toString()));
  child.stdout?.once('data', () => child.stdout?.destroy());
  const code = await new Promise((resolve) => child.on('close', resolve));
  expect({ code, stderr }).toEqual({ code: 0, stderr: [] });
});

test('colours come only where they are wanted', async () => {
  const cwd = await workspace();
  const escape = '\u001b[';
  expect((await cli.run(['validate'], { cwd })).stdout).not.toContain(escape);
  expect((await cli.run(['validate'], { cwd, env: { FORCE_COLOR: '1' } })).stdout).toContain(
    escape,
  );
  expect(
    (await cli.run(['validate', '--no-color'], { cwd, env: { FORCE_COLOR: '1' } })).stdout,
  ).not.toContain(escape);
  expect(
    (await cli.run(['validate'], { cwd, env: { FORCE_COLOR: '1', NO_COLOR: '1' } })).stdout,
  ).not.toContain(escape);
});

test('init writes a pipeline that runs as it is, and never over one', async () => {
  const cwd = await folderOf({ 'feed/orders.jsonl': FEED });
  const made = await cli.run(['init', 'made', '--from', 'feed/orders.jsonl', '-o', 'json'], {
    cwd,
  });
  expect(json(made)).toMatchObject({
    file: 'made/pipeline.yaml',
    pipeline_id: 'made',
    tables: [{ table: 'shop.orders', primary_key: ['id'], columns: 4 }],
  });
  expect(await cli.run(['validate', 'made/pipeline.yaml'], { cwd })).toMatchObject({
    code: 0,
    stderr: '',
  });
  expect((await cli.run(['run', 'made/pipeline.yaml'], { cwd })).stdout).toContain('3 changes');
  const before = await readFile(join(cwd, 'made/pipeline.yaml'), 'utf8');
  expect(before).toContain('paid_at: long # a time? then { type: timestamptz, from: epoch_ms }');
  expect(await cli.run(['init', 'made'], { cwd })).toMatchObject({
    code: 65,
    stderr: expect.stringContaining('is there already'),
  });
  expect(await readFile(join(cwd, 'made/pipeline.yaml'), 'utf8')).toBe(before);
});

test('init without a feed writes an example that is valid', async () => {
  const cwd = await folderOf({});
  expect((await cli.run(['init'], { cwd })).code).toBe(0);
  expect(await cli.run(['validate'], { cwd })).toMatchObject({ code: 0, stderr: '' });
});

test('doctor names what is wrong and what mends it', async () => {
  const good = await mirrored(FIRST);
  const report = json(await cli.run(['doctor', '-o', 'json'], { cwd: good })) as {
    check: string;
    status: string;
  }[];
  expect(report.filter(({ status }) => status !== 'ok')).toEqual([]);
  expect(report.map(({ check }) => check)).toEqual([
    'node',
    'engine',
    'machine',
    'pipeline',
    'state',
    'warehouse',
    'events',
    'lock',
    'checkpoint',
    'feed',
    'tables',
    'dead letters',
  ]);
  await writeFile(join(good, 'feed.jsonl'), FEED.replace('Ann', 'Bob'));
  const changed = await cli.run(['doctor'], { cwd: good });
  expect(changed).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('not the file that was read: feed.jsonl'),
  });
  const blocked = await workspace(
    FEED,
    `${PIPELINE}sink: { iceberg_warehouse: ./file/warehouse }\n`,
  );
  await writeFile(join(blocked, 'file'), '');
  expect(await cli.run(['doctor'], { cwd: blocked })).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/✘ warehouse .* cannot be written/),
  });
});

test('doctor finds a state folder that is older than its tables', async () => {
  const cwd = await mirrored();
  await mkdir(join(cwd, 'elsewhere'));
  const text = await readFile(join(cwd, 'pipeline.yaml'), 'utf8');
  await writeFile(join(cwd, 'pipeline.yaml'), `${text}checkpoint: { state_dir: ./elsewhere }\n`);
  const { code, stdout } = await cli.run(['doctor'], { cwd });
  expect({ code, stdout }).toEqual({
    code: 1,
    stdout: expect.stringContaining(
      'shop.orders carries checkpoint 1, the state folder ends with none',
    ),
  });
});

test('errors explains a code offline, however it is spelled', async () => {
  const { code, stdout } = await cli.run(['errors', 'e-value-decimal']);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^E_VALUE_DECIMAL {2}\(data\)\n.*\n {2}→ /),
  });
  expect(await cli.run(['errors', 'E_VALUE_DECMAL'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('did you mean E_VALUE_DECIMAL?'),
  });
});

test('version and help need no engine and end with 0', async () => {
  const { version } = JSON.parse(
    await readFile(join(import.meta.dirname, '../../package.json'), 'utf8'),
  ) as { version: string };
  expect(await cli.run(['version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  expect(await cli.run(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  expect(json(await cli.run(['version', '-o', 'json']))).toMatchObject({
    version,
    duckdb: expect.stringMatching(/^v\d/),
  });
  for (const args of [[], ['--help'], ['help'], ['run', '--help'], ['help', 'dlq']]) {
    expect(await cli.run(args)).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining('Usage: lakeward'),
    });
  }
});
