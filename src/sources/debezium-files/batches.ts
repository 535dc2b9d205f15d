/** Batches of one segment: one, or more where a schema changes inside it. */
import { stat } from 'node:fs/promises';
import type { Place, Rejected, SourceView } from '../../model/change.ts';
import { assert, isPipelineError, PipelineError } from '../../model/errors.ts';
import type { BatchEnd, ChangeBatch } from '../../model/source.ts';
import { readLine } from '../../codecs/debezium-line.ts';
import type { Column } from '../../model/types.ts';
import type { Database } from '../../sql/database.ts';
import { and, join, raw, sql, type Sql } from '../../sql/sql.ts';
import { isUnreadable, type Landed } from './landed.ts';
import { viewOf, type KnownTable, type Shape } from './landing.ts';
import type { Segment } from './segments.ts';
import type { Shapes } from './shapes.ts';
import type { TableChoice } from './tables.ts';

/** Where a batch ends inside a segment; null: with it. */
export interface Cut {
  readonly piece: number;
  readonly byte: number;
  readonly line: number;
}

export interface BatchContext {
  readonly db: Database;
  readonly segment: Segment;
  readonly landed: Landed;
  readonly shape: Shape;
  /** Text of the key columns of a line, as far as it can be read. */
  keyOf(table: string, bytes: Uint8Array): string | null;
  /** Moves the source's position to the end of the batch and gives it. */
  finish(cut: Cut | null, rejected: readonly Rejected[]): Promise<string>;
}

interface BatchParts {
  readonly views: readonly SourceView[];
  readonly startsSchema: boolean;
  readonly stop: PipelineError | null;
  readonly warnings: readonly string[];
  readonly from: Cut | null;
  readonly to: Cut | null;
  readonly unmapped: number;
}

/** @param landAfresh for a view that the engine could not read straight from the files */
export function makeBatch(
  context: BatchContext,
  parts: BatchParts,
  landAfresh?: () => Promise<SourceView>,
): ChangeBatch {
  const { landed, segment } = context;
  return {
    views: parts.views,
    startsSchema: parts.startsSchema,
    stop: parts.stop,
    warnings: parts.warnings,
    async recover(error) {
      if (landAfresh === undefined || !isUnreadable(error)) throw error;
      return await landAfresh();
    },
    lines: async (table, ordinals) =>
      (await landed.lines(ordinals)).map((line) => ({
        ...line,
        key: context.keyOf(table, line.bytes),
      })),
    withPartBefore: (view, ordinals) =>
      landed.withPartBefore(
        ordinals,
        view.columns.map((column) => column.name),
      ),
    suspects: () => landed.suspects(),
    places: () => landed.places(),
    async reread(view, ordinals) {
      const rows = await context.db.rows(sql`SELECT ord FROM ${ordinals} ORDER BY ord`);
      const table = await landed.reread(rows.map((row) => Number(row['ord'])));
      if (table === null) return null;
      return {
        ...view,
        from: table,
        where: sql`tbl = ${view.table}`,
        isOwn: null,
        ordinal: raw('ord'),
        isOdd: raw('FALSE'),
      };
    },
    holds: (place) => isWithin(place, segment, parts.from, parts.to),
    // Whatever waits from earlier batches stands before all rows of this one.
    ordinalAt: () => -1,
    rejected: () => landed.rejected.filter((r) => isWithin(r.place, segment, parts.from, parts.to)),
    async end(before): Promise<BatchEnd> {
      if (segment.isInPlace) await checkUnchanged(segment);
      const to = before === undefined ? parts.to : cutAt(segment, before);
      const isLast = to === null;
      const { blanks } = await landed.counted();
      const counts = {
        bytes: isLast ? segment.bytes : 0,
        tombstones: isLast ? landed.counts.tombstones + blanks : 0,
        messages: isLast ? landed.counts.messages : 0,
        unmapped: parts.unmapped + (isLast ? landed.counts.unmapped : 0),
      };
      return { counts, position: await context.finish(to, landed.rejected) };
    },
  };
}

/** The engine reads the one table straight from the files. */
export function inlineView(table: KnownTable, shape: Shape, lines: Sql): SourceView {
  return viewOf(table, shape, {
    from: sql`(${lines})`,
    where: null,
    hasOrdinal: false,
    isRaw: true,
  });
}

/** Rows of one table under one list of columns. */
interface Group {
  readonly table: string;
  /** Ids of schema parts that give these columns; null stands for lines without one. */
  readonly schemas: readonly (string | null)[];
  readonly columns: readonly Column[];
  readonly first: number;
  /** The table's columns were others before. */
  readonly isNew: boolean;
}

