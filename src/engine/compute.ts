/**
 * The one statement that turns the text of a batch into typed changes. Three levels: the innermost names the texts, the
 * middle one casts them, the outer one judges, so that nothing is computed twice.
 */
import {
  KIND,
  type Changes,
  type ChangeColumn,
  type Image,
  type TargetColumn,
  type TargetView,
} from '../model/change.ts';
import type { ErrorCode } from '../model/errors.ts';
import { id, join, or, raw, sql, substitute, type Sql } from '../sql/sql.ts';

/** Values of the column `flag`. */
export const FLAG = {
  good: 0,
  /** Odd, inexact or bad: read again, exactly. In an exact relation: bad, with its `code` and `bad_column`. */
  odd: 1,
  /** Of another table. */
  foreign: 2,
  /** Good, but for columns that the before image may lack. */
  unsure: 3,
} as const;

export interface Computation {
  /** `SELECT` of the typed changes with `flag`; where the texts are exact, also `code` and `bad_column`. */
  readonly select: Sql;
  readonly columns: readonly ChangeColumn[];
  readonly hasOrdinal: boolean;
  readonly hasOrder: boolean;
}

interface Check {
  /** VARCHAR over the relation's inner names. */
  readonly code: Sql;
  readonly column: string;
  readonly bad: Sql;
}

const UNAVAILABLE = '__debezium_unavailable_value';
const UNAVAILABLE_BASE64 = Buffer.from(UNAVAILABLE).toString('base64');

/**
 * `quick`: usual values only, anything else is odd. `full`: every value, over texts that may not be the original ones.
 * `exact`: every value, over exact texts, so that what is bad is bad for good.
 */
export type ComputeMode = 'quick' | 'full' | 'exact';

export function compute(view: TargetView, mode: ComputeMode): Computation {
  const { source } = view;
  const cast = (column: TargetColumn, text: Sql): Image =>
    mode === 'quick' ? column.quick(text) : column.cast(text);
  const images = view.columns.map((column, i) => cast(column, id(`t${i}`)));
  const keys = view.columns.flatMap((column, i) => (column.oldText === null ? [] : [i]));
  const flags = view.columns.flatMap((column, i) => (column.changed === null ? [] : [id(`d${i}`)]));
  const moved = movedOf(keys);
  const ordinal = source.ordinal === null ? [] : [raw('ord')];
  const isUnsure = view.columns.some((column) => column.isUnsure !== null)
    ? [raw('is_unsure')]
    : [];
  const middle = [
    ...ordinal,
    ...['op', 'is_odd', 'is_own'].map(raw),
    ...isUnsure,
    sql`${kindOf(view)} AS kind`,
    raw('ts'),
    source.order === null ? raw('NULL::HUGEINT AS seq') : raw('seq'),
    source.origin === null ? raw('NULL::VARCHAR AS origin') : raw('origin'),
    sql`${moved} AS moved`,
    ...images.flatMap((image, i) => [sql`${image.value} AS ${id(`c${i}`)}`, id(`t${i}`)]),
    ...keys.map(
      (i) =>
        sql`CASE WHEN ${moved} THEN ${cast(view.columns[i] as TargetColumn, id(`o${i}`)).value} END AS ${id(`o${i}`)}`,
    ),
    ...flags,
  ];
  const outer = [
    ...ordinal,
    ...['kind', 'ts', 'seq', 'origin', 'moved'].map(raw),
    ...images.map((_, i) => id(`c${i}`)),
    ...keys.map((i) => id(`o${i}`)),
    ...flags,
    ...flagOf(view, images, checksOf(view, images), mode === 'exact'),
  ];
  return {
    select: sql`SELECT ${join(outer)} FROM (SELECT ${join(middle)} FROM (${textsOf(view)}))`,
    columns: view.columns.map((column, i): ChangeColumn => ({
      name: column.name,
      type: column.type,
      nullable: column.nullable,
      isKey: column.isKey,
      field: `c${i}`,
      oldField: column.oldText === null ? null : `o${i}`,
      changedField: column.changed === null ? null : `d${i}`,
    })),
    hasOrdinal: source.ordinal !== null,
    hasOrder: source.order !== null,
  };
}

/** The innermost level: `t<i>` texts, `o<i>` old keys, `d<i>` changed flags, `fa`/`fb` texts that filters look at. */
function textsOf(view: TargetView): Sql {
  const { source } = view;
  const texts = view.columns.flatMap((column, i) => [
    sql`${column.text} AS ${id(`t${i}`)}`,
    ...(column.oldText === null ? [] : [sql`${column.oldText} AS ${id(`o${i}`)}`]),
    ...(column.changed === null ? [] : [sql`${column.changed} AS ${id(`d${i}`)}`]),
  ]);
  const looked = view.filters.flatMap((filter, f) =>
    filter.columns.flatMap((column, i) => [
      sql`${column.after} AS ${id(`fa${f}_${i}`)}`,
      sql`${column.before} AS ${id(`fb${f}_${i}`)}`,
    ]),
  );
  const unsure = view.columns.flatMap((column) =>
    column.isUnsure === null ? [] : [column.isUnsure],
  );
  const meta = [
    sql`${source.op} AS op`,
    sql`${source.hasBefore} AS has_before`,
    sql`${source.tsMs} AS ts`,
    ...(source.order === null ? [] : [sql`${source.order} AS seq`]),
    ...(source.origin === null ? [] : [sql`${source.origin} AS origin`]),
    ...(source.ordinal === null ? [] : [sql`${source.ordinal} AS ord`]),
    sql`${source.isOdd} AS is_odd`,
    sql`${source.isOwn ?? raw('TRUE')} AS is_own`,
    ...(unsure.length === 0
      ? []
      : [sql`${source.op} = 'u' AND ${source.hasBefore} AND (${or(unsure)}) AS is_unsure`]),
  ];
  const where = source.where === null ? raw('') : sql` WHERE ${source.where}`;
  return sql`SELECT ${join([...meta, ...texts, ...looked])} FROM ${source.from}${where}`;
}

