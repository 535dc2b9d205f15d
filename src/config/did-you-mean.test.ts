import { expect, test } from 'vitest';
import { nearestType } from './column-type.ts';
import { nearest } from './did-you-mean.ts';

const KNOWN = ['pipeline_id', 'display_name', 'interval_ms', 'password_secret_ref', 'path', 'from'];

test.each([
  ['pipelin_id', 'pipeline_id'],
  ['pipelineId', 'pipeline_id'],
  ['pipeline-id', 'pipeline_id'],
  ['PIPELINE_ID', 'pipeline_id'],
  ['intreval_ms', 'interval_ms'],
  ['interval', 'interval_ms'],
  ['form', 'from'],
  ['pasword', 'password_secret_ref'],
  ['pth', 'path'],
  ['zzz', undefined],
  ['', undefined],
  ['x'.repeat(100_000), undefined],
])('%s is taken for %s', (found, expected) => {
  expect(nearest(found, KNOWN)).toBe(expected);
});

test.each([
  ['lnog', 'long'],
  ['bigint', 'long'],
  ['VARCHAR(20)', 'string'],
  ['numeric(10,3)', 'decimal(10,3)'],
  ['NUMBER(5)', 'decimal(5,0)'],
  ['decimal', 'decimal(18,2)'],
  ['timestampz', 'timestamptz'],
  ['Boolean', 'boolean'],
  ['bytea', 'binary'],
  ['zzzzzzzz', undefined],
])('the type %s is taken for %s', (found, expected) => {
  expect(nearestType(found)).toBe(expected);
});
