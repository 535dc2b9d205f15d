import { randomUUID } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Clock } from '../../lib/clock.ts';
import type { ColumnType } from '../../model/types.ts';
import { id, join, raw, sql, type Sql } from '../../sql/sql.ts';
import { localLocation, localPath, localStore } from '../../storage/local.ts';
import type { Catalog, Table, TableRef } from '../catalog/catalog.ts';
import { hadoopCatalog } from '../catalog/hadoop.ts';
import { writeParquet } from '../parquet/write.ts';
import { commitStaged } from './commit.ts';
import type { DataFile } from './data-file.ts';
import { planSchemaChange, type SchemaPlan } from './evolve.ts';
import { currentSchema } from './metadata.ts';
import { planScan, type ScanAt, type ScanFile, type ScanPlan } from './scan.ts';
import { scanSql } from './scan-sql.ts';
import { newFields, sqlType, type Field } from './schema.ts';
import { dataFileLocation, stageRowDelta } from './stage.ts';

let folder: string;
let connection: DuckDBConnection;
let catalog: Catalog;
let nowMs = 1_000;
const clock: Clock = { now: () => (nowMs += 1_000), sleep: async () => {} };
beforeAll(async () => {
  folder = await mkdtemp(joinPath(tmpdir(), "scan ü'%20-"));
  connection = await (await DuckDBInstance.create(':memory:', { threads: '2' })).connect();
  catalog = hadoopCatalog({ warehouse: localLocation(folder), store: localStore, clock });
});
afterAll(async () => {
  connection.closeSync();
  await rm(folder, { recursive: true });
});

let ref: TableRef;
let counter = 0;
beforeEach(() => {
  ref = { namespace: 'db', name: `t ${++counter} 'x'` };
});

type ColumnSpec = readonly [name: string, type: ColumnType];

function newTable(columns: readonly ColumnSpec[], properties = {}): Promise<Table> {
  const fields = newFields(columns.map(([name, type]) => ({ name, type, required: false })));
  return catalog.createTable({ ...ref, fields, identifierFieldIds: [], properties });
}

const loaded = async (): Promise<Table> => (await catalog.loadTable(ref)) as Table;

interface Change {
  /** Rows for the columns of the schema, as SQL values or a query. */
  readonly rows?: string;
  /** Names of key columns, and their values. */
  readonly deletes?: { readonly by: readonly string[]; readonly values: string };
  readonly positions?: DataFile;
  readonly plan?: SchemaPlan | null;
}

async function commit(change: Change): Promise<readonly DataFile[]> {
  const table = await loaded();
  const schema = change.plan?.schema ?? currentSchema(table.metadata);
  const dataFiles =
    change.rows === undefined ? [] : [await file(table, schema.fields, change.rows, 'data')];
  const deleteFiles = change.positions === undefined ? [] : [change.positions];
  if (change.deletes !== undefined) {
    const by = change.deletes.by.map((name) => schema.fields.find((f) => f.name === name) as Field);
    deleteFiles.push(await file(table, by, change.deletes.values, 'equality'));
  }
  const staged = await stageRowDelta(table, {
    dataFiles,
    deleteFiles,
    commitUuid: randomUUID(),
    schema,
  });
  await commitStaged(catalog, ref, staged, { schemaPlan: change.plan ?? null, clock });
  return dataFiles;
}

async function file(
  table: Table,
  fields: readonly Field[],
  values: string,
  kind: 'data' | 'equality',
): Promise<DataFile> {
  const columns = fields.map((f) => ({
    name: f.name,
    fieldId: f.id,
    type: f.type,
    required: f.required,
  }));
  const types = fields.map((f) => sql`CAST(${id(f.name)} AS ${sqlType(f.type)}) AS ${id(f.name)}`);
  const select = sql`SELECT ${join(types)} FROM (${raw(values.startsWith('(') ? `VALUES ${values}` : values)}) AS v(${join(fields.map((f) => id(f.name)))})`;
  const path = dataFileLocation(table, { operationUuid: randomUUID(), counter: 1 });
  const equalityIds = kind === 'equality' ? fields.map((f) => f.id) : [];
  const made = await writeParquet(connection, { select, columns, path, kind, equalityIds });
  if (made === null) throw new Error('no rows');
  return made;
}

