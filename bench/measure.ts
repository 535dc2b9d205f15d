/** Whole processes, measured from outside by the kernel's own accounts (Linux: `/proc`). */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

export interface Measurement {
  /** From before the start of the process to its end. */
  readonly wallMs: number;
  /** User and system time of the process and its children. */
  readonly cpuMs: number;
  /** Highest resident memory. */
  readonly peakBytes: number;
}

export interface FinishedProcess extends Measurement {
  readonly stdout: string;
}

const SAMPLE_MS = 20;
/** `/proc` counts CPU time in ticks of 1/100 s on every Linux that Node supports. */
const TICK_MS = 10;

/** Runs a program to its end. @throws Error when its exit code is not 0 */
export async function measureProcess(
  program: string,
  args: readonly string[],
): Promise<FinishedProcess> {
  const cpuBeforeMs = childrenCpuMs();
  const start = performance.now();
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const pid = child.pid ?? 0;
  let stdout = '';
  let stderr = '';
  let peakBytes = 0;
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const timer = setInterval(
    () => (peakBytes = Math.max(peakBytes, highWaterBytes(pid))),
    SAMPLE_MS,
  );
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  }).finally(() => clearInterval(timer));
  const wallMs = performance.now() - start;
  if (code !== 0)
    throw new Error(`${program} ${args.join(' ')}: exit code ${code}\n${stderr}${stdout}`);
  return { wallMs, cpuMs: childrenCpuMs() - cpuBeforeMs, peakBytes, stdout };
}

/** CPU time of all children that have ended: fields 16 and 17 of the process's own account. */
export function childrenCpuMs(): number {
  const account = readFileSync('/proc/self/stat', 'utf8');
  // The second field is the program's name in brackets, which may hold blanks.
  const fields = account.slice(account.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS;
}

/** The kernel keeps the high-water mark itself, so that sampling loses only what grows in the last moment. */
function highWaterBytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0; // It has ended.
  }
}