interface FoundTable {
  readonly table: string;
  readonly schema: string | null;
  readonly first: number;
  readonly rows: number;
}

/** Tables and schema parts of a landed segment, in the order of their first row. */
async function tablesIn(db: Database, landed: Landed): Promise<readonly FoundTable[]> {
  const rows =
    await db.rows(sql`SELECT tbl, schema_hash::VARCHAR AS schema, min(ord) AS first, count(*) AS n
    FROM ${landed.from} WHERE tbl IS NOT NULL GROUP BY ALL ORDER BY first`);
  return rows.map((row) => ({
    table: String(row['tbl']),
    schema: row['schema'] as string | null,
    first: Number(row['first']),
    rows: Number(row['n']),
  }));
}

export type Settled =
  | { readonly again: true }
  | { readonly again: false; readonly parts: readonly BatchParts[] };

/**
 * Looks at what has landed: which tables, under which schemas. `again` where columns came up that the shape lacks, so
 * that the segment has to be landed once more.
 */
export async function settle(
  context: BatchContext,
  shapes: Shapes,
  choice: TableChoice,
  prepared: { startsSchema: boolean; warnings: readonly string[] },
): Promise<Settled> {
  const groups: Group[] = [];
  let refused: Refused | null = null;
  let unmapped = 0;
  for (const found of await tablesIn(context.db, context.landed)) {
    if (choice.of(found.table) === null) {
      unmapped += found.rows;
      continue;
    }
    const isKnown = shapes.table(found.table) !== null;
    const columns = await columnsOf(context, shapes, found);
    try {
      const isNew = shapes.learn(found.table, columns) && isKnown;
      joinGroup(groups, found, columns, isNew);
    } catch (error) {
      // What lies before the change that no table can follow is committed first.
      if (!isPipelineError(error) || found.first === 0) throw error;
      refused = { ordinal: found.first, error };
      break;
    }
  }
  if (shapes.shape().names.some((name) => !context.shape.names.includes(name)))
    return { again: true };
  const parts = await partsOf(context, shapes, groups, { ...prepared, unmapped, refused });
  return { again: false, parts };
}

/** A row from which on the feed cannot be followed. */
interface Refused {
  readonly ordinal: number;
  readonly error: PipelineError;
}

function joinGroup(
  groups: Group[],
  found: FoundTable,
  columns: readonly Column[],
  isNew: boolean,
): void {
  const { table, schema, first } = found;
  const same = groups.findIndex(
    (group) => group.table === table && JSON.stringify(group.columns) === JSON.stringify(columns),
  );
  const old = groups[same];
  if (old === undefined) groups.push({ table, schemas: [schema], columns, first, isNew });
  else groups[same] = { ...old, schemas: [...old.schemas, schema] };
}

async function columnsOf(
  context: BatchContext,
  shapes: Shapes,
  found: FoundTable,
): Promise<readonly Column[]> {
  const known = shapes.table(found.table);
  if (found.schema === null && known !== null) return known.columns;
  const [line] = found.schema === null ? [] : await context.landed.lines([found.first]);
  const schema = (): string | null => {
    const result =
      line === undefined ? null : readLine(line.bytes, { isFileStart: line.place.byte === 0 });
    return result?.kind === 'envelope' ? result.envelope.schema : null;
  };
  const columns = shapes.columnsOf(found.table, found.schema ?? 'none', schema) ?? known?.columns;
  if (columns !== undefined) return columns;
  throw new PipelineError(
    'E_COLUMN_UNKNOWN',
    `the feed does not tell the columns of ${found.table}: give them under source.tables as columns:`,
    {
      subject: { table: found.table },
    },
  );
}

const isOf = (group: Group): Sql => {
  const ids = group.schemas.filter((schema) => schema !== null);
  const known =
    ids.length === 0
      ? raw('FALSE')
      : sql`schema_hash IN (${join(ids.map((schema) => sql`${schema}::UBIGINT`))})`;
  return sql`tbl = ${group.table} AND (${known}${group.schemas.includes(null) ? raw(' OR schema_hash IS NULL') : raw('')})`;
};

/**
 * Where a table goes from one list of columns to another: a batch ends there, so that its changes are worked off in
 * feed order. The value tells whether what came before has to be committed first.
 */
