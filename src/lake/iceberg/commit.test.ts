import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Clock } from '../../lib/clock.ts';
import { PipelineError } from '../../model/errors.ts';
import { memoryStore } from '../../storage/memory.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import type { Catalog, Table } from '../catalog/catalog.ts';
import { hadoopCatalog } from '../catalog/hadoop.ts';
import { commitStaged, type CommitOptions } from './commit.ts';
import type { DataFile } from './data-file.ts';
import { lastMark } from './mark.ts';
import { currentSnapshot, type Snapshot, type TableMetadata } from './metadata.ts';
import { readManifest, readManifestList } from './read-manifests.ts';
import { stageRowDelta, type StagedCommit } from './stage.ts';

const REF = { namespace: 'db', name: 't' };
const METADATA = 'file:/wh/db/t/metadata';

let nowMs = 1_000;
const clock: Clock = {
  now: () => (nowMs += 10),
  sleep: async (delayMs) => {
    nowMs += delayMs;
  },
};
let store: ObjectStore;
let catalog: Catalog;
beforeEach(() => {
  store = memoryStore();
  catalog = hadoopCatalog({ warehouse: 'file:/wh', store, clock });
});

const newTable = (properties: Readonly<Record<string, string>> = {}): Promise<Table> =>
  catalog.createTable({
    ...REF,
    fields: [{ id: 1, name: 'id', required: true, type: 'long' }],
    identifierFieldIds: [1],
    properties,
  });

const NO_METRICS = {
  columnSizes: null,
  valueCounts: null,
  nullValueCounts: null,
  nanValueCounts: null,
  lowerBounds: null,
  upperBounds: null,
};

function file(name: string, content: DataFile['content'] = 'data', recordCount = 10): DataFile {
  return {
    content,
    path: `file:/wh/db/t/data/${name}.parquet`,
    format: 'PARQUET',
    specId: 0,
    partition: new Map(),
    recordCount,
    fileSizeBytes: 100,
    metrics: NO_METRICS,
    keyMetadata: null,
    splitOffsets: [4],
    equalityIds: content === 'equality' ? [1] : null,
    sortOrderId: 0,
    referencedDataFile: null,
  };
}

const loaded = async (): Promise<Table> => {
  const table = await catalog.loadTable(REF);
  if (table === null) throw new Error('no table');
  return table;
};

async function stage(
  data: readonly string[],
  deletes: readonly string[] = [],
  replaceAll = false,
): Promise<StagedCommit> {
  const delta = {
    dataFiles: data.map((name) => file(name)),
    deleteFiles: deletes.map((name) => file(name, 'equality', 3)),
    commitUuid: randomUUID(),
    replaceAll,
  };
  return JSON.parse(JSON.stringify(await stageRowDelta(await loaded(), delta))) as StagedCommit;
}

const commit = (staged: StagedCommit, options: CommitOptions = {}, through = catalog) =>
  commitStaged(through, REF, staged, { clock, ...options });

const mark = (checkpoint: number) => ({
  owner: 'pipeline',
  properties: { pipeline: 'p', checkpoint: String(checkpoint) },
});

const current = async (): Promise<Snapshot> => {
  const snapshot = currentSnapshot((await loaded()).metadata);
  if (snapshot === null) throw new Error('no snapshot');
  return snapshot;
};

/** Live files by name → [status, sequence number]. */
async function liveFiles(): Promise<Record<string, [string, number]>> {
  const live: Record<string, [string, number]> = {};
  for (const manifest of await readManifestList(store, await current())) {
    for (const entry of await readManifest(store, manifest)) {
      const name = entry.file.path.replace(/.*\/(.*)\.parquet/, '$1');
      if (entry.status !== 'deleted') live[name] = [entry.status, entry.sequenceNumber];
    }
  }
  return live;
}

const manifestPaths = async (): Promise<string[]> =>
  (await readManifestList(store, await current())).map((m) => m.path);

