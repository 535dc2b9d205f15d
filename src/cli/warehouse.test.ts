import { expect, onTestFinished, test, vi } from 'vitest';
import { scanAtOf, tablesNamed, unknownTable } from './warehouse.ts';

const refs = [
  { namespace: 'shop', name: 'orders' },
  { namespace: 'crm', name: 'orders' },
  { namespace: 'crm', name: 'People' },
  { namespace: 'crm', name: 'people' },
];

test('a name means the tables that the engine would take it for', () => {
  expect(tablesNamed(refs, 'shop.orders')).toEqual([refs[0]]);
  expect(tablesNamed(refs, 'SHOP.Orders')).toEqual([refs[0]]);
  expect(tablesNamed(refs, 'orders')).toEqual([refs[0], refs[1]]);
  expect(tablesNamed(refs, 'people')).toEqual([refs[3]]);
  expect(tablesNamed(refs, 'PEOPLE')).toEqual([refs[2], refs[3]]);
  expect(tablesNamed(refs, 'nothing')).toEqual([]);
});

test('an unknown table comes with what may be meant', () => {
  expect(unknownTable('E_QUERY', 'orders', '/wh', refs).message).toBe(
    'orders may be shop.orders or crm.orders',
  );
  expect(unknownTable('E_QUERY', 'shop.order', '/wh', refs).message).toBe(
    'there is no table shop.order in /wh; did you mean shop.orders?',
  );
  expect(unknownTable('E_NOT_FOUND', 'x', '/wh', []).message).toBe(
    'there is no table x in /wh, which holds no tables',
  );
});

test('--at takes a snapshot id in all its digits, or a time', () => {
  vi.stubEnv('TZ', 'America/New_York');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(scanAtOf(undefined)).toBe('current');
  expect(scanAtOf('9223372036854775807')).toEqual({ snapshotId: 9223372036854775807n });
  const noon = Date.UTC(2026, 0, 31, 12);
  for (const text of [
    '2026-01-31T12:00:00Z',
    '2026-01-31 12:00',
    '2026-01-31T12:00:00.000',
    '2026-01-31T14:00:00+02:00',
  ]) {
    expect(scanAtOf(text)).toEqual({ timestampMs: noon });
  }
  expect(scanAtOf('2026-01-31')).toEqual({ timestampMs: Date.UTC(2026, 0, 31) });
});

test.each([
  'yesterday',
  '2026-13-01',
  '12345678901234567890',
  '-1',
  '',
  '2026-01-31T25:00:00Z',
  '31.1.2026',
])('--at %j is refused', (text) => {
  expect(() => scanAtOf(text)).toThrow(expect.objectContaining({ code: 'E_USAGE' }));
});
