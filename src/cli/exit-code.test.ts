import { expect, test } from 'vitest';
import { PipelineError, type ErrorCode } from '../model/errors.ts';
import { exitCodeOf } from './exit-code.ts';

test.each<[ErrorCode, number]>([
  ['E_USAGE', 64],
  ['E_CONFIG_VALUE', 65],
  ['E_TABLE_NO_KEY', 65],
  ['E_QUERY', 1],
  ['E_NOT_FOUND', 1],
  ['E_SOURCE_READ', 69],
  ['E_WAREHOUSE_WRITE', 69],
  ['E_PIPELINE_LOCKED', 1],
  ['E_LINE_JSON', 1],
  ['E_STATE_DAMAGED', 1],
  ['E_BUG', 1],
])('%s ends with %d', (code, exit) => {
  expect(exitCodeOf(new PipelineError(code, 'x'))).toBe(exit);
});

test.each(['EACCES', 'EPERM', 'EROFS'])('%s anywhere below is a lack of permission', (code) => {
  const refused = Object.assign(new Error('no'), { code });
  const between = new Error('cannot write', { cause: refused });
  expect(exitCodeOf(new PipelineError('E_STATE_WRITE', 'x', { cause: between }))).toBe(77);
});

test('a full disk is unavailable, not forbidden', () => {
  const full = Object.assign(new Error('no space'), { code: 'ENOSPC' });
  expect(exitCodeOf(new PipelineError('E_STATE_WRITE', 'x', { cause: full }))).toBe(69);
});
