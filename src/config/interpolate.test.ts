import { expect, test } from 'vitest';
import type { Reference } from './interpolate.ts';
import { interpolate } from './interpolate.ts';

const VALUES: Readonly<Record<string, string>> = {
  'env:A': 'a',
  'env:EMPTY': '',
  'file:/x': 'f',
  'k8s:ns/name#key': 'k',
};

function lookup(reference: Reference): string | null {
  const id = {
    env: () => `env:${reference.kind === 'env' ? reference.name : ''}`,
    file: () => `file:${reference.kind === 'file' ? reference.path : ''}`,
    k8s: () =>
      reference.kind === 'k8s'
        ? `k8s:${reference.namespace}/${reference.name}#${reference.key}`
        : '',
  }[reference.kind]();
  return VALUES[id] ?? null;
}

test.each([
  ['${env:A}', 'a'],
  ['x${env:A}y${file:/x}', 'xayf'],
  ['${k8s:ns/name#key}', 'k'],
  ['${env:NONE:-d}', 'd'],
  ['${env:NONE:-a:-b}', 'a:-b'],
  ['${env:EMPTY:-d}', 'd'],
  ['${env:EMPTY}', ''],
  ['$${env:A}', '${env:A}'],
  ['$$${env:A}', '$${env:A}'],
  ['$${', '${'],
])('%s becomes %j', (text, expected) => {
  expect(interpolate(text, lookup)).toMatchObject({ text: expected });
});

test('a text without a reference is left alone', () => {
  for (const text of ['', 'a', '$', '$a', '{pk}', 'a $ {b}', '$$'])
    expect(interpolate(text, lookup)).toBeNull();
});

test.each([
  ['${env:NONE}', 'E_CONFIG_SECRET'],
  ['${file:/none}', 'E_CONFIG_SECRET'],
  ['${k8s:ns/name#none}', 'E_CONFIG_SECRET'],
  ['${A}', 'E_CONFIG_VALUE'],
  ['${A:-b}', 'E_CONFIG_VALUE'],
  ['${env:}', 'E_CONFIG_VALUE'],
  ['${env:A-B}', 'E_CONFIG_VALUE'],
  ['${vault:x}', 'E_CONFIG_VALUE'],
  ['${}', 'E_CONFIG_VALUE'],
  ['${env:A', 'E_CONFIG_VALUE'],
  ['${k8s:../name#key}', 'E_CONFIG_VALUE'],
  ['${k8s:ns/name#..}', 'E_CONFIG_VALUE'],
  ['${k8s:ns/name#a/b}', 'E_CONFIG_VALUE'],
])('%s is refused', (text, code) => {
  expect(interpolate(text, lookup)).toMatchObject({ code });
});

test('a value that looks like a reference is not read again', () => {
  const result = interpolate('${env:X}', () => '${env:A}');
  expect(result).toMatchObject({ text: '${env:A}' });
});
