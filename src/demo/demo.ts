/** The workspace of `lakeward demo`: a pipeline file and a recorded feed, both shipped with the package. */
import { constants, copyFile, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PipelineError } from '../model/errors.ts';

export interface DemoQuery {
  readonly title: string;
  /** For `lakeward query`; on one line. */
  readonly sql: string;
}

export interface DemoWorkspace {
  readonly pipelinePath: string;
  readonly feedPath: string;
  /** The first is the one to run at once. */
  readonly queries: readonly DemoQuery[];
}

export const DEMO_QUERIES: readonly DemoQuery[] = [
  {
    title: 'the five strongest earthquakes of the week',
    sql: 'SELECT magnitude, place, occurred_at, felt_reports FROM quakes.earthquake ORDER BY magnitude DESC, occurred_at LIMIT 5',
  },
  {
    title: 'how many a day, and how many of them a person has reviewed',
    sql: `SELECT CAST(occurred_at AT TIME ZONE 'UTC' AS DATE) AS day, count(*) AS quakes, count(*) FILTER (status = 'reviewed') AS reviewed, max(magnitude) AS strongest FROM quakes.earthquake GROUP BY day ORDER BY day`,
  },
  {
    title: 'what shook that was no earthquake',
    sql: `SELECT kind, count(*) AS events, max(magnitude) AS strongest FROM quakes.earthquake WHERE kind <> 'earthquake' GROUP BY kind ORDER BY events DESC`,
  },
];

// The files are no code, so the build leaves them where they are; the way there is the same from src and from dist.
const ASSETS = new URL('../../src/demo/', import.meta.url);

/**
 * Writes the workspace. Files that are there already stay as they are, so a demo that was changed by hand can be run
 * again.
 * @throws E_STATE_WRITE
 */
export async function prepareDemo(dir: string): Promise<DemoWorkspace> {
  const folder = resolve(dir);
  try {
    await mkdir(folder, { recursive: true });
    const pipelinePath = await provide('pipeline.yaml', folder);
    const feedPath = await provide('quakes.ndjson.gz', folder);
    return { pipelinePath, feedPath, queries: DEMO_QUERIES };
  } catch (cause) {
    throw new PipelineError('E_STATE_WRITE', `The demo cannot be written to ${folder}.`, {
      subject: { file: folder },
      cause,
    });
  }
}

async function provide(name: string, folder: string): Promise<string> {
  const path = join(folder, name);
  try {
    await copyFile(fileURLToPath(new URL(name, ASSETS)), path, constants.COPYFILE_EXCL);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return path;
}
