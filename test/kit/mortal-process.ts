import { spawn } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';

export interface Death {
  /** It dies after so many lines of its output that match; null: by the time only. */
  readonly afterLines: { readonly match: RegExp; readonly count: number } | null;
  readonly thenMs: number;
}

export interface Ended {
  readonly wasKilled: boolean;
  /** Null where it was killed. */
  readonly code: number | null;
  readonly output: string;
}

/** Runs a process of Node, to its end or to its death by SIGKILL. */
export async function runMortal(args: readonly string[], death: Death | null): Promise<Ended> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let reached = (): void => {};
  const lines = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const wanted = death?.afterLines ?? null;
  if (wanted === null || wanted.count === 0) reached();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (
        wanted !== null &&
        output.split('\n').filter((line) => wanted.match.test(line)).length >= wanted.count
      )
        reached();
    });
  }
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>(
    (resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve({ code, signal }));
    },
  );
  if (death !== null) {
    const time = lines.then(() => setTimeout(death.thenMs)).then(() => child.kill('SIGKILL'));
    await Promise.race([time, ended]);
  }
  const { code, signal } = await ended;
  return { wasKilled: signal === 'SIGKILL', code, output };
}
