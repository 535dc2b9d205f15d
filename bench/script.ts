/**
 * The practical limit that the pipeline is measured against: the same fold by hand, without any of the product's
 * duties. It trusts the feed: no strict casts, no position, no dead letters, no table format, no memory limit.
 * Two statements, because reading into a table and folding by row id is the fastest way known (the feed's order is
 * the row order); one statement with `arg_max` over structs takes longer.
 *
 * `node script.js FEED TARGET` writes one zstd Parquet file and prints the milliseconds of its statements.
 */
import { DuckDBInstance } from '@duckdb/node-api';

const [feed = '', target = ''] = process.argv.slice(2);
const text = (path: string): string => `'${path.replaceAll("'", "''")}'`;

const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
const connection = await instance.connect();
const startMs = performance.now();
await connection.run(`
  CREATE TABLE changes AS
  SELECT coalesce(after.id, before.id) AS key, op, after
  FROM read_json(${text(feed)}, format = 'newline_delimited', columns = {
    before: 'STRUCT(id BIGINT)',
    after: 'STRUCT(id BIGINT, customer_id BIGINT, status VARCHAR, amount DECIMAL(18,2), note VARCHAR, qty INTEGER, updated_at BIGINT)',
    op: 'VARCHAR'})`);
await connection.run(`
  COPY (
    SELECT after.* REPLACE (make_timestamptz(after.updated_at * 1000) AS updated_at)
    FROM changes
    WHERE rowid IN (SELECT max(rowid) FROM changes GROUP BY key) AND op <> 'd'
  ) TO ${text(target)} (FORMAT parquet, COMPRESSION zstd)`);
console.log(Math.round(performance.now() - startMs));
