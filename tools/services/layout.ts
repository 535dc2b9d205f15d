/**
 * Where `npm run services` puts what it installs, and how a test finds out whether it is there. Everything lies in
 * `.services/` of the checkout, so that two checkouts never share a file and `clean` removes one folder.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export type PartName = 'python' | 'flink' | 'spark';

const root = join(import.meta.dirname, '..', '..');
export const servicesDir = join(root, '.services');
/** What was downloaded and is not kept by a package manager itself. */
export const downloadsDir = join(servicesDir, 'downloads');
export const logsDir = join(servicesDir, 'logs');
/** One `<name>.pid` for each server that was left running. */
export const runDir = join(servicesDir, 'run');
const judgesDir = join(root, 'test', 'kit', 'judges');
export const javaJudgesDir = join(judgesDir, 'java');
export const pythonJudgesDir = join(judgesDir, 'python');

export const partDir = (part: PartName): string => join(servicesDir, part);
export const pythonBin = join(partDir('python'), 'venv', 'bin', 'python');
export const flinkLibDir = join(partDir('flink'), 'lib');
/** SQL client and gateway: needed by whole-process runs only. */
export const flinkOptDir = join(partDir('flink'), 'opt');
export const flinkConfDir = join(partDir('flink'), 'conf');
export const sparkJarsDir = join(partDir('spark'), 'jars');

/** Written last: a folder without the stamp of this recipe is not installed, whatever it holds. */
const stampOf = (folder: string): string => join(folder, '.installed');

export function fingerprint(...texts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text).update('\0');
  return hash.digest('hex').slice(0, 16);
}

export function isStamped(folder: string, recipe: string): boolean {
  try {
    return readFileSync(stampOf(folder), 'utf8') === recipe;
  } catch {
    return false; // no stamp: not installed
  }
}

export function stamp(folder: string, recipe: string): void {
  mkdirSync(dirname(stampOf(folder)), { recursive: true });
  writeFileSync(stampOf(folder), recipe);
}
