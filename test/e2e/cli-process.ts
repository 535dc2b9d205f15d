/** The command line as a process of its own, built from the sources as they are. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { buildCli } from '../kit/built-cli.ts';

export const ROOT = join(import.meta.dirname, '../..');

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Cli {
  /** Runs a command line to its end, with stdin closed. */
  readonly run: (args: readonly string[], options?: RunOptions) => Promise<Ran>;
  /** Starts one. */
  readonly start: (args: readonly string[], options?: RunOptions) => ChildProcess;
  readonly dispose: () => Promise<void>;
}

interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

export async function startCli(): Promise<Cli> {
  const built = await buildCli();
  const start = (args: readonly string[], { cwd, env, stdin }: RunOptions = {}): ChildProcess => {
    const {
      npm_command: _npm,
      FORCE_COLOR: _color,
      NO_COLOR: _noColor,
      CI: _ci,
      ...inherited
    } = process.env;
    const child = spawn(process.execPath, [built.script, ...args], {
      cwd: cwd ?? built.dir,
      env: { ...inherited, ...env },
      stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    if (stdin !== undefined) child.stdin?.end(stdin);
    return child;
  };
  return {
    start,
    run: (args, options) => ended(start(args, options)),
    dispose: async () => {
      await built[Symbol.asyncDispose]();
    },
  };
}

/** What a process said, once it has ended. */
export async function ended(child: ChildProcess): Promise<Ran> {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout?.on('data', (part: Buffer) => stdout.push(part));
  child.stderr?.on('data', (part: Buffer) => stderr.push(part));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return {
    code,
    stdout: Buffer.concat(stdout).toString(),
    stderr: Buffer.concat(stderr).toString(),
  };
}

/** Resolves when a process has said something on stderr that matches. */
export async function said(child: ChildProcess, pattern: RegExp): Promise<string> {
  let text = '';
  return await new Promise((resolve, reject) => {
    child.stderr?.on('data', (part: Buffer) => {
      text += part.toString();
      if (pattern.test(text)) resolve(text);
    });
    child.on('close', () => reject(new Error(`ended without saying ${pattern}: ${text}`)));
  });
}

/** A folder that is gone after the test, with files in it by name. */
export async function folderOf(files: Readonly<Record<string, string>>): Promise<string> {
  const dir = await makeFolder(files);
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** A folder with files in it, for the caller to remove. */
export async function makeFolder(files: Readonly<Record<string, string>>): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'lakeward-test-'));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(dir, name, '..'), { recursive: true });
    await writeFile(join(dir, name), text);
  }
  return dir;
}
