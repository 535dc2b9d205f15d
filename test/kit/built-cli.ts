import { execFile } from 'node:child_process';
import { copyFile, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { tempDir } from './temp-dir.ts';

/** The command line as a user has it, built from the sources as they are now. */
export interface BuiltCli extends AsyncDisposable {
  /** Arguments of `node`, before those of the command line. */
  readonly script: string;
}

const ROOT = join(import.meta.dirname, '..', '..');

export async function buildCli(): Promise<BuiltCli> {
  const dir = await tempDir();
  const dist = join(dir.path, 'dist');
  await mkdir(dist);
  await copyFile(join(ROOT, 'package.json'), join(dir.path, 'package.json'));
  await symlink(join(ROOT, 'node_modules'), join(dir.path, 'node_modules'), 'dir');
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  await promisify(execFile)(process.execPath, [
    compiler,
    '-p',
    join(ROOT, 'tsconfig.build.json'),
    '--outDir',
    dist,
  ]);
  return { script: join(dist, 'main.js'), [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose]() };
}
