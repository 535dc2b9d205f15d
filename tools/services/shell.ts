/** Runs the tools of the machine (pip, mvn, tar, apt-get) with their output in a log file. */
import { spawn } from 'node:child_process';
import { appendFileSync, closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { logsDir } from './layout.ts';

/** What a part may use while it is installed. */
export interface Shell {
  /** One line of progress for the reader. */
  say(text: string): void;
  /** Runs one command to its end. Throws with the tail of its output when it fails. */
  run(
    command: string,
    args: readonly string[],
    options?: { env?: NodeJS.ProcessEnv },
  ): Promise<void>;
}

const TAIL_LINES = 12;

export function openShell(name: string): Shell {
  mkdirSync(logsDir, { recursive: true });
  const log = join(logsDir, `${name}.log`);
  return {
    say: (text) => {
      console.log(`[${name}] ${text}`);
    },
    run: async (command, args, options = {}) => {
      appendFileSync(log, `$ ${command} ${args.join(' ')}\n`);
      const code = await exitOf(command, args, log, options.env ?? process.env);
      if (code === 0) return;
      const tail = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-TAIL_LINES).join('\n  ');
      throw new Error(`${command} failed (${code}); the end of ${log}:\n  ${tail}`);
    },
  };
}

function exitOf(
  command: string,
  args: readonly string[],
  log: string,
  env: NodeJS.ProcessEnv,
): Promise<number | string> {
  const out = openSync(log, 'a');
  return new Promise<number | string>((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', out, out], env });
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'no exit code'));
  }).finally(() => closeSync(out));
}

/** What a command prints on both outputs; null when it cannot be started or fails. */
export function outputOf(command: string, args: readonly string[]): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
    child.once('error', () => resolve(null));
    child.once('close', (code) => resolve(code === 0 ? text : null));
  });
}