/** Manifests and manifest lists that no snapshot knows. */
async function orphans(): Promise<string[]> {
  const listed = new Set<string>();
  for (const snapshot of (await loaded()).metadata.snapshots ?? []) {
    listed.add(snapshot['manifest-list']);
    for (const m of await readManifestList(store, snapshot)) listed.add(m.path);
  }
  const names = (await store.list(METADATA)).map((e) => e.name);
  const avro = names.filter((name) => name.endsWith('.avro')).map((name) => `${METADATA}/${name}`);
  return avro.filter((path) => !listed.has(path));
}

describe('a commit', () => {
  test('is named by what it does: append, overwrite or delete', async () => {
    await newTable();
    const operations: unknown[] = [];
    for (const [data, deletes] of [
      [['a'], []],
      [['b'], ['x']],
      [[], ['y']],
    ] as const) {
      await commit(await stage(data, deletes));
      operations.push((await current()).summary['operation']);
    }
    expect(operations).toEqual(['append', 'overwrite', 'delete']);
  });

  test('cannot have its operation or its figures replaced by the caller', async () => {
    await newTable();
    await commit(await stage(['a']), {
      summary: { operation: 'replace', 'added-records': '7', mine: 'x' },
    });
    expect((await current()).summary).toMatchObject({
      operation: 'append',
      'added-records': '10',
      mine: 'x',
    });
  });

  test('carries the totals on from its parent', async () => {
    await newTable();
    await commit(await stage(['a', 'b']));
    await commit(await stage(['c'], ['x']));
    expect((await current()).summary).toMatchObject({
      'added-data-files': '1',
      'added-delete-files': '1',
      'added-equality-deletes': '3',
      'total-data-files': '3',
      'total-delete-files': '1',
      'total-records': '30',
      'total-equality-deletes': '3',
      'total-position-deletes': '0',
      'total-files-size': '400',
    });
  });

  test('leaves out totals that its parent does not know', async () => {
    await newTable();
    await commit(await stage(['a']));
    const table = await loaded();
    const [snapshot] = table.metadata.snapshots ?? [];
    const { 'total-records': _, ...summary } = snapshot?.summary ?? {};
    await catalog.commitMetadata(table, {
      ...table.metadata,
      snapshots: [{ ...(snapshot as Snapshot), summary }],
    });
    await commit(await stage(['b']));
    expect((await current()).summary).not.toHaveProperty('total-records');
    expect((await current()).summary['total-data-files']).toBe('2');
  });

  test('takes the next sequence number, its parent, and a place in the logs', async () => {
    await newTable();
    const first = await commit(await stage(['a']));
    const second = await commit(await stage(['b']));
    const { metadata } = await loaded();
    expect(metadata['last-sequence-number']).toBe(2);
    expect(await current()).toMatchObject({
      'snapshot-id': second.snapshotId,
      'parent-snapshot-id': first.snapshotId,
      'sequence-number': 2,
      'schema-id': 0,
    });
    expect(metadata['snapshot-log']?.map((e) => e['snapshot-id'])).toEqual([
      first.snapshotId,
      second.snapshotId,
    ]);
    expect(metadata.refs?.['main']?.['snapshot-id']).toBe(second.snapshotId);
    expect(metadata['metadata-log']?.map((e) => e['metadata-file'])).toEqual([
      `${METADATA}/v1.metadata.json`,
      `${METADATA}/v2.metadata.json`,
    ]);
  });

  test('keeps as many previous versions in the log as the table wants', async () => {
    await newTable({ 'write.metadata.previous-versions-max': '2' });
    for (const name of ['a', 'b', 'c']) await commit(await stage([name]));
    const log = (await loaded()).metadata['metadata-log'] ?? [];
    expect(log.map((e) => e['metadata-file'])).toEqual([
      `${METADATA}/v2.metadata.json`,
      `${METADATA}/v3.metadata.json`,
    ]);
  });

  test('of nothing makes no snapshot and no version', async () => {
    await newTable();
    const result = await commit(await stage([]), { mark: mark(1) });
    expect(result).toMatchObject({ snapshotId: null, isNew: false });
    expect((await loaded()).metadataLocation).toBe(`${METADATA}/v1.metadata.json`);
  });

  test('never lets the table’s clock go back', async () => {
    await newTable();
    await commit(await stage(['a']));
    const before = (await loaded()).metadata['last-updated-ms'];
    nowMs -= 100_000;
    await commit(await stage(['b']));
    nowMs += 100_000;
    expect((await loaded()).metadata['last-updated-ms']).toBeGreaterThanOrEqual(before);
    expect((await current())['timestamp-ms']).toBeGreaterThanOrEqual(before);
  });

  test('is refused on a table that took the place of the one it was staged for', async () => {
    await newTable();
    const staged = await stage(['a']);
    const other = { ...staged, tableUuid: randomUUID() };
    await expect(commit(other)).rejects.toMatchObject({ code: 'E_TABLE_FOREIGN' });
  });

  test('is refused on a partitioned table, with the names of its partition fields', async () => {
    const table = await newTable();
    const field = { 'source-id': 1, 'field-id': 1000, name: 'id_bucket', transform: 'bucket[4]' };
    const metadata: TableMetadata = {
      ...table.metadata,
      'partition-specs': [{ 'spec-id': 0, fields: [field] }],
    };
    await catalog.commitMetadata(table, metadata);
    await expect(stage(['a'])).rejects.toMatchObject({
      code: 'E_CONFIG_UNSUPPORTED',
      message: expect.stringContaining('id_bucket'),
    });
  });
});

