/**
 * The column types of Lakeward: Iceberg's primitive type words (Iceberg spec, Primitive Types). Nested values of a
 * source travel as JSON text in a `string` column.
 */
export type ColumnType =
  | 'boolean'
  | 'int'
  | 'long'
  | 'float'
  | 'double'
  | `decimal(${number},${number})`
  | 'date'
  | 'time'
  | 'timestamp'
  | 'timestamptz'
  | 'string'
  | 'uuid'
  | 'binary'
  | `fixed[${number}]`;

/**
 * How a value is encoded in the feed, where its JSON form alone does not say it. Without one, a number is never
 * taken for a date, a time or bytes.
 */
export type Encoding =
  | 'epoch_s'
  | 'epoch_ms'
  | 'epoch_us'
  | 'epoch_ns'
  | 'epoch_day'
  | 'ms_of_day'
  | 'us_of_day'
  | 'ns_of_day'
  | 'iso'
  | 'base64';

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  readonly from?: Encoding;
  /** False: a null is a data error. */
  readonly nullable: boolean;
}

const DECIMAL = /^decimal\(\s*(\d+)\s*,\s*(\d+)\s*\)$/;

/** Precision and scale of `decimal(P,S)`; null for any other type. */
export function decimalOf(type: string): { precision: number; scale: number } | null {
  const match = DECIMAL.exec(type);
  return match === null ? null : { precision: Number(match[1]), scale: Number(match[2]) };
}
