import { expect, test } from 'vitest';
import { localPath } from './local-path.ts';

test.each([
  ['a/b', '/base/a/b'],
  ['./a', '/base/a'],
  ['../a', '/a'],
  ['/a/b', '/a/b'],
  ['feed/*.{json,gz}', '/base/feed/*.{json,gz}'],
  ['file:///a/b', '/a/b'],
  ['file:/a/b', '/a/b'],
  ['file:///a%20b', '/a b'],
])('%s is the path %s', (text, path) => {
  expect(localPath(text, '/base')).toEqual({ path });
});

test.each([
  ['s3://b/k', 'E_CONFIG_UNSUPPORTED'],
  ['https://x/y', 'E_CONFIG_UNSUPPORTED'],
  ['file:a', 'E_CONFIG_VALUE'],
  ['file:./a', 'E_CONFIG_VALUE'],
  ['file://host/a', 'E_CONFIG_VALUE'],
  ['file:///a?.json', 'E_CONFIG_VALUE'],
  ['file:///a#b', 'E_CONFIG_VALUE'],
])('%s is refused', (text, code) => {
  expect(localPath(text, '/base')).toMatchObject({ code });
});
