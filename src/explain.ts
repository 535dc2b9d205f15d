/** What a pipeline does, as the statements that do it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { choiceOf, makeSource } from './app.ts';
import { changesOf, compute } from './engine/compute.ts';
import { systemClock } from './lib/clock.ts';
import type { TargetView } from './model/change.ts';
import type { PipelineSpec } from './model/spec.ts';
import { linesInOrder } from './sinks/event-bus/event-sql.ts';
import { dataRows, foldRows } from './sinks/iceberg/accumulator.ts';
import { Database } from './sql/database.ts';
import { id, raw, sql } from './sql/sql.ts';
import { needsBefore, Targets } from './targets.ts';

export interface ExplainedTable {
  readonly table: string;
  /** `namespace.table` on the lake. */
  readonly target: string;
  readonly steps: readonly { readonly name: string; readonly sql: string }[];
}

/**
 * The SQL of every step, by table, for the head of the feed. Nothing is written, and no lock is taken.
 *
 * @throws what a run would throw before its first write
 */
export async function explainPipeline(spec: PipelineSpec): Promise<readonly ExplainedTable[]> {
  const spoolDir = await mkdtemp(join(tmpdir(), 'lakeward-explain-'));
  await using db = await Database.open({ spillDir: spoolDir });
  try {
    const hasEvents = spec.sink.event_bus_enabled;
    const targets = new Targets(db, spec, hasEvents);
    const context = {
      db,
      choice: choiceOf(spec),
      needsBefore: needsBefore(spec, hasEvents),
      wantsPlaces: false,
      spoolDir,
    };
    const explained: ExplainedTable[] = [];
    const ended = new AbortController();
    for await (const batch of makeSource(
      { ...spec, source: { ...spec.source, watch: false } },
      context,
      systemClock,
    ).read(null, ended.signal)) {
      for (const view of batch?.views ?? [])
        for (const target of await targets.of(view)) explained.push(explainTarget(spec, target));
      ended.abort();
    }
    return explained;
  } finally {
    await rm(spoolDir, { recursive: true, force: true });
  }
}

function explainTarget(spec: PipelineSpec, view: TargetView): ExplainedTable {
  const plan = compute(view, 'quick');
  const ord = plan.hasOrdinal ? id('ord') : raw('rowid');
  const changes = changesOf(view, plan, 'changes', ord, {
    rows: 1,
    hasMoves: false,
    truncatedAt: null,
  });
  const table = id('accumulated');
  const names = changes.columns.map((column) => column.name);
  const keys = changes.columns
    .filter((column) => column.isKey)
    .map((column) => column.field.replace('c', 'v'));
  const steps = [
    { name: 'read, map, cast and check', sql: sql`CREATE TABLE changes AS ${plan.select}` },
    {
      name: 'keep the last change of each key',
      sql: sql`INSERT INTO ${table} ${foldRows(changes, 0n, raw(''))}`,
    },
    ...(spec.sink.iceberg_enabled
      ? [
          {
            name: 'data file: rows that are there',
            sql: sql`COPY (${dataRows(
              table,
              names.map((name, i) => sql`${id(`v${i}`)} AS ${id(name)}`),
            )}) TO 'data.parquet'`,
          },
          {
            name: 'equality deletes: every key that changed',
            sql: sql`COPY (SELECT ${raw(keys.map((key) => id(key).text).join(', '))} FROM ${table}) TO 'deletes.parquet'`,
          },
        ]
      : []),
    ...(view.objectType !== null && spec.sink.event_bus_enabled
      ? [
          {
            name: 'events',
            sql: sql`COPY (${linesInOrder(changes, id('places'), true, { head: { source: `/pipelines/${spec.pipeline_id}`, idPrefix: spec.pipeline_id }, sequence: 'event_numbers' })}) TO 'events.ndjson'`,
          },
        ]
      : []),
  ];
  return {
    table: view.source.table,
    target: `${view.target.namespace}.${view.target.table}`,
    steps: steps.map((step) => ({ name: step.name, sql: step.sql.text })),
  };
}
