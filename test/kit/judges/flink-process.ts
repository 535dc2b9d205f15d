/** A Flink SQL script as a process of its own, from start to end, for comparisons of time and memory. */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { flinkConfDir, flinkLibDir, flinkOptDir } from '../../../tools/services/layout.ts';
import { javaHome, javaOf } from '../../../tools/services/toolchain.ts';
import { FLINK_FLAGS } from './java-flags.ts';
import { JudgeError } from './judge-process.ts';

export interface FlinkRun {
  /** From before the start of the process to its end, milliseconds. */
  readonly wallMs: number;
  /** Highest resident memory that was seen, sampled every 50 ms. */
  readonly peakRssBytes: number;
  readonly output: string;
}

const SAMPLE_MS = 50;

/** Waits for each job, runs it in the process, and asks for nothing that a fixed port would serve. */
const PREAMBLE = [
  `SET 'execution.target' = 'local'`,
  `SET 'table.dml-sync' = 'true'`,
  `SET 'table.local-time-zone' = 'UTC'`,
];

/**
 * Runs the statements with Flink's own SQL client. What they do not set is Flink's default: streaming mode, and
 * `parallelism.default` 1. The catalog is theirs to create.
 * @throws JudgeError when a statement fails; the client itself would end with exit code 0
 */
export async function runFlinkScript(
  statements: readonly string[],
  options: { readonly heapMb?: number } = {},
): Promise<FlinkRun> {
  const folder = await mkdtemp(join(tmpdir(), 'flink-script-'));
  try {
    const script = join(folder, 'script.sql');
    await writeFile(script, [...PREAMBLE, ...statements].map((s) => `${s};\n`).join(''));
    return await runClient(folder, script, options.heapMb);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runClient(folder: string, script: string, heapMb?: number): Promise<FlinkRun> {
  const java = javaOf(await javaHome());
  const start = performance.now();
  const child = spawn(
    java,
    [
      ...(heapMb === undefined ? [] : [`-Xmx${heapMb}m`]),
      `-Djava.io.tmpdir=${folder}`,
      `-Dlog4j.configurationFile=${join(flinkConfDir, 'log4j2.properties')}`,
      ...FLINK_FLAGS,
      '-cp',
      [join(flinkLibDir, '*'), join(flinkOptDir, '*')].join(delimiter),
      'org.apache.flink.table.client.SqlClient',
      '-hist',
      `${script}.history`,
      '-f',
      script,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, FLINK_CONF_DIR: flinkConfDir } },
  );
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
  const memory = samplePeak(child.pid ?? 0);
  const code = await ended;
  const wallMs = performance.now() - start;
  const peakRssBytes = memory.stop();
  const refusal = output.indexOf('[ERROR]');
  if (refusal >= 0) throw new JudgeError('flink', [output.slice(refusal).trim()]);
  if (code !== 0) throw new JudgeError('flink', [`exit code ${code}`, output.trim()]);
  return { wallMs, peakRssBytes, output };
}

/** The kernel keeps the high-water mark itself, so that sampling loses only the last moment. */
function samplePeak(pid: number): { stop: () => number } {
  let peakKb = 0;
  const timer = setInterval(() => {
    readFile(`/proc/${pid}/status`, 'utf8').then(
      (status) => {
        peakKb = Math.max(peakKb, Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0));
      },
      () => undefined, // it has ended
    );
  }, SAMPLE_MS);
  return {
    stop: () => {
      clearInterval(timer);
      return peakKb * 1024;
    },
  };
}
