import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { localLocation, localStore } from '../../storage/local.ts';
import { memoryStore } from '../../storage/memory.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import type { Catalog, NewTable, Table } from './catalog.ts';
import { hadoopCatalog } from './hadoop.ts';

const REF = { namespace: 'db', name: 't' };
const NEW: NewTable = {
  ...REF,
  fields: [{ id: 1, name: 'id', required: true, type: 'long' }],
  identifierFieldIds: [1],
};
const FOLDER = 'file:/wh/db/t/metadata';

let store: ObjectStore;
let catalog: Catalog;
beforeEach(() => {
  store = memoryStore();
  catalog = hadoopCatalog({ warehouse: 'file:/wh', store });
});

const commit = (table: Table, value: string): Promise<Table> =>
  catalog.commitMetadata(table, { ...table.metadata, properties: { value } });

async function versions(count: number): Promise<Table> {
  let table = await catalog.createTable(NEW);
  for (let n = 2; n <= count; n++) table = await commit(table, String(n));
  return table;
}

const found = async (): Promise<string | undefined> =>
  (await catalog.loadTable(REF))?.metadataLocation.replace(`${FOLDER}/`, '');

describe('a table', () => {
  test('begins as version 1, without a snapshot, with its hint', async () => {
    const table = await catalog.createTable(NEW);
    expect(table.metadataLocation).toBe(`${FOLDER}/v1.metadata.json`);
    expect(table.metadata).toMatchObject({
      'format-version': 2,
      location: 'file:/wh/db/t',
      'last-partition-id': 999,
      'current-snapshot-id': -1n,
      'partition-specs': [{ 'spec-id': 0, fields: [] }],
      'sort-orders': [{ 'order-id': 0, fields: [] }],
    });
    expect(Buffer.from((await store.read(`${FOLDER}/version-hint.text`)) ?? []).toString()).toBe(
      '1',
    );
  });

  test('is made once: the second maker is told', async () => {
    await catalog.createTable(NEW);
    await expect(catalog.createTable(NEW)).rejects.toMatchObject({ code: 'E_COMMIT_CONFLICT' });
  });

  test('that is not there is null', async () => {
    expect(await catalog.loadTable(REF)).toBeNull();
  });

  test('in a nested namespace lies in nested folders, and is listed with all others', async () => {
    await catalog.createTable({ ...NEW, namespace: 'a.b', name: 'x' });
    await catalog.createTable({ ...NEW, namespace: 'a', name: 'y' });
    await store.write('file:/wh/not/a/table.txt', Buffer.from('x'));
    expect(await catalog.listTables()).toEqual([
      { namespace: 'a.b', name: 'x' },
      { namespace: 'a', name: 'y' },
    ]);
    expect((await catalog.loadTable({ namespace: 'a.b', name: 'x' }))?.metadata.location).toBe(
      'file:/wh/a/b/x',
    );
  });

  test.each([
    [{ fields: [{ id: 1, name: 'f', required: true, type: 'double' }] }, 'E_KEY_TYPE'],
    [{ fields: [{ id: 1, name: 'f', required: true, type: 'float' }] }, 'E_KEY_TYPE'],
    [{ fields: [{ id: 1, name: 'f', required: true, type: 'fixed[2]' }] }, 'E_KEY_TYPE'],
    [{ fields: [{ id: 1, name: 'f', required: false, type: 'long' }] }, 'E_CONFIG_VALUE'],
    [{ identifierFieldIds: [9] }, 'E_CONFIG_VALUE'],
    [
      { fields: [NEW.fields[0], { ...NEW.fields[0], id: 2 }] as NewTable['fields'] },
      'E_CONFIG_VALUE',
    ],
  ])('with %j is refused', async (change, code) => {
    await expect(catalog.createTable({ ...NEW, ...change })).rejects.toMatchObject({ code });
    expect(await catalog.loadTable(REF)).toBeNull();
  });
});