async function cutsOf(
  context: BatchContext,
  groups: readonly Group[],
): Promise<ReadonlyMap<number, boolean>> {
  const cuts = new Map<number, boolean>();
  for (const table of new Set(groups.map((group) => group.table))) {
    const own = groups.filter((group) => group.table === table);
    if (own.length > 1) {
      const which = sql`CASE ${join(
        own.map((group, i) => sql`WHEN ${isOf(group)} THEN ${i}`),
        ' ',
      )} END`;
      const starts = await context.db
        .rows(sql`SELECT ord FROM (SELECT ord, g, lag(g) OVER (ORDER BY ord) AS before FROM (
        SELECT ord, ${which} AS g FROM ${context.landed.from} WHERE tbl = ${table})) WHERE g <> before`);
      for (const row of starts) cuts.set(Number(row['ord']), cuts.get(Number(row['ord'])) ?? false);
    }
    for (const group of own) if (group.isNew && group.first > 0) cuts.set(group.first, true);
  }
  return new Map([...cuts].sort(([a], [b]) => a - b));
}

async function partsOf(
  context: BatchContext,
  shapes: Shapes,
  groups: readonly Group[],
  prepared: {
    readonly startsSchema: boolean;
    readonly warnings: readonly string[];
    readonly unmapped: number;
    readonly refused: Refused | null;
  },
): Promise<readonly BatchParts[]> {
  const { landed, segment } = context;
  const { refused } = prepared;
  const cuts = await cutsOf(context, groups);
  const kept = [...cuts.keys()].filter((ordinal) => refused === null || ordinal < refused.ordinal);
  const ordinals = refused === null ? kept : [...kept, refused.ordinal];
  const places = await landed.lines(ordinals);
  const bounds = ordinals.map((ordinal): Cut => {
    const line = places.find((l) => l.ordinal === ordinal);
    assert(line !== undefined, 'a row of a landed segment has no line');
    return cutAt(segment, line.place);
  });
  const ends = refused === null ? [...ordinals, null] : ordinals;
  return ends.map((end, i): BatchParts => {
    const start = ordinals[i - 1] ?? null;
    const isFirst = start === null;
    return {
      views: groups.map((group) => groupView(context, shapes, group, start, end)),
      startsSchema: isFirst
        ? prepared.startsSchema || groups.some((group) => group.isNew && group.first === 0)
        : (cuts.get(start) ?? false),
      stop: refused !== null && end === refused.ordinal ? refused.error : null,
      warnings: isFirst ? prepared.warnings : [],
      from: bounds[i - 1] ?? null,
      to: bounds[i] ?? null,
      unmapped: end === null ? prepared.unmapped : 0,
    };
  });
}

/** Rows of a group with `from` ≤ ordinal < `to`. */
function groupView(
  context: BatchContext,
  shapes: Shapes,
  group: Group,
  from: number | null,
  to: number | null,
): SourceView {
  const known = shapes.table(group.table);
  assert(known !== null, 'a table of a settled segment is known');
  const range = [
    ...(from === null ? [] : [sql`ord >= ${from}`]),
    ...(to === null ? [] : [sql`ord < ${to}`]),
  ];
  const table: KnownTable = { ...known, columns: typed(group.columns, known.columns) };
  return viewOf(table, context.shape, {
    from: context.landed.from,
    where: and([isOf(group), ...range]),
    hasOrdinal: true,
    isRaw: false,
  });
}

/** A schema's own encodings, under the table's types. */
function typed(columns: readonly Column[], merged: readonly Column[]): readonly Column[] {
  return columns.map((column) => {
    const now = merged.find((m) => m.name === column.name);
    return now === undefined ? column : { ...column, type: now.type, nullable: now.nullable };
  });
}

async function checkUnchanged(segment: Segment): Promise<void> {
  for (const { file } of segment.pieces) {
    const now = await stat(file.path).catch(() => null);
    if (now?.size === file.bytes) continue;
    throw new PipelineError('E_SOURCE_READ', `${file.name} changed while it was read`, {
      subject: { file: file.name },
    });
  }
}

function pieceAt(segment: Segment, place: Place): number {
  return segment.pieces.findIndex(
    (p) => p.file.name === place.file && place.byte >= p.byte && place.byte < p.byte + p.bytes,
  );
}

function cutAt(segment: Segment, place: Place): Cut {
  return { piece: pieceAt(segment, place), byte: place.byte, line: place.line - 1 };
}

function isWithin(place: Place, segment: Segment, from: Cut | null, to: Cut | null): boolean {
  const piece = pieceAt(segment, place);
  if (piece === -1) return false;
  const isAfter =
    from === null || piece > from.piece || (piece === from.piece && place.byte >= from.byte);
  const isBefore = to === null || piece < to.piece || (piece === to.piece && place.byte < to.byte);
  return isAfter && isBefore;
}
