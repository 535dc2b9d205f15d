import { assert } from '../model/errors.ts';
import { decimalOf, type ColumnType } from '../model/types.ts';
import { raw, type Sql } from './sql.ts';

/** What the cast of one type says of a text, before {@link Cast} adds what all types share. */
export interface TypedCast {
  /** Of DuckDB type {@link duckdbType}; NULL where the text is NULL or bad, and nowhere else. Never throws. */
  readonly value: Sql;
  /** The error code of a bad text, a VARCHAR; anything where the text is good. */
  readonly code: Sql;
}

const DUCKDB_TYPES: Readonly<Record<string, string>> = {
  boolean: 'BOOLEAN',
  int: 'INTEGER',
  long: 'BIGINT',
  float: 'FLOAT',
  double: 'DOUBLE',
  date: 'DATE',
  time: 'TIME',
  timestamp: 'TIMESTAMP',
  timestamptz: 'TIMESTAMPTZ',
  string: 'VARCHAR',
  uuid: 'UUID',
  binary: 'BLOB',
};

/** The engine's type that holds the values of a column type. */
export function duckdbType(type: ColumnType): Sql {
  const decimal = decimalOf(type);
  if (decimal !== null) return raw(`DECIMAL(${decimal.precision},${decimal.scale})`);
  const name = type.startsWith('fixed[') ? 'BLOB' : DUCKDB_TYPES[type];
  assert(name !== undefined, `no engine type for ${type}`);
  return raw(name);
}
