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
import { textOf } from '../sql/value-text.ts';

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
  const compared = view.columns.flatMap((column, i) => (column.compared === null ? [] : [i]));
  const before = (i: number): Sql => cast(view.columns[i] as TargetColumn, id(`w${i}`)).value;
  const moved = movedOf(keys);
  const ordinal = source.ordinal === null ? [] : [raw('ord')];
  const isUnsure = view.columns.some((column) => column.compared !== null)
    ? [raw('is_unsure')]
    : [];
  const middle = [
    ...ordinal,
    ...['op', 'is_odd', 'is_own'].map(raw),
    ...isUnsure,
    ...(compared.length === 0 ? [] : [raw('has_before')]),
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
    ...keys.map((i) => sql`${id(`o${i}`)} AS ${id(`x${i}`)}`),
    ...compared.flatMap((i) => [id(`w${i}`), id(`m${i}`)]),
  ];
  const outer = [
    ...ordinal,
    ...['kind', 'ts', 'seq', 'origin', 'moved'].map(raw),
    ...images.map((_, i) => id(`c${i}`)),
    ...keys.map((i) => id(`o${i}`)),
    ...compared.map((i) => changedOf(i, before(i))),
    ...flagOf(images, checksOf(view, images), mode === 'exact', {
      isUnsure: compared.length > 0,
      vague: mode === 'quick' ? compared.map((i) => isVague(i, before(i))) : [],
    }),
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
      changedField: column.compared === null ? null : `d${i}`,
    })),
    hasOrdinal: source.ordinal !== null,
    hasOrder: source.order !== null,
  };
}

/** Whether an update changed a column. Texts that differ may still be one value: 5 and 5.0. */
function changedOf(i: number, before: Sql): Sql {
  const [text, old] = [id(`t${i}`), id(`w${i}`)];
  return sql`CASE WHEN NOT has_before OR ${id(`m${i}`)} THEN TRUE WHEN ${old} IS NOT DISTINCT FROM ${text} THEN FALSE
    WHEN ${old} IS NULL OR ${text} IS NULL THEN TRUE ELSE ${before} IS DISTINCT FROM ${id(`c${i}`)} END AS ${id(`d${i}`)}`;
}

// The value before is in no usual form, so that the quick cast cannot tell whether it is another one.
function isVague(i: number, before: Sql): Sql {
  if (before.text === id(`w${i}`).text) return raw('FALSE');
  return sql`(CASE WHEN ${id(`w${i}`)} <> ${id(`t${i}`)} THEN ${before} IS NULL ELSE FALSE END)`;
}

/** The innermost level: `t<i>` texts, `o<i>` old keys, `w<i>` and `m<i>` of compared columns, `fa`/`fb` texts that filters look at. */
function textsOf(view: TargetView): Sql {
  const { source } = view;
  const texts = view.columns.flatMap((column, i) => [
    sql`${column.text} AS ${id(`t${i}`)}`,
    ...(column.oldText === null ? [] : [sql`${column.oldText} AS ${id(`o${i}`)}`]),
    ...(column.compared === null
      ? []
      : [
          sql`${column.compared.before} AS ${id(`w${i}`)}`,
          sql`${column.compared.isAbsent} AS ${id(`m${i}`)}`,
        ]),
  ]);
  const looked = view.filters.flatMap((filter, f) =>
    filter.columns.flatMap((column, i) => [
      sql`${column.after} AS ${id(`fa${f}_${i}`)}`,
      sql`${column.before} AS ${id(`fb${f}_${i}`)}`,
    ]),
  );
  const unsure = view.columns.flatMap((column) =>
    column.compared === null ? [] : [column.compared.isUnsure],
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
    if (column.oldText !== null) {
      checks.push({
        code: column.cast(id(`x${i}`)).code,
        column: column.source,
        bad: sql`moved AND ${id(`o${i}`)} IS NULL`,
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
  images: readonly Image[],
  checks: readonly Check[],
  isExact: boolean,
  compared: { readonly isUnsure: boolean; readonly vague: readonly Sql[] },
): readonly Sql[] {
  const bad = or(checks.map((check) => check.bad));
  if (!isExact) {
    // The value is at hand as a column by now.
    const inexact = images.flatMap((image, i) =>
      image.inexact === null ? [] : [substitute(image.inexact, image.value, id(`c${i}`))],
    );
    const odd = or([...inexact, ...compared.vague, bad]);
    const isUnsure = compared.isUnsure ? sql`WHEN is_unsure THEN ${FLAG.unsure} ` : raw('');
    return [
      sql`CASE WHEN is_odd THEN ${FLAG.odd} WHEN NOT is_own THEN ${FLAG.foreign} WHEN ${odd} THEN ${FLAG.odd} ${isUnsure}ELSE ${FLAG.good} END::UTINYINT AS flag`,
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

/** VARCHAR: JSON list of the texts of a row's key; NULL where a part of it is not there. */
export function keyOf(columns: readonly ChangeColumn[], isOld = false): Sql {
  const parts = columns
    .filter((c) => c.isKey)
    .map((c) => ({ value: id(isOld ? (c.oldField ?? c.field) : c.field), type: c.type }));
  const texts = join(parts.map(({ value, type }) => textOf(value, type)));
  const isThere = join(
    parts.map(({ value }) => sql`${value} IS NOT NULL`),
    ' AND ',
  );
  return sql`CASE WHEN ${isThere} THEN to_json([${texts}])::VARCHAR END`;
}
