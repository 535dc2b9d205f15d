import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const IMPORT = /^(?:import|export)\s(?!type\b)(?:[^'";]*?\sfrom\s)?'([^']+)'/gmu;

/** Modules that a file loads before its first line runs. */
function loadedBy(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
    if (name.startsWith('.')) loadedBy(join(dirname(file), name), seen);
    else seen.add(name);
  }
  return seen;
}

test('the command line itself loads commander and picocolors, and no command', () => {
  const loaded = [...loadedBy(join(import.meta.dirname, '../main.ts'))];
  const modules = loaded.filter((name) => !name.startsWith('/') && !name.startsWith('node:'));
  expect(modules.toSorted()).toEqual(['commander', 'picocolors']);
  expect(loaded.filter((name) => name.includes('/cli/commands/'))).toEqual([]);
});