/** A position delete file as other writers make it. */
async function positionFile(
  table: Table,
  rows: readonly (readonly [path: string, position: number])[],
): Promise<DataFile> {
  const path = dataFileLocation(table, { operationUuid: randomUUID(), counter: 2 });
  const values = join(rows.map(([name, position]) => sql`(${name}, ${position}::BIGINT)`));
  const copy = sql`COPY (SELECT * FROM (VALUES ${values}) AS t(file_path, pos)) TO ${path.replace('file:', '')}
    (FORMAT parquet, FIELD_IDS {file_path: 2147483546, pos: 2147483545})`;
  await connection.run(copy.text);
  const like = await file(
    table,
    newFields([{ name: 'x', type: 'int', required: false }]),
    '(1)',
    'data',
  );
  return { ...like, content: 'position', path, recordCount: rows.length };
}

const query = async (text: Sql): Promise<unknown[][]> =>
  (await connection.runAndReadAll(sql`SELECT * FROM (${text}) ORDER BY ALL`.text)).getRowsJson();

const rows = async (at: ScanAt = 'current'): Promise<unknown[][]> =>
  query(scanSql(await planScan(await loaded(), at)));

const KEYED: readonly ColumnSpec[] = [
  ['id', 'int'],
  ['v', 'string'],
];

test('an empty table has its columns and no rows', async () => {
  await newTable(KEYED);
  const reader = await connection.runAndReadAll(scanSql(await planScan(await loaded())).text);
  expect(reader.columnNames()).toEqual(['id', 'v']);
  expect(reader.getRows()).toEqual([]);
});

describe('equality deletes', () => {
  test('meet rows of earlier commits only, never those of their own', async () => {
    await newTable(KEYED);
    await commit({ rows: "(1, 'old'), (2, 'old'), (3, 'old')" });
    await commit({ rows: "(1, 'new')", deletes: { by: ['id'], values: '(1), (2)' } });
    expect(await rows()).toEqual([
      [1, 'new'],
      [3, 'old'],
    ]);
    await commit({ rows: "(2, 'again')" });
    expect(await rows()).toEqual([
      [1, 'new'],
      [2, 'again'],
      [3, 'old'],
    ]);
  });

  test('of a null key meet rows whose key is null', async () => {
    await newTable(KEYED);
    await commit({ rows: "(NULL, 'gone'), (1, 'stays')" });
    await commit({ deletes: { by: ['id'], values: '(NULL)' } });
    expect(await rows()).toEqual([[1, 'stays']]);
  });

  test('by different columns all apply', async () => {
    await newTable(KEYED);
    await commit({ rows: "(1, 'a'), (2, 'b'), (3, 'c'), (4, NULL)" });
    await commit({ deletes: { by: ['id'], values: '(1)' } });
    await commit({ deletes: { by: ['v'], values: "('b')" } });
    await commit({ deletes: { by: ['v', 'id'], values: "('c', 3), (NULL, 4), ('a', 9)" } });
    expect(await rows()).toEqual([]);
  });

  test('of one key many times over, with rows between, leave the last row', async () => {
    await newTable(KEYED);
    for (let n = 0; n < 6; n++)
      await commit({ rows: `(1, 'v${n}')`, deletes: { by: ['id'], values: '(1)' } });
    expect(await rows()).toEqual([[1, 'v5']]);
  });

  test('by a column that was dropped since still apply', async () => {
    const table = await newTable(KEYED);
    await commit({ rows: "(1, 'a'), (2, 'b')" });
    await commit({ deletes: { by: ['id'], values: '(1)' } });
    const now = await loaded();
    const [, v] = currentSchema(now.metadata).fields;
    const schema = { ...currentSchema(now.metadata), 'schema-id': 1, fields: [v as Field] };
    await catalog.commitMetadata(now, {
      ...now.metadata,
      'current-schema-id': 1,
      schemas: [...table.metadata.schemas, schema],
    });
    expect(await rows()).toEqual([['b']]);
  });

  test('of a narrower type meet keys that are wider now', async () => {
    await newTable(KEYED);
    await commit({ rows: "(1, 'a'), (2, 'b'), (3, 'c')" });
    await commit({ deletes: { by: ['id'], values: '(1)' } });
    const plan = planSchemaChange((await loaded()).metadata, {
      promoteColumns: [{ name: 'id', type: 'long' }],
    });
    await commit({ rows: "(3000000000, 'big')", deletes: { by: ['id'], values: '(2)' }, plan });
    expect(await rows()).toEqual([
      ['3', 'c'],
      ['3000000000', 'big'],
    ]);
  });

  test('in the tens of thousands lose no row and spare none', async () => {
    await newTable([['id', 'int']]);
    await commit({ rows: 'SELECT i FROM range(60000) AS r(i)' });
    await commit({ deletes: { by: ['id'], values: 'SELECT i FROM range(0, 60000, 2) AS r(i)' } });
    await commit({ deletes: { by: ['id'], values: 'SELECT i FROM range(0, 60000, 3) AS r(i)' } });
    const [counts] = await query(
      sql`SELECT count(*)::INT, min(id), sum(id % 2)::INT FROM (${scanSql(await planScan(await loaded()))})`,
    );
    expect(counts).toEqual([20_000, 1, 20_000]);
  });
});

