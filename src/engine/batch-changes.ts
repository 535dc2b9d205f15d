/** From a batch's views to typed, good changes; what cannot be represented becomes rejected records. */
import type { Changes, Rejected, SourceView, TargetView } from '../model/change.ts';
import { ERRORS, type ErrorCode } from '../model/errors.ts';
import type { ChangeBatch } from '../model/source.ts';
import type { Database } from '../sql/database.ts';
import { id, join, raw, sql, type Sql } from '../sql/sql.ts';
import { KIND } from '../model/change.ts';
import { changesOf, compute, FLAG, keyOf, type Computation } from './compute.ts';

export interface ComputedView {
  readonly changes: Changes;
  readonly rejected: readonly RejectedRow[];
  /** Rows of tables that are not mirrored, which the view's relation held too. */
  readonly foreign: number;
}

export interface RejectedRow extends Rejected {
  readonly ordinal: number;
}

/**
 * How each target is best computed, as far as its batches have shown: where many values are not in their usual forms,
 * the full statement is quicker than reading their lines again.
 */
export type Modes = Map<string, 'quick' | 'full'>;

/** Of so many rows, a larger share that is odd lets the full statement be tried. */
const ODD_ROWS = 500;
const ODD_SHARE = 0.02;

/** Computes one target of a view. The relation is the caller's to drop. */
export async function computeView(
  db: Database,
  batch: ChangeBatch,
  view: TargetView,
  modes: Modes,
): Promise<ComputedView> {
  await db.allowColumns(view.columns.length);
  const key = `${view.source.table}\n${view.target.namespace}.${view.target.table}`;
  const first = await attempt(db, batch, view, modes.get(key) ?? 'quick');
  let tried = first;
  if (!modes.has(key) && first.odd > ODD_ROWS && first.odd > first.rows * ODD_SHARE) {
    await db.run(sql`DROP TABLE ${id(first.current.relation)}`);
    tried = await attempt(db, batch, first.view, 'full');
    modes.set(key, tried.odd * 2 < first.odd ? 'full' : 'quick');
  }
  return await finish(db, batch, tried);
}

interface Attempt {
  readonly view: TargetView;
  readonly plan: Computation;
  readonly current: Current;
  readonly rows: number;
  readonly odd: number;
  readonly foreign: number;
}

async function attempt(
  db: Database,
  batch: ChangeBatch,
  view: TargetView,
  mode: 'quick' | 'full',
): Promise<Attempt> {
  let plan = compute(view, mode);
  const relation = db.name('changes');
  try {
    await db.run(sql`CREATE OR REPLACE TABLE ${id(relation)} AS ${plan.select}`);
  } catch (error) {
    const landed = await batch.recover(error);
    view = { ...view, source: rebased(view.source, landed) };
    plan = compute(view, mode);
    await db.run(sql`CREATE OR REPLACE TABLE ${id(relation)} AS ${plan.select}`);
  }
  await markSuspects(db, batch, relation, plan);
  const flags = await countFlags(db, relation);
  const current: Current = { relation, ord: plan.hasOrdinal ? id('ord') : raw('rowid') };
  const rows = [...flags.values()].reduce((sum, n) => sum + n, 0);
  const unsure =
    (flags.get(FLAG.unsure) ?? 0) > 0 ? await markPartBefore(db, batch, view, current) : 0;
  const odd = (flags.get(FLAG.odd) ?? 0) + unsure;
  return { view, plan, current, rows, odd, foreign: flags.get(FLAG.foreign) ?? 0 };
}

async function finish(db: Database, batch: ChangeBatch, tried: Attempt): Promise<ComputedView> {
  const { view, plan, foreign } = tried;
  let { current } = tried;
  let rejected: readonly RejectedRow[] = [];
  if (tried.odd > 0) {
    const exact = await rereadOdd(db, batch, view, current);
    rejected = exact.rejected;
    current = await merged(db, current, exact.relation, plan);
  }
  if (foreign > 0)
    await db.run(sql`DELETE FROM ${id(current.relation)} WHERE flag = ${FLAG.foreign}`);
  const facts = await factsOf(db, current);
  return {
    changes: changesOf(view, plan, current.relation, current.ord, facts),
    rejected,
    foreign,
  };
}

async function markPartBefore(
  db: Database,
  batch: ChangeBatch,
  view: TargetView,
  { relation, ord }: Current,
): Promise<number> {
  const unsure = sql`(SELECT ${ord} AS ord FROM ${id(relation)} WHERE flag = ${FLAG.unsure})`;
  const part = await batch.withPartBefore(view.source, unsure);
  return await db.run(
    sql`UPDATE ${id(relation)} SET flag = ${FLAG.odd} WHERE flag = ${FLAG.unsure} AND ${ord} IN (SELECT ord FROM ${part})`,
  );
}

