import { PipelineError } from '../../model/errors.ts';
import { decimalOf, type ColumnType } from '../../model/types.ts';
import { id, join, raw, sql, type Sql } from '../../sql/sql.ts';

/** A type in schema JSON (Iceberg spec, Appendix C: Schemas): a primitive's word, or an object for a nested one. */
export type IcebergType = string | StructType | ListType | MapType;

export interface StructType {
  readonly type: 'struct';
  readonly fields: readonly Field[];
}

export interface ListType {
  readonly type: 'list';
  readonly 'element-id': number;
  readonly element: IcebergType;
  readonly 'element-required': boolean;
}

export interface MapType {
  readonly type: 'map';
  readonly 'key-id': number;
  readonly key: IcebergType;
  readonly 'value-id': number;
  readonly value: IcebergType;
  readonly 'value-required': boolean;
}

export interface Field {
  readonly id: number;
  readonly name: string;
  readonly required: boolean;
  readonly type: IcebergType;
  readonly doc?: string;
}

export interface Schema extends StructType {
  readonly 'schema-id': number;
  readonly 'identifier-field-ids'?: readonly number[];
}

/** The columns of a new table, which take the field ids 1, 2, … in their order. */
export function newFields(
  columns: readonly {
    readonly name: string;
    readonly type: ColumnType;
    readonly required: boolean;
  }[],
): readonly Field[] {
  return columns.map((column, i) => ({
    id: i + 1,
    name: column.name,
    required: column.required,
    type: canonicalType(column.type),
  }));
}

/** Schema JSON spells `decimal(P, S)` with a space. */
export function canonicalType(type: IcebergType): IcebergType {
  if (typeof type !== 'string') return type;
  const decimal = decimalOf(type);
  return decimal === null ? type : `decimal(${decimal.precision}, ${decimal.scale})`;
}

const SQL_TYPES: Readonly<Record<string, Sql>> = {
  boolean: raw('BOOLEAN'),
  int: raw('INTEGER'),
  long: raw('BIGINT'),
  float: raw('FLOAT'),
  double: raw('DOUBLE'),
  date: raw('DATE'),
  time: raw('TIME'),
  timestamp: raw('TIMESTAMP'),
  timestamptz: raw('TIMESTAMPTZ'),
  string: raw('VARCHAR'),
  uuid: raw('UUID'),
  binary: raw('BLOB'),
};

/** DuckDB's type of an Iceberg type. @throws E_CONFIG_UNSUPPORTED for a type that the engine does not have */
export function sqlType(type: IcebergType): Sql {
  if (typeof type !== 'string') return nestedSqlType(type);
  const decimal = decimalOf(type);
  if (decimal !== null) return raw(`DECIMAL(${decimal.precision},${decimal.scale})`);
  if (/^fixed\[\d+\]$/.test(type)) return raw('BLOB');
  const found = SQL_TYPES[type];
  if (found === undefined) throw unsupported(`the type ${type}`);
  return found;
}

function nestedSqlType(type: StructType | ListType | MapType): Sql {
  if (type.type === 'struct') {
    return sql`STRUCT(${join(type.fields.map((f) => sql`${id(f.name)} ${sqlType(f.type)}`))})`;
  }
  if (type.type === 'list') return sql`${sqlType(type.element)}[]`;
  return sql`MAP(${sqlType(type.key)}, ${sqlType(type.value)})`;
}

/**
 * Properties that a table with such columns needs so that other engines can read what the engine here encodes:
 * `fixed[N]` is a byte array of any length in its Parquet files, which Spark reads row by row only.
 */
export function readerProperties(fields: readonly Field[]): Readonly<Record<string, string>> {
  const hasFixed = fields.some((f) => typeof f.type === 'string' && f.type.startsWith('fixed['));
  return hasFixed ? { 'read.parquet.vectorization.enabled': 'false' } : {};
}

/**
 * Why a column cannot be one that equality deletes compare, or null. A float has two zeros and NaN; other engines
 * cannot compare a `fixed[N]` that is encoded as {@link readerProperties} says.
 */
export function whyNoKey(type: IcebergType): string | null {
  if (type === 'float' || type === 'double') return `is ${type}, which cannot be compared exactly`;
  if (typeof type !== 'string') return `is a ${type.type}, which cannot be compared`;
  return type.startsWith('fixed[')
    ? `is ${type}, which not every reader can compare; make it binary`
    : null;
}

/** The highest field id, nested ones included; 0 without fields. */
export function highestFieldId(type: IcebergType): number {
  if (typeof type === 'string') return 0;
  if (type.type === 'struct') {
    return Math.max(0, ...type.fields.flatMap((f) => [f.id, highestFieldId(f.type)]));
  }
  if (type.type === 'list') return Math.max(type['element-id'], highestFieldId(type.element));
  return Math.max(
    type['key-id'],
    type['value-id'],
    highestFieldId(type.key),
    highestFieldId(type.value),
  );
}

export function unsupported(what: string, table?: string): PipelineError {
  const message = `${table === undefined ? '' : `${table}: `}${what} cannot be handled by this version`;
  return new PipelineError(
    'E_CONFIG_UNSUPPORTED',
    message,
    table === undefined ? {} : { subject: { table } },
  );
}
