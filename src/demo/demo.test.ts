import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countDemo, recordFeed, type Quake } from '../../tools/record-demo-feed.ts';
import { loadPipeline } from '../config/load.ts';
import { DEMO_QUERIES, prepareDemo } from './demo.ts';

const FEED = new URL('quakes.ndjson.gz', import.meta.url);
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'demo-'));
});

afterAll(() => rm(folder, { recursive: true }));

const feedLines = async (): Promise<string[]> =>
  gunzipSync(await readFile(FEED))
    .toString('utf8')
    .trimEnd()
    .split('\n');

type Row = Omit<Quake, 'magnitude' | 'depth_km'> & { magnitude: string; depth_km: string };

/** The events behind a feed: the last image of each id that was not given up. */
const quakesOf = (lines: readonly string[]): Quake[] => {
  const rows = new Map<string, Row>();
  for (const line of lines) {
    const { before, after, op } = JSON.parse(line) as { before: Row; after: Row; op: string };
    if (op === 'd') rows.delete(before.id);
    // A create that is sent again tells nothing of the end.
    else if (op === 'u' || !rows.has(after.id)) rows.set(after.id, after);
  }
  return [...rows.values()]
    .filter((row) => row.ids !== null)
    .map((row) => ({
      ...row,
      magnitude: row.magnitude === 'unknown' ? 0 : Number(row.magnitude),
      depth_km: Number(row.depth_km),
    }));
};

test('the generator gives the shipped feed again, byte for byte', async () => {
  const lines = await feedLines();
  expect(recordFeed(quakesOf(lines))).toEqual(lines);
});

test('the feed is small enough to ship', async () => {
  expect((await readFile(FEED)).length).toBeLessThan(400_000);
});

test('docs/demo.md says the numbers of the feed and the questions of the demo', async () => {
  const text = await readFile(new URL('../../docs/demo.md', import.meta.url), 'utf8');
  const said = [...text.matchAll(/^\| .* \| (\d+) \|$/gm)].map((match) => Number(match[1]));
  const { lines, duplicates, deadLetters, rows, events } = await countDemo(fileURLToPath(FEED));
  const applied = events.create + events.update + events.delete;
  expect(said).toEqual([
    lines,
    duplicates,
    deadLetters,
    applied,
    rows,
    events.create,
    events.update,
    events.delete,
  ]);
  expect(lines).toBe(applied + duplicates + deadLetters);
  for (const query of DEMO_QUERIES) expect(text).toContain(query.sql);
  const bad = (await feedLines()).findIndex((line) => line.includes('"magnitude":"unknown"'));
  expect(text).toContain(`Line ${bad + 1} creates`);
});

test('the workspace holds a valid pipeline whose path leads to the feed', async () => {
  const { pipelinePath, feedPath } = await prepareDemo(join(folder, 'new'));
  expect((await loadPipeline(pipelinePath)).spec).toMatchObject({
    pipeline_id: 'quakes',
    source: { path: feedPath },
  });
  expect(await readFile(feedPath)).toEqual(await readFile(FEED));
});

test('a pipeline file that was changed by hand stays', async () => {
  const { pipelinePath } = await prepareDemo(join(folder, 'again'));
  await writeFile(pipelinePath, 'changed');
  await prepareDemo(join(folder, 'again'));
  expect(await readFile(pipelinePath, 'utf8')).toBe('changed');
});

test('a folder that cannot be written is named', async () => {
  await writeFile(join(folder, 'file'), '');
  await expect(prepareDemo(join(folder, 'file'))).rejects.toMatchObject({ code: 'E_STATE_WRITE' });
});