interface Current {
  readonly relation: string;
  readonly ord: Sql;
}

// Everything but the relation: what stages made of the texts stays.
function rebased(old: SourceView, landed: SourceView): SourceView {
  return {
    ...old,
    from: landed.from,
    where: landed.where,
    ordinal: landed.ordinal,
    isOdd: landed.isOdd,
    isOwn: landed.isOwn,
  };
}

async function markSuspects(
  db: Database,
  batch: ChangeBatch,
  relation: string,
  plan: Computation,
): Promise<void> {
  const suspects = await batch.suspects();
  if (suspects.length === 0) return;
  const ord = plan.hasOrdinal ? id('ord') : raw('rowid');
  await db.run(
    sql`UPDATE ${id(relation)} SET flag = ${FLAG.odd} WHERE flag IN (${FLAG.good}, ${FLAG.unsure}) AND ${ord} IN (${join(suspects)})`,
  );
}

async function countFlags(db: Database, relation: string): Promise<ReadonlyMap<number, number>> {
  const rows = await db.rows(sql`SELECT flag, count(*) AS n FROM ${id(relation)} GROUP BY flag`);
  return new Map(rows.map((row) => [Number(row['flag']), Number(row['n'])]));
}

interface Exact {
  readonly relation: string | null;
  readonly rejected: readonly RejectedRow[];
}

async function rereadOdd(
  db: Database,
  batch: ChangeBatch,
  view: TargetView,
  current: Current,
): Promise<Exact> {
  const ordinals = sql`(SELECT ${current.ord} AS ord FROM ${id(current.relation)} WHERE flag = ${FLAG.odd})`;
  const source = await batch.reread(view.source, ordinals);
  if (source === null) return { relation: null, rejected: [] };
  const plan = compute({ ...view, source: rebased(view.source, source) }, 'exact');
  const relation = db.name('exact_changes');
  await db.run(sql`CREATE OR REPLACE TABLE ${id(relation)} AS ${plan.select}`);
  const bad = await db.rows(
    sql`SELECT ord, code, bad_column, ${keyOf(plan.columns)} AS target_key FROM ${id(relation)} WHERE flag = ${FLAG.odd} ORDER BY ord`,
  );
  const lines =
    bad.length === 0
      ? []
      : await batch.lines(
          view.source.table,
          bad.map((row) => Number(row['ord'])),
        );
  const byOrdinal = new Map(lines.map((line) => [line.ordinal, line]));
  const rejected = bad.flatMap((row): RejectedRow[] => {
    const line = byOrdinal.get(Number(row['ord']));
    if (line === undefined) return [];
    const code = String(row['code']) as ErrorCode;
    const message = `column ${String(row['bad_column'])}: ${ERRORS[code].meaning}`;
    return [
      {
        ordinal: line.ordinal,
        code,
        message,
        table: view.source.table,
        key: line.key,
        place: line.place,
        bytes: line.bytes,
        targetKey: typeof row['target_key'] === 'string' ? row['target_key'] : null,
      },
    ];
  });
  return { relation, rejected };
}

/** The good rows of the quick and of the exact way together, under the places they had. */
async function merged(
  db: Database,
  current: Current,
  exact: string | null,
  plan: Computation,
): Promise<Current> {
  const fields = join([
    raw('kind'),
    raw('ts'),
    raw('seq'),
    raw('origin'),
    raw('moved'),
    ...plan.columns
      .flatMap((c) => [c.field, c.oldField, c.changedField])
      .flatMap((f) => (f === null ? [] : [id(f)])),
    raw('flag'),
  ]);
  const relation = db.name('changes');
  const quick = sql`SELECT ${current.ord} AS ord, ${fields} FROM ${id(current.relation)} WHERE flag <> ${FLAG.odd}`;
  const slow =
    exact === null
      ? raw('')
      : sql` UNION ALL SELECT ord, ${fields} FROM ${id(exact)} WHERE flag = ${FLAG.good}`;
  await db.run(
    sql`CREATE TABLE ${id(relation)} AS ${quick}${slow}; DROP TABLE ${id(current.relation)}`,
  );
  if (exact !== null) await db.run(sql`DROP TABLE ${id(exact)}`);
  return { relation, ord: id('ord') };
}

async function factsOf(
  db: Database,
  current: Current,
): Promise<{ rows: number; hasMoves: boolean; truncatedAt: number | null }> {
  const facts = await db.one(sql`SELECT count(*) AS n, coalesce(bool_or(moved), FALSE) AS moves,
    max(CASE WHEN kind = ${KIND.truncate} THEN ${current.ord} END) AS truncated FROM ${id(current.relation)}`);
  const truncated = facts['truncated'];
  return {
    rows: Number(facts['n']),
    hasMoves: facts['moves'] === true,
    truncatedAt: typeof truncated === 'number' ? truncated : null,
  };
}