describe('a commit that is made again', () => {
  test('does nothing: the mark on main says that it stands', async () => {
    await newTable();
    const staged = await stage(['a']);
    const first = await commit(staged, { mark: mark(1) });
    await commit(await stage(['b']), { mark: mark(2) });
    const again = await commit(await stage(['a2']), { mark: mark(1) });
    expect(again).toMatchObject({ snapshotId: first.snapshotId, isNew: false });
    expect(Object.keys(await liveFiles()).toSorted()).toEqual(['a', 'b']);
  });

  test('does nothing without a mark either, when it is the same staging', async () => {
    await newTable();
    const staged = await stage(['a']);
    await commit(staged);
    expect(await commit(staged)).toMatchObject({ isNew: false });
  });

  test('does nothing when the marked snapshot has expired: the table still knows its writer’s last commit', async () => {
    await newTable();
    await commit(await stage(['a']), { mark: mark(1), summary: { position: 'p1' } });
    await commit(await stage(['b']));
    await expire((s) => s.summary['pipeline'] === undefined);
    const { metadata } = await loaded();
    expect(lastMark(metadata, 'pipeline', 'p')?.summary).toEqual({
      pipeline: 'p',
      checkpoint: '1',
      position: 'p1',
    });
    expect(await commit(await stage(['a2']), { mark: mark(1) })).toMatchObject({ isNew: false });
    expect(await commit(await stage(['c']), { mark: mark(2) })).toMatchObject({ isNew: true });
  });

  test('is made anew after main was rolled back behind it', async () => {
    await newTable();
    const base = await commit(await stage(['base']));
    await commit(await stage(['a']), { mark: mark(1) });
    const table = await loaded();
    await catalog.commitMetadata(table, {
      ...table.metadata,
      'current-snapshot-id': base.snapshotId,
      refs: { main: { 'snapshot-id': base.snapshotId as bigint, type: 'branch' } },
    });
    expect(lastMark((await loaded()).metadata, 'pipeline', 'p')).toBeNull();
    expect(await commit(await stage(['a2']), { mark: mark(1) })).toMatchObject({ isNew: true });
    expect(Object.keys(await liveFiles()).toSorted()).toEqual(['a2', 'base']);
  });

  test('is not taken for that of another writer', async () => {
    await newTable();
    await commit(await stage(['a']), { mark: mark(1) });
    const other = { owner: 'pipeline', properties: { pipeline: 'q', checkpoint: '1' } };
    expect(await commit(await stage(['b']), { mark: other })).toMatchObject({ isNew: true });
    expect(lastMark((await loaded()).metadata, 'pipeline', 'p')?.summary['checkpoint']).toBe('1');
    await expire((s) => s.summary['pipeline'] === 'q');
    expect(lastMark((await loaded()).metadata, 'pipeline', 'p')?.summary['checkpoint']).toBe('1');
  });
});

