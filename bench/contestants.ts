/** Who runs on the feed: the hand-written script, the product in its settings, and Flink. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { contentsOf, contentsQuery, firstRow } from './contents.ts';
import { measureProcess } from './measure.ts';
import { RENAMED, writePipeline, type PipelineChoice } from './pipelines.ts';
import type { Contestant } from './contestant.ts';
import { flink } from './flink.ts';

export const CONTESTANTS = [
  'script',
  'one-checkpoint',
  '64mb-checkpoints',
  'events',
  'flink',
] as const;
export type ContestantName = (typeof CONTESTANTS)[number];

const ROOT = join(import.meta.dirname, '..');
const DATA = join(import.meta.dirname, '.data');
/** The product as `npm run build` makes it. */
export const BUILT = join(ROOT, 'dist/bin/lakeward.js');
const CHECKPOINT_BYTES = 67_108_864;

export function contestant(name: ContestantName, feed: string, main: string): Contestant {
  const folder = join(DATA, 'runs', name);
  switch (name) {
    case 'script':
      return script(folder, feed);
    case 'one-checkpoint':
      return lakeward(name, main, folder, feed, {});
    case '64mb-checkpoints':
      return lakeward(name, main, folder, feed, { maxBytes: CHECKPOINT_BYTES });
    case 'events':
      return lakeward(name, main, folder, feed, { isMapped: true });
    case 'flink':
      return flink(folder, feed);
  }
}

function script(folder: string, feed: string): Contestant {
  const program = compiledScript();
  const target = join(folder, 'orders.parquet');
  return {
    name: 'script',
    run: () => {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
      return measureProcess(process.execPath, [program, feed, target]);
    },
    contents: async () => contentsOf(await firstRow(contentsQuery(`'${target}'`))),
  };
}

/** Plain JavaScript, as the product's own: a loader of TypeScript would cost the script its start. */
function compiledScript(): string {
  const folder = join(DATA, 'js');
  const compiler = join(ROOT, 'node_modules/.bin/tsc');
  const flags =
    '--ignoreConfig --target es2023 --module nodenext --types node --skipLibCheck'.split(' ');
  execFileSync(compiler, [...flags, '--outDir', folder, join(import.meta.dirname, 'script.ts')], {
    cwd: ROOT,
  });
  return join(folder, 'script.js');
}

function lakeward(
  name: string,
  main: string,
  folder: string,
  feed: string,
  choice: PipelineChoice,
): Contestant {
  const pipeline = join(folder, 'pipeline.yaml');
  return {
    name,
    run: () =>
      measureProcess(process.execPath, [
        main,
        'run',
        writePipeline(folder, feed, choice),
        '-o',
        'json',
      ]),
    contents: async () => {
      const query = contentsQuery('shop.orders', choice.isMapped === true ? RENAMED : {});
      const { stdout } = await measureProcess(process.execPath, [
        main,
        'query',
        query,
        pipeline,
        '-o',
        'json',
      ]);
      const [row] = JSON.parse(stdout) as Readonly<Record<string, unknown>>[];
      if (choice.isMapped === true) await checkEvents(join(folder, 'events'), feed);
      return contentsOf(row ?? {});
    },
  };
}

/** Each change of the feed has its event: the counts by operation agree. @throws Error when they do not */
async function checkEvents(folder: string, feed: string): Promise<void> {
  if (!existsSync(folder) || readdirSync(folder).length === 0)
    throw new Error(`no events in ${folder}`);
  const counts = (operation: string, source: string): Promise<Readonly<Record<string, unknown>>> =>
    firstRow(`SELECT string_agg(o || '=' || n, ' ' ORDER BY o) AS counts FROM (
      SELECT ${operation} AS o, count(*) AS n FROM ${source} GROUP BY o)`);
  const events = await counts(
    'data.operation',
    `read_json('${folder}/*.ndjson', format = 'newline_delimited', columns = {data: 'STRUCT(operation VARCHAR)'})`,
  );
  const changes = await counts(
    `CASE op WHEN 'c' THEN 'create' WHEN 'u' THEN 'update' ELSE 'delete' END`,
    `read_json('${feed}', format = 'newline_delimited', columns = {op: 'VARCHAR'})`,
  );
  if (events['counts'] !== changes['counts']) {
    throw new Error(
      `the feed has ${String(changes['counts'])}, the log ${String(events['counts'])}`,
    );
  }
}
