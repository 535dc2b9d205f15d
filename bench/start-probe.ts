/** How long a run takes from the start of its process until it reads the rows of its feed. */
import { spawn } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const SAMPLE_MS = 2;
/** A feed that stays open for so long is being read; a shorter look at it is its fingerprint. */
const READING_MS = 60;
const GIVE_UP_MS = 30_000;

/**
 * Milliseconds from before the start of the process to the moment at which it opened the feed to read it; the process
 * is then ended. Sampled in a run of its own, because looking costs the run some time.
 * @throws Error when the feed is never kept open
 */
export async function startToReadingMs(
  program: string,
  args: readonly string[],
  feed: string,
): Promise<number> {
  const start = performance.now();
  const child = spawn(program, args, { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  try {
    let openedMs: number | null = null;
    for (
      let nowMs = 0;
      nowMs < GIVE_UP_MS && child.exitCode === null;
      nowMs = performance.now() - start
    ) {
      openedMs = holdsOpen(child.pid ?? 0, feed) ? (openedMs ?? nowMs) : null;
      if (openedMs !== null && nowMs - openedMs > READING_MS) return openedMs;
      await sleep(SAMPLE_MS);
    }
    throw new Error('the process ended without reading the feed');
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

function holdsOpen(pid: number, file: string): boolean {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).some((fd) => readlinkSync(`${folder}/${fd}`) === file);
  } catch {
    return false; // A descriptor was closed between the two looks; the next sample sees it.
  }
}