describe('a scan of a table whose columns changed', () => {
  test('goes by field id: added columns are null, wider types convert, names are those of today', async () => {
    await newTable([...KEYED, ['f', 'float']]);
    await commit({ rows: "(1, 'a', 0.5)" });
    const plan = planSchemaChange((await loaded()).metadata, {
      addColumns: [{ name: 'added "x"', type: 'string' }],
      promoteColumns: [{ name: 'f', type: 'double' }],
    });
    await commit({ rows: "(2, 'b', 1e300, 'y')", plan });
    const now = await loaded();
    const schema = currentSchema(now.metadata);
    const renamed = schema.fields.map((f) =>
      f.name === 'v' ? { ...f, name: 'f' } : f.name === 'f' ? { ...f, name: 'v' } : f,
    );
    const schemas = [...now.metadata.schemas, { ...schema, 'schema-id': 2, fields: renamed }];
    await catalog.commitMetadata(now, { ...now.metadata, 'current-schema-id': 2, schemas });
    const reader = await connection.runAndReadAll(scanSql(await planScan(await loaded())).text);
    expect(reader.columnNames()).toEqual(['id', 'f', 'v', 'added "x"']);
    expect(await rows()).toEqual([
      [1, 'a', 0.5, null],
      [2, 'b', 1e300, 'y'],
    ]);
  });

  test('of a nested column by name only as long as its inner fields never changed', async () => {
    const table = await newTable(KEYED);
    const nested = (name: string, fieldId: number): Field => ({
      id: 3,
      name: 's',
      required: false,
      type: { type: 'struct', fields: [{ id: fieldId, name, required: false, type: 'int' }] },
    });
    const schemaOf = (schemaId: number, field: Field) => ({
      ...currentSchema(table.metadata),
      'schema-id': schemaId,
      fields: [...currentSchema(table.metadata).fields, field],
    });
    const plan = await planScan(table);
    const scan = (...schemas: ReturnType<typeof schemaOf>[]): ScanPlan => ({
      ...plan,
      schema: schemas.at(-1) as ScanPlan['schema'],
      schemas,
    });
    expect(scanSql(scan(schemaOf(0, nested('a', 4)))).text).toContain('STRUCT("a" INTEGER)');
    for (const changed of [nested('b', 4), nested('a', 5)]) {
      expect(() => scanSql(scan(schemaOf(0, nested('a', 4)), schemaOf(1, changed)))).toThrow(
        expect.objectContaining({ code: 'E_CONFIG_UNSUPPORTED' }),
      );
    }
  });
});

test('files that a snapshot removed are not read, though its manifests still name them', async () => {
  const table = await newTable(KEYED, { 'commit.manifest.min-count-to-merge': '2' });
  await commit({ rows: "(1, 'a')" });
  const dataFiles = [await file(table, currentSchema(table.metadata).fields, "(2, 'b')", 'data')];
  const delta = { dataFiles, deleteFiles: [], commitUuid: randomUUID(), replaceAll: true };
  await commitStaged(catalog, ref, await stageRowDelta(table, delta), { clock });
  expect(await rows()).toEqual([[2, 'b']]);
});

describe('position deletes', () => {
  test('remove rows of the very commit that they come with', async () => {
    const table = await newTable(KEYED);
    const own = await file(
      table,
      currentSchema(table.metadata).fields,
      "(4, 'd'), (5, 'e')",
      'data',
    );
    const deleteFiles = [await positionFile(table, [[own.path, 0]])];
    const delta = { dataFiles: [own], deleteFiles, commitUuid: randomUUID() };
    await commitStaged(catalog, ref, await stageRowDelta(table, delta), { clock });
    expect(await rows()).toEqual([[5, 'e']]);
  });

  test('remove rows by file and place, also of the commit that they come with', async () => {
    const table = await newTable(KEYED);
    const [first] = await commit({ rows: "(1, 'a'), (2, 'b'), (3, 'c')" });
    const own = await file(
      table,
      currentSchema(table.metadata).fields,
      "(4, 'd'), (5, 'e')",
      'data',
    );
    const positions = await positionFile(table, [
      [first?.path ?? '', 1],
      [own.path, 0],
      ['file:/elsewhere', 2],
    ]);
    const delta = { dataFiles: [own], deleteFiles: [positions], commitUuid: randomUUID() };
    await commitStaged(catalog, ref, await stageRowDelta(await loaded(), delta), { clock });
    expect(await rows()).toEqual([
      [1, 'a'],
      [3, 'c'],
      [5, 'e'],
    ]);
  });

  test('and equality deletes together remove what either names', async () => {
    const table = await newTable(KEYED);
    const [first] = await commit({ rows: "(1, 'a'), (2, 'b'), (3, 'c')" });
    await commit({
      positions: await positionFile(table, [[first?.path ?? '', 0]]),
      deletes: { by: ['id'], values: '(2)' },
    });
    expect(await rows()).toEqual([[3, 'c']]);
  });
});