describe('the newest version is found', () => {
  test.each([
    ['is behind', '2'],
    ['points beyond the last version', '9'],
    ['is no number', 'x'],
    ['is empty', ''],
    ['ends with a newline', '3\n'],
  ])('when the hint %s', async (_, hint) => {
    await versions(5);
    await store.write(`${FOLDER}/version-hint.text`, Buffer.from(hint));
    expect(await found()).toBe('v5.metadata.json');
  });

  test('when the hint is gone', async () => {
    await versions(12);
    await store.remove(`${FOLDER}/version-hint.text`);
    expect(await found()).toBe('v12.metadata.json');
  });

  test('when old versions were removed', async () => {
    await versions(5);
    for (const n of [1, 2, 3]) await store.remove(`${FOLDER}/v${n}.metadata.json`);
    await store.write(`${FOLDER}/version-hint.text`, Buffer.from('2'));
    expect(await found()).toBe('v5.metadata.json');
  });

  test('when temporary files of other writers lie about', async () => {
    await versions(3);
    await store.remove(`${FOLDER}/version-hint.text`);
    for (const name of [
      'v9.metadata.json.tmp',
      '.v8.metadata.json.crc',
      'v7',
      'xv6.metadata.json',
    ]) {
      await store.write(`${FOLDER}/${name}`, Buffer.from('x'));
    }
    expect(await found()).toBe('v3.metadata.json');
  });

  test('when it is compressed, and the next one is too where the table says so', async () => {
    const table = await versions(2);
    const properties = { 'write.metadata.compression-codec': 'gzip' };
    const zipped = await catalog.commitMetadata(table, { ...table.metadata, properties });
    expect(zipped.metadataLocation).toBe(`${FOLDER}/v3.gz.metadata.json`);
    expect(
      gunzipSync((await store.read(zipped.metadataLocation)) ?? Buffer.alloc(0)).length,
    ).toBeGreaterThan(100);
    const other = await hadoopCatalog({ warehouse: 'file:/wh', store }).loadTable(REF);
    expect(other).toMatchObject({
      metadataLocation: zipped.metadataLocation,
      metadata: zipped.metadata,
    });
    // The same version under its other name is taken all the same.
    const late = catalog.commitMetadata(table, table.metadata);
    await expect(late).rejects.toMatchObject({ code: 'E_COMMIT_CONFLICT' });
  });
});

test('a commit on a table that has moved on is a conflict, and leaves no hole', async () => {
  const table = await catalog.createTable(NEW);
  await commit(table, 'first');
  await expect(commit(table, 'second')).rejects.toMatchObject({ code: 'E_COMMIT_CONFLICT' });
  expect((await catalog.loadTable(REF))?.metadata.properties).toEqual({ value: 'first' });
  expect((await store.list(FOLDER)).map((e) => e.name)).toEqual([
    'v1.metadata.json',
    'v2.metadata.json',
    'version-hint.text',
  ]);
});

test('a commit that is beaten in its last instant is a conflict too', async () => {
  const table = await catalog.createTable(NEW);
  const late = hadoopCatalog({
    warehouse: 'file:/wh',
    store: {
      ...store,
      createExclusive: async (path, bytes) => {
        await commit(table, 'first');
        return store.createExclusive(path, bytes);
      },
    },
  });
  const lost = late.commitMetadata(table, table.metadata);
  await expect(lost).rejects.toMatchObject({ code: 'E_COMMIT_CONFLICT' });
  expect((await catalog.loadTable(REF))?.metadata.properties).toEqual({ value: 'first' });
});

test('checksum files of other writers beside names of ours are removed, or they would refuse our bytes', async () => {
  const table = await catalog.createTable(NEW);
  for (const name of ['.version-hint.text.crc', '.v2.metadata.json.crc', '.v1.metadata.json.crc']) {
    await store.write(`${FOLDER}/${name}`, Buffer.from('crc'));
  }
  await commit(table, 'x');
  const names = (await store.list(FOLDER)).map((e) => e.name);
  expect(names.filter((name) => name.endsWith('.crc'))).toEqual(['.v1.metadata.json.crc']);
});

test('a table that took the place of another is not taken for the one before, though its file has the same name', async () => {
  const before = await catalog.createTable(NEW);
  await store.remove(before.metadataLocation);
  await store.remove(`${FOLDER}/version-hint.text`);
  const after = await hadoopCatalog({ warehouse: 'file:/wh', store }).createTable(NEW);
  const loaded = await catalog.loadTable(REF);
  expect(loaded?.metadata['table-uuid']).toBe(after.metadata['table-uuid']);
  expect(after.metadata['table-uuid']).not.toBe(before.metadata['table-uuid']);
});