async function expire(keeps: (snapshot: Snapshot) => boolean): Promise<void> {
  const table = await loaded();
  const snapshots = (table.metadata.snapshots ?? []).filter(keeps);
  await catalog.commitMetadata(table, { ...table.metadata, snapshots });
}

/** The catalog of a writer whom others beat: before each of the first `times` commits another one commits. */
function beaten(times: number): Catalog {
  let left = times;
  return {
    ...catalog,
    commitMetadata: async (table, metadata) => {
      if (left-- > 0) await commit(await stage([`other${left}`]));
      return catalog.commitMetadata(table, metadata);
    },
  };
}

describe('a commit that others beat', () => {
  test('is tried again on what they made, and its manifests are used again', async () => {
    await newTable();
    const staged = await stage(['a'], ['x']);
    const result = await commit(staged, {}, beaten(3));
    expect(result.isNew).toBe(true);
    expect((await current())['sequence-number']).toBe(4);
    expect(await liveFiles()).toEqual({
      a: ['added', 4],
      x: ['added', 4],
      other2: ['added', 1],
      other1: ['added', 2],
      other0: ['added', 3],
    });
    expect(await manifestPaths()).toEqual(
      expect.arrayContaining(staged.manifests.map((m) => m.path)),
    );
  });

  test('leaves nothing of its lost attempts behind', async () => {
    await newTable();
    await commit(await stage(['old']));
    await commit(await stage(['a'], [], true), {}, beaten(2));
    expect(await orphans()).toEqual([]);
  });

  test('every time is given up as a conflict', async () => {
    await newTable();
    const lost = commit(await stage(['a']), { retries: 2 }, beaten(3));
    await expect(lost).rejects.toMatchObject({ code: 'E_COMMIT_CONFLICT' });
    expect(Object.keys(await liveFiles()).toSorted()).toEqual(['other0', 'other1', 'other2']);
  });

  test('removes what they added meanwhile when it replaces everything', async () => {
    await newTable();
    await commit(await stage(['old']));
    await commit(await stage(['new'], [], true), {}, beaten(1));
    expect(await liveFiles()).toEqual({ new: ['added', 3] });
    expect((await current()).summary).toMatchObject({
      'deleted-data-files': '2',
      'total-data-files': '1',
    });
  });
});

test('a commit with an unknown outcome removes nothing, and is found to stand afterwards', async () => {
  await newTable();
  const broken: Catalog = {
    ...catalog,
    commitMetadata: async (table, metadata) => {
      await catalog.commitMetadata(table, metadata);
      throw new PipelineError('E_WAREHOUSE_WRITE', 'the answer was lost');
    },
  };
  const staged = await stage(['a']);
  await expect(commit(staged, { mark: mark(1) }, broken)).rejects.toMatchObject({
    code: 'E_WAREHOUSE_WRITE',
  });
  expect(await commit(staged, { mark: mark(1) })).toMatchObject({ isNew: false });
  expect(await liveFiles()).toEqual({ a: ['added', 1] });
});

