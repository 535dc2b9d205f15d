import { and, id, join, raw, sql, type Sql } from '../../sql/sql.ts';
import { localPath } from '../../storage/local.ts';
import { GLOBAL, type ScanFile, type ScanPlan } from './scan.ts';
import { sqlType, unsupported, type Field, type IcebergType } from './schema.ts';

/*
 * One SELECT for a scan. Columns go by field id (`f<id>`) until the outermost list gives them their names, so renamed,
 * added, widened and dropped columns need no care. In short:
 *
 *   SELECT f1 AS "id", … FROM (data files with file, row number) JOIN (file → sequence number, scope)
 *   ANTI JOIN (keys of equality deletes with their newest sequence number) ON keys are not distinct AND older
 *   ANTI JOIN (positions) ON same file AND same row
 */

const FILE_PATH: Field = { id: 2147483546, name: 'file_path', required: true, type: 'string' };
const POSITION: Field = { id: 2147483545, name: 'pos', required: true, type: 'long' };

/**
 * The live rows of a plan, columns as in its schema, in no particular order.
 * @throws E_CONFIG_UNSUPPORTED for a nested column whose inner fields were renamed or replaced: the engine finds those by name
 */
export function scanSql(plan: ScanPlan): Sql {
  const fields = plan.schema.fields;
  checkNested(plan);
  const output = join(fields.map((f) => sql`data.${column(f.id)} AS ${id(f.name)}`));
  if (plan.dataFiles.length === 0) return emptySelect(fields);
  const hasDeletes = plan.equalityDeletes.length + plan.positionDeletes.length > 0;
  if (!hasDeletes) return sql`SELECT ${output} FROM (${readFiles(plan.dataFiles, fields)}) AS data`;
  const needed = fieldsToRead(plan);
  const withRows = plan.positionDeletes.length > 0;
  const conditions = [...equalityConditions(plan), ...(withRows ? [positionCondition(plan)] : [])];
  return sql`SELECT ${output} FROM (
    SELECT rows.*, files.sequence_number, files.scope, files.location
    FROM (${readFiles(plan.dataFiles, needed, withRows ? 'rows' : 'files')}) AS rows
    JOIN (${filesTable(plan.dataFiles)}) AS files ON files.file = rows.file
  ) AS data WHERE ${and(conditions)}`;
}

function column(fieldId: number): Sql {
  return id(`f${fieldId}`);
}

function emptySelect(fields: readonly Field[]): Sql {
  const columns = join(fields.map((f) => sql`CAST(NULL AS ${sqlType(f.type)}) AS ${id(f.name)}`));
  return sql`SELECT ${columns} WHERE FALSE`;
}

function fieldsToRead(plan: ScanPlan): readonly Field[] {
  const ids = new Set(plan.schema.fields.map((f) => f.id));
  for (const { file } of plan.equalityDeletes)
    for (const fieldId of file.equalityIds ?? []) ids.add(fieldId);
  return [...ids].map((fieldId) => fieldOf(plan, fieldId));
}

// Of a field that the scan's schema dropped, the newest form is taken: types only ever widen.
function fieldOf(plan: ScanPlan, fieldId: number): Field {
  const newestFirst = plan.schemas.toSorted((a, b) => b['schema-id'] - a['schema-id']);
  const fields = [plan.schema, ...newestFirst].flatMap((s) => s.fields);
  const field = fields.find((f) => f.id === fieldId);
  if (field === undefined)
    throw unsupported(
      `a delete by field ${fieldId}, which is in no schema or inside another column,`,
    );
  return field;
}

function checkNested(plan: ScanPlan): void {
  for (const field of plan.schema.fields) {
    if (typeof field.type === 'string') continue;
    const forms = plan.schemas.flatMap((s) => s.fields).filter((f) => f.id === field.id);
    const pairs = forms.flatMap((f) => innerFields(f.type, ''));
    const idOf = new Map(pairs.map(([path, fieldId]) => [path, fieldId]));
    const pathOf = new Map(pairs.map(([path, fieldId]) => [fieldId, path]));
    const isStable = pairs.every(
      ([path, fieldId]) => idOf.get(path) === fieldId && pathOf.get(fieldId) === path,
    );
    if (!isStable)
      throw unsupported(
        `the column ${JSON.stringify(field.name)}, whose inner fields were renamed or replaced,`,
      );
  }
}

