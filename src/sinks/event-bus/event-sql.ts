/** Ontology events as JSON text, made by the engine: a row of changes becomes one line, two where its key moved. */
import { KIND, type ChangeColumn, type Changes } from '../../model/change.ts';
import type { ColumnType } from '../../model/types.ts';
import { id, join, raw, sql, type Sql } from '../../sql/sql.ts';
import { textOf } from '../../sql/value-text.ts';

/** What a line begins with: everything up to its number. */
export interface LineHead {
  readonly source: string;
  readonly idPrefix: string;
}

/**
 * Whole lines, numbered by a sequence in the order in which one thread meets the changes: no window, which would hold
 * all lines before it gives the first.
 */
export function linesInOrder(
  changes: Changes,
  places: Sql,
  isAligned: boolean,
  { head, sequence }: { readonly head: LineHead; readonly sequence: string },
): Sql {
  const number = sql`${startOf(head)}, nextval(${sequence}), '",', `;
  return sql`SELECT line FROM (${eventBodies(changes, places, isAligned, number)})`;
}

/** Whole lines of several bodies, sorted, numbered after `before` events. */
export function linesSorted(bodies: readonly Sql[], head: LineHead, before: number): Sql {
  return sql`SELECT concat(${startOf(head)}, ${before} + row_number() OVER (ORDER BY ord, part), '",', line) AS line
    FROM (${join(
      bodies.map((body) => sql`(${body})`),
      ' UNION ALL ',
    )}) ORDER BY ord, part`;
}

