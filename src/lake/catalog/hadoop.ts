import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { systemClock, type Clock } from '../../lib/clock.ts';
import { PipelineError } from '../../model/errors.ts';
import { AlreadyExistsError, type ObjectStore } from '../../storage/object-store.ts';
import { formatMetadata, type TableMetadata } from '../iceberg/metadata.ts';
import { newMetadata } from '../iceberg/new-metadata.ts';
import { tableText, type Catalog, type Table, type TableRef } from './catalog.ts';
import { checkLocation, checkName } from './names.ts';
import { parsedMetadata, type ParsedMetadata } from './parsed-metadata.ts';

/*
 * The filesystem catalog (Iceberg spec, Appendix F: file system tables): a table is a folder
 * `<warehouse>/<namespace…>/<table>`, its versions are `metadata/v<N>.metadata.json` from 1 without holes, and
 * `metadata/version-hint.text` holds a recent N. The version file is the commit: it is created exclusively. The hint is
 * only where to begin looking.
 */

const HINT = 'version-hint.text';
const VERSION_FILE = /^v(\d+)(?:\.gz)?\.metadata\.json(?:\.gz)?$/;

interface VersionFile {
  readonly version: number;
  readonly path: string;
  readonly bytes: Uint8Array;
}

/**
 * A catalog over the tables below `warehouse`, a location such as `file:/warehouse` without a slash at its end.
 * Commits by the hint's rule are safe on the local file system; a foreign writer is only as safe as its own rename.
 * @throws E_CONFIG_UNSUPPORTED for a warehouse path that not every reader can open
 */
export function hadoopCatalog(options: {
  warehouse: string;
  store: ObjectStore;
  clock?: Clock;
}): Catalog {
  const { warehouse, store, clock = systemClock } = options;
  checkLocation(warehouse);
  const locate = (ref: TableRef): string => {
    for (const part of [...ref.namespace.split('.'), ref.name]) checkName(part, ref);
    return `${warehouse}/${ref.namespace.replaceAll('.', '/')}/${ref.name}`;
  };
  const files: Files = { store, parsed: parsedMetadata() };
  return {
    createTable: async (table) => {
      const location = locate(table);
      const metadata = newMetadata(table, { location, uuid: randomUUID(), nowMs: clock.now() });
      const ref = { namespace: table.namespace, name: table.name };
      return publish(files, ref, metadata, { version: 1, folder: `${location}/metadata` });
    },
    loadTable: async (ref) => load(files, ref, `${locate(ref)}/metadata`),
    listTables: () => findTables(store, warehouse, []),
    commitMetadata: async (table, metadata) => {
      const folder = `${locate(table.ref)}/metadata`;
      const version = versionOf(table.metadataLocation) + 1;
      return publish(files, table.ref, metadata, { version, folder });
    },
  };
}

interface Files {
  readonly store: ObjectStore;
  readonly parsed: ParsedMetadata;
}

async function publish(
  { store, parsed }: Files,
  ref: TableRef,
  metadata: TableMetadata,
  at: { version: number; folder: string },
): Promise<Table> {
  const gzip = metadata.properties?.['write.metadata.compression-codec'] === 'gzip';
  const text = Buffer.from(formatMetadata(metadata));
  const bytes = gzip ? gzipSync(text) : text;
  const name = `v${at.version}${gzip ? '.gz' : ''}.metadata.json`;
  const path = `${at.folder}/${name}`;
  // A version of another spelling (compressed) is as taken as one of ours.
  if ((await readVersion(store, at.folder, at.version)) !== null) throw conflict(ref, at.version);
  try {
    await store.createExclusive(path, bytes);
  } catch (error) {
    if (error instanceof AlreadyExistsError) throw conflict(ref, at.version);
    throw error;
  }
  parsed.remember({ path, bytes }, metadata);
  await writeHint(store, at.folder, at.version, name);
  return { ref, metadata, metadataLocation: path, store };
}

// The commit stands already, so a hint that cannot be written is no failure: readers probe on from an older one.
// Checksum files that another writer left beside a name of ours would make it refuse our bytes.
async function writeHint(
  store: ObjectStore,
  folder: string,
  version: number,
  name: string,
): Promise<void> {
  try {
    await store.remove(`${folder}/.${name}.crc`);
    await store.remove(`${folder}/.${HINT}.crc`);
    await store.write(`${folder}/${HINT}`, Buffer.from(String(version)));
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
  }
}

async function load(files: Files, ref: TableRef, folder: string): Promise<Table | null> {
  const { store, parsed } = files;
  const found = await newestVersion(store, folder);
  if (found === null) return null;
  return { ref, metadata: parsed.parse(found), metadataLocation: found.path, store };
}

async function newestVersion(store: ObjectStore, folder: string): Promise<VersionFile | null> {
  let found = (await hintedVersion(store, folder)) ?? (await listedVersion(store, folder));
  while (found !== null) {
    const next: VersionFile | null = await readVersion(store, folder, found.version + 1);
    if (next === null) break;
    found = next;
  }
  return found;
}

async function hintedVersion(store: ObjectStore, folder: string): Promise<VersionFile | null> {
  const hint = await store.read(`${folder}/${HINT}`);
  const text = hint === null ? '' : Buffer.from(hint).toString('utf8').trim();
  return /^\d{1,15}$/.test(text) ? readVersion(store, folder, Number(text)) : null;
}

async function listedVersion(store: ObjectStore, folder: string): Promise<VersionFile | null> {
  const versions = (await store.list(folder)).map(({ name }) =>
    Number(VERSION_FILE.exec(name)?.[1] ?? 0),
  );
  const newest = versions.reduce((a, b) => Math.max(a, b), 0);
  return newest === 0 ? null : readVersion(store, folder, newest);
}

async function readVersion(
  store: ObjectStore,
  folder: string,
  version: number,
): Promise<VersionFile | null> {
  for (const ending of ['.metadata.json', '.gz.metadata.json', '.metadata.json.gz']) {
    const path = `${folder}/v${version}${ending}`;
    const bytes = await store.read(path);
    if (bytes !== null) return { version, path, bytes };
  }
  return null;
}

async function findTables(
  store: ObjectStore,
  folder: string,
  levels: readonly string[],
): Promise<TableRef[]> {
  const found: TableRef[] = [];
  for (const { name, isFolder } of await store.list(folder)) {
    if (!isFolder || name.startsWith('.')) continue;
    const path = `${folder}/${name}`;
    const isTable = levels.length > 0 && (await newestVersion(store, `${path}/metadata`)) !== null;
    if (isTable) found.push({ namespace: levels.join('.'), name });
    else found.push(...(await findTables(store, path, [...levels, name])));
  }
  return found;
}

function versionOf(metadataLocation: string): number {
  const version = VERSION_FILE.exec(
    metadataLocation.slice(metadataLocation.lastIndexOf('/') + 1),
  )?.[1];
  if (version === undefined)
    throw new PipelineError('E_TABLE_METADATA', `${metadataLocation} has no version number`);
  return Number(version);
}

function conflict(ref: TableRef, version: number): PipelineError {
  const message = `${tableText(ref)}: another writer made version ${version} first`;
  return new PipelineError('E_COMMIT_CONFLICT', message, { subject: { table: tableText(ref) } });
}