test('deletes of a partition spare the same key of another, unpartitioned ones spare none', async () => {
  const table = await newTable(KEYED);
  const fields = currentSchema(table.metadata).fields;
  const scanFile = async (
    scope: string,
    sequenceNumber: number,
    values: string,
    kind: 'data' | 'equality',
  ): Promise<ScanFile> => ({
    file: await file(table, kind === 'data' ? fields : fields.slice(0, 1), values, kind),
    sequenceNumber,
    scope,
  });
  const base = await planScan(table);
  const plan: ScanPlan = {
    ...base,
    dataFiles: [
      await scanFile('0 [a]', 1, "(1, 'a'), (2, 'a'), (3, 'a')", 'data'),
      await scanFile('0 [b]', 1, "(1, 'b'), (2, 'b'), (3, 'b')", 'data'),
    ],
    equalityDeletes: [
      await scanFile('0 [a]', 2, '(1)', 'equality'),
      await scanFile('0 [b]', 1, '(3)', 'equality'),
      await scanFile('', 3, '(2)', 'equality'),
    ],
  };
  expect(await query(scanSql(plan))).toEqual([
    [1, 'b'],
    [3, 'a'],
    [3, 'b'],
  ]);
});

test('any snapshot can be read, by its id or by when it was current, with the columns it had', async () => {
  await newTable(KEYED);
  await commit({ rows: "(1, 'a')" });
  const first = (await loaded()).metadata.snapshots?.[0];
  const plan = planSchemaChange((await loaded()).metadata, {
    addColumns: [{ name: 'n', type: 'int' }],
  });
  await commit({ rows: "(2, 'b', 3)", deletes: { by: ['id'], values: '(1)' }, plan });
  const at = first?.['timestamp-ms'] ?? 0;
  expect(await rows({ snapshotId: first?.['snapshot-id'] ?? 0n })).toEqual([[1, 'a']]);
  expect(await rows({ timestampMs: at })).toEqual([[1, 'a']]);
  expect(await rows()).toEqual([[2, 'b', 3]]);
  await expect(rows({ timestampMs: at - 1 })).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  await expect(rows({ snapshotId: 5n })).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
});

test.each([
  ['PUFFIN', 'deletion vectors'],
  ['ORC', 'ORC files'],
])('%s files are refused as %s', async (format, message) => {
  const table = await newTable(KEYED);
  const made = await file(table, currentSchema(table.metadata).fields, "(1, 'a')", 'data');
  const delta = { dataFiles: [{ ...made, format }], deleteFiles: [], commitUuid: randomUUID() };
  await commitStaged(catalog, ref, await stageRowDelta(table, delta), { clock });
  await expect(planScan(await loaded())).rejects.toMatchObject({
    code: 'E_CONFIG_UNSUPPORTED',
    message: expect.stringContaining(message),
  });
});

test('a file whose path looks like a pattern is that file', async () => {
  const table = await newTable(KEYED);
  const fields = currentSchema(table.metadata).fields;
  const made = await file(table, fields, "(1, 'a')", 'data');
  const odd = joinPath(folder, 'a*?d');
  await mkdir(odd);
  await copyFile(localPath(made.path), joinPath(odd, 'x*.parquet'));
  await copyFile(localPath(made.path), joinPath(odd, 'xy.parquet'));
  const scanFile = {
    sequenceNumber: 1,
    scope: '0',
    file: { ...made, path: `file:${odd}/x*.parquet` },
  };
  const deletes = await file(table, fields.slice(0, 1), '(9)', 'equality');
  const plan: ScanPlan = {
    ...(await planScan(table)),
    dataFiles: [scanFile],
    equalityDeletes: [{ sequenceNumber: 2, scope: '', file: deletes }],
  };
  expect(await query(scanSql(plan))).toEqual([[1, 'a']]);
  expect(await query(scanSql({ ...plan, equalityDeletes: [] }))).toEqual([[1, 'a']]);
});
