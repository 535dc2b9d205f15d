/** Ends servers by the pid files that started them, and only what still is one of ours. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runDir, servicesDir } from './layout.ts';

const WAIT_MS = 30_000;
const POLL_MS = 100;

export async function stopServers(): Promise<void> {
  const files = pidFiles();
  if (files.length === 0) console.log('No server is running.');
  await Promise.all(files.map(stopServer));
}

function pidFiles(): string[] {
  try {
    return readdirSync(runDir).filter((name) => name.endsWith('.pid'));
  } catch {
    return []; // nothing was ever started
  }
}

async function stopServer(file: string): Promise<void> {
  const path = join(runDir, file);
  const pid = Number(readFileSync(path, 'utf8').trim());
  const name = file.replace(/\.pid$/, '');
  if (isOurs(pid)) {
    process.kill(pid, 'SIGTERM');
    for (let waited = 0; isOurs(pid) && waited < WAIT_MS; waited += POLL_MS) await pause();
    if (isOurs(pid)) process.kill(pid, 'SIGKILL');
    console.log(`[${name}] stopped`);
  }
  rmSync(path, { force: true });
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, POLL_MS));

/** A pid is used again by the system: a process counts as ours only when its command line names our folder. */
function isOurs(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(servicesDir);
  } catch {
    return false; // it has ended
  }
}
