import { PipelineError } from '../model/errors.ts';
import type { Image, SourceColumn, SourceView, TargetColumn, TargetView } from '../model/change.ts';
import type { FieldMapping, SchemaMapping } from '../model/spec.ts';
import { objectTypeOf, type TargetName } from '../model/target-name.ts';
import { castText } from '../sql/casts.ts';
import { textOf } from '../sql/value-text.ts';
import { quickCents, quickText } from '../sql/casts-quick.ts';
import { convertText } from '../sql/casts-convert.ts';
import { join, raw, sql, type Sql } from '../sql/sql.ts';

/** The change is about the row that an image describes: the before image's for a delete. */
const current = (view: SourceView, column: SourceColumn): Sql =>
  sql`CASE WHEN ${view.op} = 'd' THEN ${column.before} ELSE ${column.after} END`;

const isAbsent = (view: SourceView, column: SourceColumn): Sql =>
  sql`(${view.absent} IS NOT NULL AND list_contains(${view.absent}, ${column.name}))`;

function isUnsure(view: SourceView, column: SourceColumn): Sql {
  return sql`(${column.before} IS NULL AND ${column.after} IS NULL AND ${view.absent} IS NULL)`;
}

/** A table as it is: its columns in order, keyed by its own key. */
export function mirror(view: SourceView, target: TargetName): TargetView {
  const columns = view.columns.map((column): TargetColumn => {
    const isKey = view.key.includes(column.name);
    return {
      name: column.name,
      source: column.name,
      type: column.type,
      nullable: !isKey,
      isKey,
      text: isKey ? current(view, column) : column.after,
      oldText: isKey ? column.before : null,
      cast: (text) => castText(text, column.type, column.from),
      quick: (text) => quickImage(text, column),
      compared: null,
    };
  });
  return { source: view, target, objectType: null, columns, filters: [] };
}

/** A table as instances of an ontology's object type: `rid`, then the properties in the file's order. */
export function mapSchema(
  view: SourceView,
  mapping: SchemaMapping,
  target: TargetName,
  wantsEvents: boolean,
): TargetView {
  const key = columnOf(view, mapping.primary_key_field, 'primary_key_field');
  const rid: TargetColumn = {
    name: 'rid',
    source: key.name,
    type: 'string',
    nullable: false,
    isKey: true,
    text: current(view, key),
    oldText: key.before,
    cast: (text) => ridOf(castText(text, key.type, key.from), key, mapping),
    quick: (text) => ridOf(quickImage(text, key), key, mapping),
    compared: null,
  };
  const properties = mapping.field_mappings.map((field): TargetColumn => {
    const column = columnOf(view, field.source_column, 'field_mappings');
    const { type } = property(column, field)(raw('NULL::VARCHAR'));
    return {
      name: field.target_property,
      source: column.name,
      type,
      nullable: field.nullable,
      isKey: false,
      text: withDefault(column.after, field),
      oldText: null,
      cast: property(column, field),
      quick: quickProperty(column, field),
      compared: wantsEvents
        ? {
            before: withDefault(column.before, field),
            isAbsent: isAbsent(view, column),
            isUnsure: isUnsure(view, column),
          }
        : null,
    };
  });
  return {
    source: view,
    target,
    objectType: mapping.target_object_type_rid,
    columns: [rid, ...properties],
    filters: [],
  };
}

const withDefault = (text: Sql, field: FieldMapping): Sql =>
  field.default_value === undefined ? text : sql`coalesce(${text}, ${field.default_value})`;

function property(column: SourceColumn, field: FieldMapping): (text: Sql) => Image {
  const { type_conversion: conversion } = field;
  if (conversion === undefined) return (text) => castText(text, column.type, column.from);
  return (text) => convertText(text, conversion, column.type, column.from);
}

function quickImage(text: Sql, column: SourceColumn): Image {
  const full = castText(text, column.type, column.from);
  return { ...full, ...quickText(text, column.type, column.from, full) };
}

function quickProperty(column: SourceColumn, field: FieldMapping): (text: Sql) => Image {
  const { type_conversion: conversion } = field;
  if (conversion === undefined) return (text) => quickImage(text, column);
  return (text) => {
    const full = convertText(text, conversion, column.type, column.from);
    if (conversion === 'to_int') return { ...full, ...quickText(text, 'long', undefined, full) };
    if (conversion === 'cents_to_dollars') return { ...full, ...quickCents(text) };
    if (conversion === 'epoch_ms_to_datetime')
      return { ...full, ...quickText(text, 'timestamptz', 'epoch_ms', full) };
    return full;
  };
}

// The key's text is taken in its type's own form, so that 7 and 007 are one instance where the key is a number.
function ridOf(image: Image, key: SourceColumn, mapping: SchemaMapping): Image {
  const parts = mapping.rid_template
    .split('{pk}')
    .map((part) => part.replaceAll('{object_type}', objectTypeOf(mapping.target_object_type_rid)));
  const pk = key.type === 'string' ? image.value : textOf(image.value, key.type);
  return {
    ...image,
    value: sql`(${join(
      parts.flatMap((part, i) => (i === 0 ? [part] : [pk, part])),
      ' || ',
    )})`,
    type: 'string',
  };
}

function columnOf(view: SourceView, name: string, where: string): SourceColumn {
  const column = view.columns.find((c) => c.name === name);
  if (column !== undefined) return column;
  throw new PipelineError(
    'E_COLUMN_UNKNOWN',
    `${where} names the column ${name}, which ${view.table} does not have: ${view.columns.map((c) => c.name).join(', ')}`,
    {
      subject: { table: view.table, column: name },
    },
  );
}
