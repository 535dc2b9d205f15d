/** Lines of a Debezium feed, put together as text so that a test says every digit of a number itself. */

/** A row image: JSON text as it is to stand in the line, or a value to print; null stays null. */
export type ImageText = string | Readonly<Record<string, unknown>> | null;

export interface SourceBlock {
  readonly [name: string]: unknown;
}

export interface LineParts {
  readonly before?: ImageText;
  readonly after?: ImageText;
  /** Null: no `source` block at all. Default: table `shop.t` of MySQL at no position. */
  readonly source?: SourceBlock | null;
  readonly tsMs?: number;
}

/** The table that most scenarios are about. */
const SHOP_T: SourceBlock = { db: 'shop', table: 't' };

/** A bare envelope; images that are left out are absent, not null. */
export function line(op: string, { before, after, source = SHOP_T, tsMs }: LineParts): string {
  const parts = [
    ...(before === undefined ? [] : [`"before":${jsonText(before)}`]),
    ...(after === undefined ? [] : [`"after":${jsonText(after)}`]),
    ...(source === null ? [] : [`"source":${JSON.stringify(source)}`]),
    `"op":${JSON.stringify(op)}`,
    ...(tsMs === undefined ? [] : [`"ts_ms":${tsMs}`]),
  ];
  return `{${parts.join(',')}}`;
}

export const create = (after: ImageText, source?: SourceBlock | null): string =>
  line('c', { before: null, after, ...(source === undefined ? {} : { source }) });

export const update = (before: ImageText, after: ImageText, source?: SourceBlock | null): string =>
  line('u', { before, after, ...(source === undefined ? {} : { source }) });

export const remove = (before: ImageText, source?: SourceBlock | null): string =>
  line('d', { before, after: null, ...(source === undefined ? {} : { source }) });

/** A field of a schema part: a Connect type word, or `[type, semantic name, parameters]`. */
export type FieldType =
  | string
  | readonly [type: string, name: string, parameters?: Readonly<Record<string, string>>];

export type FieldTypes = Readonly<Record<string, FieldType>>;

/** The schema part that Debezium's JSON converter writes for a table. */
function schemaOf(fields: FieldTypes): object {
  const row = Object.entries(fields).map(([field, type]) => fieldSchema(field, type));
  const image = (field: string): object => ({
    type: 'struct',
    fields: row,
    optional: true,
    name: 'feed.shop.t.Value',
    field,
  });
  const source = {
    type: 'struct',
    fields: [
      { type: 'string', optional: false, field: 'db' },
      { type: 'string', optional: false, field: 'table' },
    ],
    optional: false,
    name: 'io.debezium.connector.mysql.Source',
    field: 'source',
  };
  return {
    type: 'struct',
    fields: [
      image('before'),
      image('after'),
      source,
      { type: 'string', optional: false, field: 'op' },
      { type: 'int64', optional: true, field: 'ts_ms' },
    ],
    optional: false,
    name: 'feed.shop.t.Envelope',
  };
}

/** The same envelope with its schema in front. */
export function wrapped(fields: FieldTypes, envelope: string): string {
  return `{"schema":${JSON.stringify(schemaOf(fields))},"payload":${envelope}}`;
}

function fieldSchema(field: string, type: FieldType): object {
  if (typeof type === 'string') return { type, optional: field !== 'id', field };
  const [word, name, parameters] = type;
  return {
    type: word,
    optional: field !== 'id',
    name,
    version: 1,
    ...(parameters === undefined ? {} : { parameters }),
    field,
  };
}

function jsonText(image: ImageText): string {
  return typeof image === 'string' ? image : JSON.stringify(image);
}
