import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { encodingsOf, TYPE_WORDS } from '../src/config/column-type.ts';
import { loadPipeline } from '../src/config/load.ts';
import { encodingsOf as encodingsOfCasts } from '../src/sql/casts.ts';
import { generatedFiles } from '../tools/generate-reference.ts';

const root = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

test.each(generatedFiles())('$path is what the source generates', async ({ path, text }) => {
  const found = await readFile(root(path), 'utf8');
  expect(found === text, `${path} is stale: run npx tsx tools/generate-reference.ts`).toBe(true);
});

const examples = (await readdir(root('examples'))).filter((name) => name.endsWith('.yaml'));

test('there are examples', () => {
  expect(examples).toContain('minimal.yaml');
  expect(examples).toContain('ontology.yaml');
});

test.each(examples)('the example %s is a pipeline and names its schema', async (name) => {
  const { notices } = await loadPipeline(root(`examples/${name}`));
  expect(notices).toEqual([]);
  const text = await readFile(root(`examples/${name}`), 'utf8');
  expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=../schema/v1.json');
});

test('the encodings that the reference lists are those that the casts take', () => {
  for (const type of TYPE_WORDS)
    expect([...encodingsOf(type)].sort()).toEqual([...encodingsOfCasts(type)].sort());
});