// An update moves its row where any column of the key is another one; a before image without the key moves nothing.
function movedOf(keys: readonly number[]): Sql {
  const differs = or(keys.map((i) => sql`${id(`o${i}`)} IS DISTINCT FROM ${id(`t${i}`)}`));
  const isThere = keys.map((i) => sql`${id(`o${i}`)} IS NOT NULL`);
  return sql`(op = 'u' AND has_before AND ${join(isThere, ' AND ')} AND (${differs}))`;
}

/**
 * With filters: an update that leaves is a delete, one that enters a create. A change that cannot be in the target
 * still removes the key silently where nothing tells that it never was there.
 */
function kindOf(view: TargetView): Sql {
  const plain = sql`CASE op WHEN 'u' THEN ${KIND.update} WHEN 'd' THEN ${KIND.delete} WHEN 't' THEN ${KIND.truncate} ELSE ${KIND.create} END::UTINYINT`;
  if (view.filters.length === 0) return plain;
  const all = (image: 'fa' | 'fb'): Sql =>
    join(
      view.filters.map(
        (filter, f) =>
          sql`coalesce(${filter.holds(filter.columns.map((_, i) => id(`${image}${f}_${i}`)))}, FALSE)`,
      ),
      ' AND ',
    );
  const [after, before] = [sql`(${all('fa')})`, sql`(${all('fb')})`];
  return sql`CASE WHEN op = 't' THEN ${KIND.truncate}
    WHEN op = 'd' THEN ${KIND.delete}
    WHEN op = 'u' AND ${after} THEN CASE WHEN NOT has_before OR ${before} THEN ${KIND.update} ELSE ${KIND.create} END
    WHEN op = 'u' THEN CASE WHEN NOT has_before OR ${before} THEN ${KIND.delete} ELSE ${KIND.silentDelete} END
    WHEN ${after} THEN ${KIND.create} ELSE ${KIND.silentDelete} END::UTINYINT`;
}

function checksOf(view: TargetView, images: readonly Image[]): readonly Check[] {
  return view.columns.flatMap((column, i): Check[] => {
    const image = images[i] as Image;
    const text = id(`t${i}`);
    const constant = (code: ErrorCode): Sql => sql`${code}`;
    const checks: Check[] = [];
    if (image.value.text !== text.text)
      checks.push({
        code: image.code,
        column: column.source,
        bad: sql`(${id(`c${i}`)} IS NULL) <> (${text} IS NULL)`,
      });
    if (image.type === 'string' || image.type === 'binary') {
      checks.unshift({
        code: constant('E_VALUE_UNAVAILABLE'),
        column: column.source,
        bad: sql`${text} = ${image.type === 'string' ? UNAVAILABLE : UNAVAILABLE_BASE64}`,
      });
    }
    if (column.isKey) {
      checks.unshift({
        code: constant('E_KEY_MISSING'),
        column: column.source,
        bad: sql`${text} IS NULL AND op <> 't'`,
      });
    } else if (!column.nullable) {
      checks.push({
        code: constant('E_NULL_NOT_ALLOWED'),
        column: column.source,
        bad: sql`${text} IS NULL AND op NOT IN ('d', 't')`,
      });
    }
    return checks;
  });
}

function flagOf(
  view: TargetView,
  images: readonly Image[],
  checks: readonly Check[],
  isExact: boolean,
): readonly Sql[] {
  const bad = or(checks.map((check) => check.bad));
  if (!isExact) {
    // The value is at hand as a column by now.
    const inexact = images.flatMap((image, i) =>
      image.inexact === null ? [] : [substitute(image.inexact, image.value, id(`c${i}`))],
    );
    const isUnsure = view.columns.some((column) => column.isUnsure !== null)
      ? sql`WHEN is_unsure THEN ${FLAG.unsure} `
      : raw('');
    return [
      sql`CASE WHEN is_odd THEN ${FLAG.odd} WHEN NOT is_own THEN ${FLAG.foreign} WHEN ${or([...inexact, bad])} THEN ${FLAG.odd} ${isUnsure}ELSE ${FLAG.good} END::UTINYINT AS flag`,
    ];
  }
  const first = (value: (check: Check) => Sql): Sql =>
    sql`CASE ${join(
      checks.map((check) => sql`WHEN ${check.bad} THEN ${value(check)}`),
      ' ',
    )} END`;
  return [
    sql`CASE WHEN NOT is_own THEN ${FLAG.foreign} WHEN ${bad} THEN ${FLAG.odd} ELSE ${FLAG.good} END::UTINYINT AS flag`,
    sql`${first((check) => check.code)}::VARCHAR AS code`,
    sql`${first((check) => sql`${check.column}`)}::VARCHAR AS bad_column`,
  ];
}

/** The changes that a computed relation holds once only good rows are left. */
export function changesOf(
  view: TargetView,
  computation: Computation,
  relation: string,
  ord: Sql,
  facts: { rows: number; hasMoves: boolean; truncatedAt: number | null },
): Changes {
  return {
    relation,
    ord,
    source: view.source.table,
    target: view.target,
    objectType: view.objectType,
    columns: computation.columns,
    hasOrder: computation.hasOrder,
    ...facts,
  };
}
