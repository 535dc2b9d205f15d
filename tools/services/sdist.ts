/**
 * Source distributions that carry ready-made jars. They are fetched and unpacked, never built or installed: their
 * set-up scripts would want compilers and a long list of Python packages that nobody here needs.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { downloadsDir, isStamped, stamp } from './layout.ts';
import type { Shell } from './shell.ts';

// A machine may have Python without pip; a virtual environment always brings one. Made once for both parts.
let environment: Promise<string> | undefined;

function pythonWithPip(python: string, shell: Shell): Promise<string> {
  environment ??= makeEnvironment(python, shell);
  return environment;
}

async function makeEnvironment(python: string, shell: Shell): Promise<string> {
  const folder = join(downloadsDir, 'pip');
  if (!isStamped(folder, python)) {
    await shell.run(python, ['-m', 'venv', '--clear', folder]);
    stamp(folder, python);
  }
  return join(folder, 'bin', 'python');
}

/** The archive of `name==version`, downloaded once. A download that was cut never lies under this name. */
export async function fetchSdist(
  requirement: string,
  python: string,
  shell: Shell,
): Promise<string> {
  const kept = join(downloadsDir, `${requirement.replace('==', '-')}.tar.gz`);
  if (existsSync(kept)) return kept;
  const incoming = `${kept}.incoming`;
  rmSync(incoming, { recursive: true, force: true });
  mkdirSync(incoming, { recursive: true });
  // `pip download` runs the package's set-up script to learn its metadata; a small one that needs nothing here.
  const options = ['--no-deps', '--no-cache-dir', '--no-binary', ':all:', '--progress-bar', 'off'];
  const download = ['-m', 'pip', 'download', ...options, '--dest', incoming, requirement];
  await shell.run(await pythonWithPip(python, shell), download);
  const archive = readdirSync(incoming).find((name) => name.endsWith('.tar.gz'));
  if (archive === undefined) throw new Error(`pip fetched no .tar.gz of ${requirement}`);
  renameSync(join(incoming, archive), kept);
  rmSync(incoming, { recursive: true, force: true });
  return kept;
}

/** Unpacks the members that `patterns` name (globs, from inside the archive's top folder) into `folder`. */
export async function unpack(
  archive: string,
  folder: string,
  options: { readonly patterns: readonly string[]; readonly strip: number },
  shell: Shell,
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const members = options.patterns.map((pattern) => `*/${pattern}`);
  const how = [`--strip-components=${options.strip}`, '--wildcards', '--no-same-owner'];
  await shell.run('tar', ['-xzf', archive, '-C', folder, ...how, ...members]);
}