const startOf = ({ source, idPrefix }: LineHead): Sql =>
  sql`${`{"specversion":"1.0","source":${JSON.stringify(source)},"id":${JSON.stringify(`${idPrefix}-`).slice(0, -1)}`}`;

/**
 * `SELECT ord, part, line`: the line of each event from its `type` on. `part` orders the two events of a moved key.
 *
 * @param places a relation `(ord, file, line, byte)`
 * @param isAligned the n-th row of the changes is that of the n-th place
 * @param start arguments of `concat`, with a comma behind them, that come before the type
 */
export function eventBodies(
  changes: Changes,
  places: Sql,
  isAligned: boolean,
  start: Sql = raw(''),
): Sql {
  const ord = changes.ord.text === 'rowid' ? raw('c.rowid') : raw('c.ord');
  const properties = changes.columns.filter((c) => !c.isKey);
  const rid = changes.columns.find((c) => c.isKey) as ChangeColumn;
  const values = properties.map(
    (c) =>
      sql`${jsonField(c.name)} || coalesce(${jsonValue(id(c.field), c.type)}, 'null') AS ${id(`p_${c.field}`)}`,
  );
  const flags = properties.flatMap((c) => (c.changedField === null ? [] : [id(c.changedField)]));
  const rows = sql`SELECT c.kind, c.ts, c.moved, ${ord} AS ord,
      to_json(${id('c', rid.field)})::VARCHAR AS rid, ${changes.hasMoves ? sql`to_json(${id('c', rid.oldField ?? rid.field)})::VARCHAR AS old_rid,` : raw('')}
      ${join([...values, ...flags])}, p.file, p.line, p.byte
    FROM ${id(changes.relation)} c ${isAligned ? sql`POSITIONAL JOIN ${places} p` : sql`JOIN ${places} p ON p.ord = ${ord}`}
    WHERE c.kind IN (${KIND.create}, ${KIND.update}, ${KIND.delete})`;
  const all =
    properties.length === 0
      ? sql`'{}'`
      : sql`concat('{', ${join(
          properties.map((c) => id(`p_${c.field}`)),
          ", ',', ",
        )}, '}')`;
  const some =
    flags.length === 0
      ? sql`'{}'`
      : sql`concat('{', concat_ws(',', ${join(properties.map((c) => sql`CASE WHEN ${id(c.changedField ?? '')} THEN ${id(`p_${c.field}`)} END`))}), '}')`;
  const event = (
    operation: Sql,
    ridText: Sql,
    shown: Sql,
    after: Sql,
    type: Sql,
  ): Sql => sql`concat(${start}'"type":"', ${type}, '","subject":', ${ridText},
    CASE WHEN ts IS NULL THEN '' ELSE ',"time":"' || strftime(make_timestamp(ts * 1000), '%Y-%m-%dT%H:%M:%S.%gZ') || '"' END, ',"datacontenttype":"application/json","data":{"operation":"', ${operation},
    '","object_type_rid":', ${jsonText(changes.objectType ?? '')}, ',"instance_rid":', ${ridText}, ',"properties":', ${shown},
    ',"source_timestamp":', coalesce(ts::VARCHAR, 'null'), ',"source_table":', ${jsonText(changes.source)}, ',"after":', ${after},
    ',"position":{"file":', to_json(file)::VARCHAR, ',"line":', line, ',"byte":', byte, '}}}')`;
  const plain = sql`SELECT ord, 1 AS part, ${event(
    sql`CASE kind WHEN ${KIND.create} THEN 'create' WHEN ${KIND.update} THEN 'update' ELSE 'delete' END`,
    raw('rid'),
    sql`CASE kind WHEN ${KIND.create} THEN ${all} WHEN ${KIND.update} THEN ${some} ELSE '{}' END`,
    sql`CASE WHEN kind = ${KIND.delete} THEN 'null' ELSE ${all} END`,
    sql`CASE kind WHEN ${KIND.create} THEN 'InstanceCreated' WHEN ${KIND.update} THEN 'InstanceUpdated' ELSE 'InstanceDeleted' END`,
  )} AS line FROM rows WHERE ${changes.hasMoves ? raw('NOT moved') : raw('TRUE')} AND (kind <> ${KIND.update} OR ${flags.length === 0 ? raw('FALSE') : join(flags, ' OR ')})`;
  if (!changes.hasMoves) return sql`WITH rows AS (${rows}) ${plain}`;
  const gone = sql`SELECT ord, 0 AS part, ${event(sql`'delete'`, raw('old_rid'), sql`'{}'`, sql`'null'`, sql`'InstanceDeleted'`)} AS line FROM rows WHERE moved`;
  const come = sql`SELECT ord, 1 AS part, ${event(sql`'create'`, raw('rid'), all, all, sql`'InstanceCreated'`)} AS line FROM rows WHERE moved AND kind <> ${KIND.delete}`;
  return sql`WITH rows AS MATERIALIZED (${rows}) ${join([plain, gone, come], ' UNION ALL ')}`;
}

const jsonText = (text: string): Sql => sql`${JSON.stringify(text)}`;
const jsonField = (name: string): Sql => sql`${`${JSON.stringify(name)}:`}`;

/** VARCHAR of a value as JSON: longs in full digits, decimals as strings, instants with Z and microseconds, bytes as base64. */
function jsonValue(value: Sql, type: ColumnType): Sql {
  switch (type) {
    case 'boolean':
    case 'int':
    case 'long':
      return sql`${value}::VARCHAR`;
    case 'float':
    case 'double':
      return sql`CASE WHEN ${value} IS NULL THEN NULL WHEN isfinite(${value}) THEN ${value}::VARCHAR ELSE '"' || CASE WHEN isnan(${value}) THEN 'NaN' WHEN ${value} > 0 THEN 'Infinity' ELSE '-Infinity' END || '"' END`;
    case 'string':
      return sql`to_json(${value})::VARCHAR`;
    case 'timestamptz':
      return sql`'"' || strftime(make_timestamp(epoch_us(${value})), '%Y-%m-%dT%H:%M:%S.%fZ') || '"'`;
    case 'timestamp':
      return sql`'"' || strftime(${value}, '%Y-%m-%dT%H:%M:%S.%f') || '"'`;
    default:
      return type === 'binary' || type.startsWith('fixed')
        ? sql`'"' || to_base64(${value}) || '"'`
        : sql`'"' || ${textOf(value, type)} || '"'`;
  }
}
