import { afterAll, beforeAll, expect, test } from 'vitest';
import { Database } from '../../sql/database.ts';
import { tablesIn } from './tables-in.ts';

let db: Database;
beforeAll(async () => {
  db = await Database.open();
});
afterAll(() => db[Symbol.asyncDispose]());

test.each<[string, readonly string[] | null]>([
  ['SELECT * FROM shop.orders', ['shop.orders']],
  ['FROM orders o JOIN crm.people AS "p x" ON true', ['crm.people', 'orders']],
  ['WITH a AS (FROM b) SELECT * FROM a, (FROM c) d', ['b', 'c']],
  ['SELECT (SELECT max(x) FROM "we ird"."a.b""c")', ['we ird.a.b"c']],
  ["SELECT 'FROM nothing' -- FROM nothing", []],
  ['DESCRIBE shop.orders', ['shop.orders']],
  ['SHOW TABLES', null],
  ['SELECT * FROM duckdb_views()', null],
  ['PIVOT orders ON x IN (1) USING count(*)', ['orders']],
  ['SELECT 1', []],
  ['not SQL at all', []],
])('%s names %j', (query, names) => {
  expect(tablesIn(db.connection, query)?.toSorted() ?? null).toEqual(names);
});