describe('replacing everything', () => {
  test('marks every file and delete as deleted in the snapshot that adds the new ones', async () => {
    await newTable();
    await commit(await stage(['a', 'b']));
    await commit(await stage(['c'], ['x']));
    const result = await commit(await stage(['new'], [], true));
    expect(await liveFiles()).toEqual({ new: ['added', 3] });
    const entries = [];
    for (const m of await readManifestList(store, await current()))
      entries.push(...(await readManifest(store, m)));
    const deleted = entries.filter((e) => e.status === 'deleted');
    expect(deleted.map((e) => [e.snapshotId, e.sequenceNumber])).toEqual([
      [result.snapshotId, 2],
      [result.snapshotId, 1],
      [result.snapshotId, 1],
      [result.snapshotId, 2],
    ]);
    expect((await current()).summary).toMatchObject({
      operation: 'overwrite',
      'deleted-data-files': '3',
      'deleted-records': '30',
      'removed-equality-delete-files': '1',
      'removed-equality-deletes': '3',
      'total-records': '10',
      'total-delete-files': '0',
    });
  });

  test('with nothing empties the table in a snapshot that is a delete', async () => {
    await newTable();
    await commit(await stage(['a']));
    await commit(await stage([], [], true));
    expect(await liveFiles()).toEqual({});
    expect((await current()).summary).toMatchObject({ operation: 'delete', 'total-records': '0' });
  });

  test('of an empty table with nothing makes no snapshot, with something an append', async () => {
    await newTable();
    expect(await commit(await stage([], [], true))).toMatchObject({ snapshotId: null });
    await commit(await stage(['a'], [], true));
    expect((await current()).summary['operation']).toBe('append');
  });

  test('is forgotten by the next snapshot: manifests that only say what was deleted are not carried on', async () => {
    await newTable();
    await commit(await stage(['a']));
    await commit(await stage(['b'], [], true));
    expect(await manifestPaths()).toHaveLength(2);
    await commit(await stage(['c']));
    expect(await manifestPaths()).toHaveLength(2);
    expect(await liveFiles()).toEqual({ c: ['added', 3], b: ['added', 2] });
  });
});

describe('small manifests', () => {
  test('are merged at the table’s count, every file with the numbers of its own commit', async () => {
    await newTable({ 'commit.manifest.min-count-to-merge': '4' });
    for (const name of ['a', 'b', 'c']) await commit(await stage([name], [`x${name}`]));
    expect(await manifestPaths()).toHaveLength(6);
    await commit(await stage(['d'], ['xd']));
    expect(await manifestPaths()).toHaveLength(2);
    expect(await liveFiles()).toEqual({
      d: ['added', 4],
      c: ['existing', 3],
      b: ['existing', 2],
      a: ['existing', 1],
      xd: ['added', 4],
      xc: ['existing', 3],
      xb: ['existing', 2],
      xa: ['existing', 1],
    });
    const [manifest] = await readManifestList(store, await current());
    expect(manifest).toMatchObject({
      addedFiles: 1,
      existingFiles: 3,
      sequenceNumber: 4,
      minSequenceNumber: 1,
    });
    expect((await current()).summary).toMatchObject({
      'manifests-created': '2',
      'manifests-replaced': '6',
    });
  });

  test('stay apart below the count, and where the table switches merging off', async () => {
    await newTable({
      'commit.manifest.min-count-to-merge': '2',
      'commit.manifest-merge.enabled': 'false',
    });
    for (const name of ['a', 'b', 'c']) await commit(await stage([name]));
    expect(await manifestPaths()).toHaveLength(3);
  });

  test('are packed to the target size from the oldest on', async () => {
    await newTable({
      'commit.manifest.min-count-to-merge': '2',
      'commit.manifest.target-size-bytes': '1',
    });
    for (const name of ['a', 'b', 'c']) await commit(await stage([name]));
    expect(await manifestPaths()).toHaveLength(3);
  });

  test('that a lost attempt merged are merged once, and those of no use are removed', async () => {
    await newTable({ 'commit.manifest.min-count-to-merge': '3' });
    await commit(await stage(['a']));
    await commit(await stage(['b']));
    await commit(await stage(['c']), {}, beaten(1));
    expect(await orphans()).toEqual([]);
    expect(Object.keys(await liveFiles()).toSorted()).toEqual(['a', 'b', 'c', 'other0']);
  });
});
