import { decimalOf, type ColumnType } from '../model/types.ts';
import { sql, type Sql } from './sql.ts';

/** VARCHAR: the plain text of a typed value. The engine prints a decimal of fractions only without its zero. */
export function textOf(value: Sql, type: ColumnType): Sql {
  const decimal = decimalOf(type);
  if (decimal !== null && decimal.precision === decimal.scale) {
    return sql`regexp_replace(${value}::VARCHAR, '^(-?)\\.', '\\10.')`;
  }
  return sql`${value}::VARCHAR`;
}