test('damaged metadata is told, not taken for a table that is not there', async () => {
  await store.write(`${FOLDER}/v1.metadata.json`, Buffer.from('{"format-ver'));
  await expect(catalog.loadTable(REF)).rejects.toMatchObject({ code: 'E_TABLE_METADATA' });
});

describe('names', () => {
  test.each(['a b', 'ü😀', "it's", '"x"', 'x$y', 'SELECT 1; --'])(
    '%s can name a table',
    async (name) => {
      await catalog.createTable({ ...NEW, namespace: name.replaceAll('.', ''), name });
      expect(await catalog.listTables()).toEqual([{ namespace: name, name }]);
    },
  );

  test.each([
    '',
    '.',
    '..',
    '.hidden',
    'a/b',
    '../../etc',
    'a:b',
    '100%',
    'a%20b',
    'a#b',
    'a?b',
    'a*',
    '[a]',
    '{a}',
    'a\\b',
    'a\0b',
    '\ud800',
    'x'.repeat(256),
  ])('%j cannot, because not every reader would find it', async (name) => {
    const refused = expect.objectContaining({ code: 'E_CONFIG_UNSUPPORTED' });
    await expect(catalog.createTable({ ...NEW, name })).rejects.toEqual(refused);
    await expect(catalog.loadTable({ ...REF, namespace: `${name}.x` })).rejects.toEqual(refused);
  });

  test.each(['file:/a#b', 'file:/a?', 'file:/a/*', 'file:/[a]', 'file:/a\nb', 'file:/a/'])(
    'the warehouse %j is refused',
    (warehouse) => {
      expect(() => hadoopCatalog({ warehouse, store })).toThrow(
        expect.objectContaining({ code: 'E_CONFIG_UNSUPPORTED' }),
      );
    },
  );
});

describe('on the local file system', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ware house ü%20-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test(
    'writers of several processes lose no commit to each other',
    { timeout: 60_000 },
    async () => {
      const local = hadoopCatalog({ warehouse: localLocation(folder), store: localStore });
      await local.createTable(NEW);
      const [processes, commits] = [3, 6];
      await Promise.all(
        Array.from({ length: processes }, (_, n) => commitInProcess(folder, n, commits)),
      );
      const table = (await local.loadTable(REF)) as Table;
      const written = Object.keys(table.metadata.properties ?? {}).filter((key) =>
        key.startsWith('commit-'),
      );
      expect(written).toHaveLength(processes * commits);
      expect(table.metadataLocation).toMatch(
        new RegExp(`/v${1 + processes * commits}\\.metadata\\.json$`),
      );
      const names = await readdir(join(folder, 'db/t/metadata'));
      expect(names).toHaveLength(1 + processes * commits + 1);
    },
  );

  test('a warehouse that is a file is told with the reason of the system', async () => {
    await writeFile(join(folder, 'file'), '');
    const local = hadoopCatalog({
      warehouse: localLocation(join(folder, 'file')),
      store: localStore,
    });
    await expect(local.createTable(NEW)).rejects.toMatchObject({
      code: 'E_WAREHOUSE_WRITE',
      message: expect.stringContaining('ENOTDIR'),
    });
  });
});

/** Another process that sets `commits` properties, one version each, and tries again whenever it is beaten. */
async function commitInProcess(folder: string, process_: number, commits: number): Promise<void> {
  const from = (path: string): string =>
    JSON.stringify(fileURLToPath(new URL(path, import.meta.url)));
  const script = `
    import { hadoopCatalog } from ${from('./hadoop.ts')};
    import { localLocation, localStore } from ${from('../../storage/local.ts')};
    const catalog = hadoopCatalog({ warehouse: localLocation(${JSON.stringify(folder)}), store: localStore });
    for (let n = 0; n < ${commits}; ) {
      const table = await catalog.loadTable({ namespace: 'db', name: 't' });
      const properties = { ...table.metadata.properties, ['commit-${process_}-' + n]: '' };
      try {
        await catalog.commitMetadata(table, { ...table.metadata, properties });
        n++;
      } catch (error) {
        if (error.code !== 'E_COMMIT_CONFLICT') throw error;
      }
    }`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  expect(code).toBe(0);
}
