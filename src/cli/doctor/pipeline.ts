/** What one pipeline needs, and whether its parts agree. */
import { access, constants, mkdtemp, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { formatProblems } from '../../config/config-error.ts';
import { loadPipeline } from '../../config/load.ts';
import { tableText } from '../../lake/catalog/catalog.ts';
import { hadoopCatalog } from '../../lake/catalog/hadoop.ts';
import { lastMark } from '../../lake/iceberg/mark.ts';
import { isPipelineError, PipelineError } from '../../model/errors.ts';
import type { Checkpoint } from '../../model/checkpoint-store.ts';
import type { PipelineSpec } from '../../model/spec.ts';
import { localLocation, localStore } from '../../storage/local.ts';
import { isConfigError } from '../fail.ts';
import { feedState, lastCheckpoint, lockHolder, unreadBytes, waitingLetters } from '../state.ts';
import { bytes, callName, count, shellWord } from '../words.ts';
import { failed, ok, warning, type Check } from './check.ts';

const SPACE_MIN_BYTES = 1e9;

export async function* checkPipeline(path: string): AsyncGenerator<Check> {
  const loaded = await attempt('pipeline', () => loadPipeline(path));
  if ('status' in loaded) return yield loaded;
  const { spec, notices } = loaded;
  const notes = notices.length === 0 ? '' : `, ${count(notices.length, 'note')}`;
  yield ok('pipeline', `${path} is valid${notes}`);
  const { state_dir: stateDir } = spec.checkpoint;
  yield await checkFolder('state', stateDir);
  if (spec.sink.iceberg_enabled) yield await checkFolder('warehouse', spec.sink.iceberg_warehouse);
  if (spec.sink.event_bus_enabled) yield await checkFolder('events', spec.sink.event_bus.path);
  yield await attempt('lock', () => checkLock(spec));
  const last = await attempt('checkpoint', async () => ({ found: await lastCheckpoint(spec) }));
  if ('status' in last) return yield last;
  yield checkCheckpoint(last.found, path);
  yield await attempt('feed', () => checkFeed(spec, last.found, path));
  if (spec.sink.iceberg_enabled) yield await attempt('tables', () => checkTables(spec, last.found));
  yield await attempt('dead letters', () => checkLetters(spec, path));
}

async function checkFolder(check: string, dir: string): Promise<Check> {
  const parent = await nearestFolder(dir);
  const fix = `Let this user write there: chown or chmod ${parent}, or name another folder in the pipeline file.`;
  try {
    await access(parent, constants.W_OK | constants.X_OK);
    // Some file systems say yes and mean no: only a trial tells.
    await rm(await mkdtemp(join(parent, '.lakeward-doctor-')), { recursive: true });
  } catch (error) {
    return failed(
      check,
      `${dir} cannot be written: ${(error as NodeJS.ErrnoException).code ?? String(error)}`,
      fix,
    );
  }
  const { bavail, bsize } = await statfs(parent);
  const free = bavail * bsize;
  const message = `${dir} ${parent === dir ? 'can be written' : 'can be made'}, ${bytes(free)} free`;
  return free >= SPACE_MIN_BYTES
    ? ok(check, message)
    : warning(check, message, 'Free some space: a full disk stops the pipeline (nothing is lost).');
}

async function nearestFolder(dir: string): Promise<string> {
  const isThere = await access(dir).then(
    () => true,
    () => false,
  );
  return isThere || dirname(dir) === dir ? dir : await nearestFolder(dirname(dir));
}

async function checkLock(spec: PipelineSpec): Promise<Check> {
  const holder = await lockHolder(spec);
  return holder === null ? ok('lock', 'no other process runs it') : ok('lock', holder);
}

function checkCheckpoint(last: Checkpoint | null, path: string): Check {
  if (last !== null) return ok('checkpoint', `the last one is ${last.mark.id}`);
  return ok('checkpoint', `none yet: ${callName()} run ${shellWord(path)}`);
}

async function checkFeed(
  spec: PipelineSpec,
  last: Checkpoint | null,
  path: string,
): Promise<Check> {
  const { files, changed } = await feedState(spec, last);
  if (changed.length > 0) {
    const gone = changed.filter((name) => !files.some((file) => file.name === name));
    const others = changed.filter((name) => !gone.includes(name));
    // Files that are read to their end may be removed.
    if (others.length > 0)
      return failed(
        'feed',
        `not the file that was read: ${others.join(', ')}`,
        'Put the old file back, or start anew with another pipeline_id.',
      );
    return warning(
      'feed',
      `${count(gone.length, 'file')} that were read are gone: ${gone.slice(0, 3).join(', ')}`,
      'Good where they were read to their end; they cannot be reconciled any more.',
    );
  }
  if (files.length === 0)
    return warning(
      'feed',
      `nothing matches ${spec.source.path ?? ''}`,
      'Check source.path; relative paths start at the pipeline file.',
    );
  const unread = files.map(unreadBytes);
  const total = unread.reduce<number>((sum, part) => sum + (part ?? 0), 0);
  const isSome = unread.some((part) => part !== 0);
  const isNone = files.every(({ progress }) => progress === null);
  const rest = isNone
    ? 'none of it read yet'
    : !isSome
      ? 'all read'
      : unread.includes(null)
        ? 'some of it unread'
        : `${bytes(total)} unread`;
  const size = bytes(files.reduce((sum, file) => sum + file.bytes, 0));
  return ok(
    'feed',
    `${count(files.length, 'file')}, ${size}, ${rest}${isSome && last !== null ? `: ${callName()} run ${shellWord(path)}` : ''}`,
  );
}

/** No table may carry a later checkpoint of this pipeline than the state folder: that would be an old backup. */
async function checkTables(spec: PipelineSpec, last: Checkpoint | null): Promise<Check> {
  const catalog = hadoopCatalog({
    warehouse: localLocation(spec.sink.iceberg_warehouse),
    store: localStore,
  });
  const owner = 'lakeward.pipeline-id';
  let ours = 0;
  for (const ref of await catalog.listTables()) {
    const table = await catalog.loadTable(ref);
    const mark = table === null ? null : lastMark(table.metadata, owner, spec.pipeline_id);
    if (mark === null) continue;
    ours += 1;
    const checkpoint = Number(mark.summary['lakeward.checkpoint-id']);
    if (checkpoint <= (last?.mark.id ?? 0)) continue;
    const message = `${tableText(ref)} carries checkpoint ${checkpoint}, the state folder ends with ${last?.mark.id ?? 'none'}`;
    return failed('tables', message, new PipelineError('E_STATE_STALE', message).advice);
  }
  return ok(
    'tables',
    ours === 0
      ? 'none written yet'
      : `${count(ours, 'table')} of this pipeline, none ahead of its checkpoints`,
  );
}

async function checkLetters(spec: PipelineSpec, path: string): Promise<Check> {
  const waiting = await waitingLetters(spec);
  if (waiting.length === 0) return ok('dead letters', 'none wait');
  return warning(
    'dead letters',
    `${count(waiting.length, 'record')} could not be represented`,
    `${callName()} dlq list ${shellWord(path)}`,
  );
}

/** What a check says that cannot even be made. */
async function attempt<T extends object>(
  check: string,
  work: () => Promise<T>,
): Promise<T | Check> {
  try {
    return await work();
  } catch (error) {
    if (!isPipelineError(error)) throw error;
    return failed(
      check,
      isConfigError(error) ? formatProblems(error.problems) : error.message,
      error.advice,
    );
  }
}