function innerFields(type: IcebergType, path: string): readonly (readonly [string, number])[] {
  if (typeof type === 'string') return [];
  if (type.type === 'list') return innerFields(type.element, `${path}/element`);
  if (type.type === 'map')
    return [...innerFields(type.key, `${path}/key`), ...innerFields(type.value, `${path}/value`)];
  return type.fields.flatMap((f) => [
    [`${path}/${f.name}`, f.id] as const,
    ...innerFields(f.type, `${path}/${f.name}`),
  ]);
}

/** The given fields of Parquet files as `f<id>`; a file without a field gives NULL. `track` adds `file`, and `row`. */
function readFiles(
  files: readonly ScanFile[],
  fields: readonly Field[],
  track: 'none' | 'files' | 'rows' = 'none',
): Sql {
  const paths = files.map((f) => sql`${asPattern(localPath(f.file.path))}`);
  const schema = fields.map(
    (f) => sql`${f.id}: {name: ${`f${f.id}`}, type: ${sqlType(f.type).text}, default_value: NULL}`,
  );
  const columns = fields.map((f) => column(f.id));
  if (track !== 'none') columns.push(raw('file'));
  if (track === 'rows') columns.push(raw('file_row_number AS row'));
  return sql`SELECT ${join(columns)} FROM read_parquet([${join(paths)}], schema = MAP {${join(schema)}}${
    track === 'none' ? raw('') : raw(`, filename = 'file'`)
  }${track === 'rows' ? raw(', file_row_number = TRUE') : raw('')})`;
}

// The reader expands patterns; brackets around a special character take it as it is.
function asPattern(path: string): string {
  return path.replace(/[*?[]/g, (special) => `[${special}]`);
}

function filesTable(files: readonly ScanFile[]): Sql {
  const rows = files.map(
    (f) =>
      sql`(${localPath(f.file.path)}, ${f.file.path}, ${f.sequenceNumber}::BIGINT, ${f.scope})`,
  );
  return sql`SELECT * FROM (VALUES ${join(rows)}) AS f(file, location, sequence_number, scope)`;
}

// Files that compare the same columns in the same kind of scope are one join: of a key, only the newest delete counts.
function equalityConditions(plan: ScanPlan): Sql[] {
  const groups = new Map<string, ScanFile[]>();
  for (const deletes of plan.equalityDeletes) {
    const ids = (deletes.file.equalityIds ?? []).toSorted((a, b) => a - b);
    const key = JSON.stringify([ids, deletes.scope === GLOBAL]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [deletes]);
    else group.push(deletes);
  }
  return [...groups.values()].map((group) => {
    const ids = group[0]?.file.equalityIds ?? [];
    const isGlobal = group[0]?.scope === GLOBAL;
    const keys = ids.map(column);
    const fields = ids.map((fieldId) => fieldOf(plan, fieldId));
    const scope = isGlobal ? [] : [raw('scope')];
    return sql`NOT EXISTS (
      SELECT 1 FROM (
        SELECT ${join([...keys, ...scope])}, max(sequence_number) AS sequence_number
        FROM (${readFiles(group, fields, 'files')}) AS rows
        JOIN (${filesTable(group)}) AS files ON files.file = rows.file
        GROUP BY ALL
      ) AS gone WHERE ${and([
        ...keys.map((key) => sql`gone.${key} IS NOT DISTINCT FROM data.${key}`),
        ...scope.map((s) => sql`gone.${s} = data.${s}`),
        raw('gone.sequence_number > data.sequence_number'),
      ])})`;
  });
}

function positionCondition(plan: ScanPlan): Sql {
  const deletes = plan.positionDeletes;
  return sql`NOT EXISTS (
    SELECT 1 FROM (
      SELECT rows.${column(FILE_PATH.id)} AS location, rows.${column(POSITION.id)} AS row, files.sequence_number, files.scope
      FROM (${readFiles(deletes, [FILE_PATH, POSITION], 'files')}) AS rows
      JOIN (${filesTable(deletes)}) AS files ON files.file = rows.file
    ) AS gone
    WHERE gone.location = data.location AND gone.row = data.row AND gone.scope = data.scope
      AND gone.sequence_number >= data.sequence_number)`;
}
