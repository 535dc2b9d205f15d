import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from '../../tools/build.ts';

/** The command line as a user has it, built from the sources as they are now. */
export interface BuiltCli extends AsyncDisposable {
  /** Arguments of `node`, before those of the command line. */
  readonly script: string;
  readonly dir: string;
}

const ROOT = join(import.meta.dirname, '..', '..');

/** Builds into a folder beside links to what the build expects around it, so that no other test's `dist` matters. */
export async function buildCli(): Promise<BuiltCli> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'lakeward-cli-')));
  for (const name of ['node_modules', 'src', 'schema', 'package.json'])
    await symlink(join(ROOT, name), join(dir, name));
  await mkdir(join(dir, 'dist'));
  return {
    script: await build(join(dir, 'dist')),
    dir,
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  };
}
