/**
 * A change feed becomes an Iceberg table: the product against a hand-written script (the practical limit) and against
 * Flink, all as whole processes on one generated feed, run in turn, so that a slow minute of the machine meets all.
 * See docs/benchmarks.md.
 *
 *   npm run bench -- --rows 1000000             medians of 3 runs, one table
 *   npm run bench -- --rows 1000000,10000000    two sizes, and the targets that compare them
 *   npm run bench -- --lakeward ../other/dist/bin/lakeward.js   another build of the product
 *   npm run bench -- --only script,one-checkpoint --runs 5 --json
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { differences, type Contents } from './contents.ts';
import { BUILT, CONTESTANTS, contestant, type ContestantName } from './contestants.ts';
import { hasFlink } from './flink.ts';
import { generateFeed } from './generate-feed.ts';
import type { Measurement } from './measure.ts';
import { writePipeline } from './pipelines.ts';
import { formatReport, type SizeReport } from './report.ts';
import { startToReadingMs } from './start-probe.ts';
import { verdicts } from './targets.ts';

interface Choice {
  readonly sizes: readonly number[];
  readonly names: readonly ContestantName[];
  /** Null: 3 runs, and 1 above a million rows. */
  readonly runs: number | null;
  readonly isJson: boolean;
  /** The product's built command line. */
  readonly main: string;
}

const RUNS_DEFAULT = 3;
const MILLION = 1_000_000;
const progress = (text: string): void => void process.stderr.write(`${text}\n`);

async function main(): Promise<void> {
  const { choice, isBuilding } = chosen();
  if (isBuilding) execFileSync('npm', ['run', 'build', '--silent'], { stdio: 'inherit' });
  const sizes: SizeReport[] = [];
  for (const rows of choice.sizes) sizes.push(await measureSize(rows, choice));
  const targets = verdicts(sizes);
  console.log(
    choice.isJson ? JSON.stringify({ sizes, targets }, null, 2) : formatReport(sizes, targets),
  );
  if (sizes.some((size) => Object.values(size.differences).some((found) => found.length > 0)))
    process.exitCode = 1;
}

function chosen(): { choice: Choice; isBuilding: boolean } {
  const { values } = parseArgs({
    options: {
      rows: { type: 'string', default: String(MILLION) },
      runs: { type: 'string' },
      only: { type: 'string', default: CONTESTANTS.join(',') },
      json: { type: 'boolean', default: false },
      lakeward: { type: 'string' },
      'no-build': { type: 'boolean', default: false },
    },
  });
  const only = values.only.split(',');
  const unknown = only.find((name) => !CONTESTANTS.some((known) => known === name));
  if (unknown !== undefined)
    throw new Error(`--only knows ${CONTESTANTS.join(', ')}, not ${unknown}`);
  return {
    choice: {
      sizes: values.rows.split(',').map(Number),
      names: CONTESTANTS.filter((name) => only.includes(name)),
      runs: values.runs === undefined ? null : Number(values.runs),
      isJson: values.json,
      main: values.lakeward ?? BUILT,
    },
    isBuilding: values.lakeward === undefined && !values['no-build'],
  };
}

async function measureSize(rows: number, choice: Choice): Promise<SizeReport> {
  progress(`feed of ${rows.toLocaleString('en')} changes`);
  const feed = generateFeed({ rows, seed: 1 });
  const entered = choice.names
    .filter((name) => isThere(name, choice.main))
    .map((name) => ({ name, it: contestant(name, feed, choice.main) }));
  const runs = choice.runs ?? (rows > MILLION ? 1 : RUNS_DEFAULT);
  const measured: Partial<Record<ContestantName, Measurement[]>> = {};
  for (let run = 1; run <= runs; run++) {
    for (const { name, it } of entered) {
      const measurement = await it.run();
      progress(`  run ${run} of ${runs}  ${name}  ${(measurement.wallMs / 1000).toFixed(2)} s`);
      (measured[name] ??= []).push(measurement);
    }
  }
  const contents: Partial<Record<ContestantName, Contents>> = {};
  for (const { name, it } of entered) contents[name] = await it.contents();
  return {
    rows,
    runs,
    medians: Object.fromEntries(
      Object.entries(measured).map(([name, each]) => [name, medians(each)]),
    ),
    contents,
    differences: differing(contents),
    startToReadingMs: await probeStart(feed, runs, choice),
  };
}

function isThere(name: ContestantName, main: string): boolean {
  const missing = name === 'flink' ? !hasFlink() : name !== 'script' && !existsSync(main);
  if (missing)
    progress(
      `  ${name} is left out: ${name === 'flink' ? 'npm run services' : 'npm run build'} brings it`,
    );
  return !missing;
}

/** Against the first contestant, which is the script unless it was left out. */
function differing(contents: Partial<Record<ContestantName, Contents>>): SizeReport['differences'] {
  const [first, ...others] = Object.entries(contents);
  return Object.fromEntries(
    others.map(([name, found]) => [name, first === undefined ? [] : differences(first[1], found)]),
  );
}

async function probeStart(
  feed: string,
  runs: number,
  { names, main }: Choice,
): Promise<number | null> {
  if (!names.includes('one-checkpoint') || !existsSync(main)) return null;
  const found: number[] = [];
  for (let run = 0; run < runs; run++) {
    const pipeline = writePipeline(join(import.meta.dirname, '.data/runs/start'), feed);
    found.push(await startToReadingMs(process.execPath, [main, 'run', pipeline], feed));
  }
  return median(found);
}

function medians(runs: readonly Measurement[]): Measurement {
  return {
    wallMs: median(runs.map((run) => run.wallMs)),
    cpuMs: median(runs.map((run) => run.cpuMs)),
    peakBytes: Math.max(...runs.map((run) => run.peakBytes)),
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

await main();
