/** One keyed table that Lakeward, Flink and Spark take turns to write, and the naive fold of what they were told. */
import { writeFile } from 'node:fs/promises';
import { expect } from 'vitest';
import type { FlinkJudge } from '../kit/judges/flink-judge.ts';
import type { SparkJudge } from '../kit/judges/spark-judge.ts';
import type { Rows } from '../kit/judges/wire.ts';
import { create, line, remove, update } from '../scenarios/envelopes.ts';
import { pipelineCase, type PipelineCase } from '../scenarios/pipeline-case.ts';
import type { TableAt } from './readers.ts';

export interface OrderRow {
  readonly id: number;
  readonly qty: number | null;
  /** With two digits behind the point. */
  readonly price: string | null;
  readonly note: string | null;
}

/** A row, or the key of one that goes. Within a round, a later change of a key wins. */
export type OrderChange = OrderRow | { readonly gone: number };

export interface SharedTable extends AsyncDisposable {
  readonly table: TableAt;
  readonly pipeline: PipelineCase;
  /** Each commits the changes as one snapshot, Spark as one for each statement. */
  lakeward(changes: readonly OrderChange[]): Promise<void>;
  flink(judge: FlinkJudge, changes: readonly OrderChange[]): Promise<void>;
  spark(judge: SparkJudge, changes: readonly OrderChange[]): Promise<void>;
  /** What the table has to hold now. */
  expected(): Rows;
}

const COLUMNS = { id: 'long', qty: 'int', price: 'decimal(10,2)', note: 'string' };
const FLINK_COLUMNS =
  'id BIGINT, qty INT, price DECIMAL(10,2), note STRING, PRIMARY KEY (id) NOT ENFORCED';
const SOURCE = { db: 'db', table: 'orders' };

/** The table `db.orders`, which nobody has made yet. */
export async function sharedTable(): Promise<SharedTable> {
  const pipeline = await pipelineCase({
    source: { tables: [{ table: 'db.orders', primary_key: ['id'], columns: COLUMNS }] },
  });
  const warehouse = pipeline.path('warehouse');
  const rows = new Map<number, OrderRow>();
  let feeds = 0;
  const fold = (changes: readonly OrderChange[]): void => {
    for (const change of changes) {
      if ('gone' in change) rows.delete(change.gone);
      else rows.set(change.id, change);
    }
  };
  return {
    table: { warehouse, namespace: 'db', name: 'orders' },
    pipeline,
    async lakeward(changes) {
      fold(changes);
      feeds += 1;
      const lines = changes.map((change) =>
        'gone' in change
          ? remove({ id: change.gone }, SOURCE)
          : update(null, { ...change }, SOURCE),
      );
      await pipeline.feed(`${String(feeds).padStart(4, '0')}.jsonl`, lines);
      expect((await pipeline.run()).error).toBeNull();
    },
    async flink(judge, changes) {
      const before = new Map(rows);
      const lines = changes.map((change) => flinkLine(change, before));
      fold(changes);
      feeds += 1;
      const file = pipeline.path(`flink-${feeds}.json`);
      await writeFile(file, `${lines.join('\n')}\n`);
      await judge.sql(warehouse, [
        'CREATE DATABASE IF NOT EXISTS lake.db',
        `CREATE TABLE IF NOT EXISTS lake.db.orders (${FLINK_COLUMNS}) WITH ('format-version'='2')`,
        `CREATE TEMPORARY TABLE feed (${FLINK_COLUMNS}) WITH ('connector'='filesystem','path'='file://${file}','format'='debezium-json')`,
        `INSERT INTO lake.db.orders /*+ OPTIONS('upsert-enabled'='true') */ SELECT * FROM feed`,
      ]);
    },
    async spark(judge, changes) {
      fold(changes);
      const last = new Map(changes.map((c) => ['gone' in c ? c.gone : c.id, c] as const));
      const values = [...last.values()].map(sparkValues).join(', ');
      await judge.sql(warehouse, [
        `MERGE INTO lake.db.orders t USING (SELECT * FROM VALUES ${values} AS v(id, qty, price, note, gone)) s ON t.id = s.id
         WHEN MATCHED AND s.gone THEN DELETE
         WHEN MATCHED THEN UPDATE SET qty = s.qty, price = s.price, note = s.note
         WHEN NOT MATCHED AND NOT s.gone THEN INSERT (id, qty, price, note) VALUES (s.id, s.qty, s.price, s.note)`,
      ]);
    },
    expected: () => ({
      columns: Object.keys(COLUMNS),
      rows: [...rows.values()].map(({ id, qty, price, note }) => [
        String(id),
        qty === null ? null : String(qty),
        price,
        note,
      ]),
    }),
    [Symbol.asyncDispose]: () => pipeline[Symbol.asyncDispose](),
  };
}

/** Flink's format wants a before image of what changes. */
function flinkLine(change: OrderChange, rows: Map<number, OrderRow>): string {
  const id = 'gone' in change ? change.gone : change.id;
  const old = rows.get(id) ?? { id, qty: null, price: null, note: null };
  const isNew = !rows.has(id);
  if ('gone' in change) {
    rows.delete(id);
    return line('d', { before: { ...old }, after: null, source: null });
  }
  rows.set(id, change);
  return isNew
    ? create({ ...change }, null)
    : line('u', { before: { ...old }, after: { ...change }, source: null });
}

function sparkValues(change: OrderChange): string {
  const row = 'gone' in change ? { id: change.gone, qty: null, price: null, note: null } : change;
  const text = (value: string | null): string =>
    value === null ? 'CAST(NULL AS STRING)' : `'${value.replaceAll("'", "\\'")}'`;
  const cells = [
    `${row.id}L`,
    `CAST(${row.qty ?? 'NULL'} AS INT)`,
    `CAST(${text(row.price)} AS DECIMAL(10,2))`,
    text(row.note),
    String('gone' in change),
  ];
  return `(${cells.join(', ')})`;
}

/** A row whose values tell its key and the round that wrote it. */
export function order(id: number, round: number): OrderRow {
  return {
    id,
    qty: id % 3 === 0 ? null : round,
    price: `${id}.${String(round).padStart(2, '0')}`,
    note: id % 4 === 0 ? null : `it's ${round} ä😀`,
  };
}

export const orders = (ids: readonly number[], round: number): OrderRow[] =>
  ids.map((id) => order(id, round));

export const gone = (...ids: readonly number[]): OrderChange[] => ids.map((id) => ({ gone: id }));
