/**
 * Builds the package: every module with its types for those who import it, and the command line once more as a few
 * bundled files, since resolving and linking two hundred modules takes longer than running a small pipeline.
 *
 * `tsx tools/build.ts [DIR]`; DIR is `dist` unless it is said.
 */
import { execFile } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** @returns path of the command line's script */
export async function build(dist: string): Promise<string> {
  await rm(dist, { recursive: true, force: true });
  await promisify(execFile)(process.execPath, [
    join(ROOT, 'node_modules/typescript/bin/tsc'),
    '-p',
    join(ROOT, 'tsconfig.build.json'),
    '--outDir',
    dist,
  ]);
  return await bundle(dist);
}

async function bundle(dist: string): Promise<string> {
  const dir = join(dist, 'bin');
  const bundled = await rolldown({
    input: { lakeward: join(dist, 'main.js') },
    platform: 'node',
    // The engine's native parts stay where the package manager put them.
    external: [/^@duckdb\/node-bindings/u],
  });
  const { output } = await bundled.write({
    dir,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  });
  const modules = output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []));
  await writeFile(join(dir, 'LICENSES.txt'), await licenses(modules));
  return join(dir, 'lakeward.js');
}

/** The license of each package whose code is in the bundle. */
async function licenses(modules: readonly string[]): Promise<string> {
  const names = modules.flatMap(
    (path) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//u.exec(path)?.[1] ?? [],
  );
  const texts = [...new Set(names)].sort().map(async (name) => {
    const folder = join(ROOT, 'node_modules', name);
    const file = (await readdir(folder)).find((entry) => /^licen[cs]e/iu.test(entry));
    const { license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
      license: string;
    };
    const text = file === undefined ? '' : `\n${await readFile(join(folder, file), 'utf8')}`;
    return `${name} (${license})\n${text}`;
  });
  return (await Promise.all(texts)).join(`\n${'-'.repeat(80)}\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  await build(process.argv[2] ?? join(ROOT, 'dist'));
