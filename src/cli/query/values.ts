/** Values of the engine as JSON has them, exactly: see {@link converterOf}. */
import {
  DuckDBTypeId,
  type DuckDBArrayValue,
  type DuckDBBlobValue,
  type DuckDBDateValue,
  type DuckDBListValue,
  type DuckDBMapValue,
  type DuckDBStructValue,
  type DuckDBTimestampMillisecondsValue,
  type DuckDBTimestampSecondsValue,
  type DuckDBTimestampValue,
  type DuckDBTimeValue,
  type DuckDBType,
  type DuckDBValue,
} from '@duckdb/node-api';
import { dateText, instantText, timeText } from './instants.ts';

type Converter = (value: DuckDBValue) => unknown;

/**
 * Whole numbers stay whole in all their digits; decimals become strings; doubles and floats the shortest number that
 * is them; dates and times ISO 8601, instants with Z; bytes base64. Lists and structs are arrays and objects, maps
 * lists of `{key, value}`. Anything else is the engine's own text.
 */
export function converterOf(type: DuckDBType): Converter {
  const convert = whole(type);
  return (value) => (value === null ? null : convert(value));
}

function whole(type: DuckDBType): Converter {
  switch (type.typeId) {
    case DuckDBTypeId.BOOLEAN:
    case DuckDBTypeId.TINYINT:
    case DuckDBTypeId.SMALLINT:
    case DuckDBTypeId.INTEGER:
    case DuckDBTypeId.BIGINT:
    case DuckDBTypeId.HUGEINT:
    case DuckDBTypeId.UTINYINT:
    case DuckDBTypeId.USMALLINT:
    case DuckDBTypeId.UINTEGER:
    case DuckDBTypeId.UBIGINT:
    case DuckDBTypeId.UHUGEINT:
    case DuckDBTypeId.DOUBLE:
    case DuckDBTypeId.VARCHAR:
      return (value) => value;
    case DuckDBTypeId.FLOAT:
      return (value) => shortestFloat(value as number);
    case DuckDBTypeId.BLOB:
      return (value) => Buffer.from((value as DuckDBBlobValue).bytes).toString('base64');
    case DuckDBTypeId.DATE:
      return (value) => dateText(value as DuckDBDateValue);
    case DuckDBTypeId.TIME:
      return (value) => timeText((value as DuckDBTimeValue).micros);
    default:
      return timestamp(type) ?? nested(type) ?? String;
  }
}

function timestamp(type: DuckDBType): Converter | null {
  switch (type.typeId) {
    case DuckDBTypeId.TIMESTAMP:
      return (value) =>
        instantText(value as DuckDBTimestampValue, (value as DuckDBTimestampValue).micros, '');
    case DuckDBTypeId.TIMESTAMP_TZ:
      return (value) =>
        instantText(value as DuckDBTimestampValue, (value as DuckDBTimestampValue).micros, 'Z');
    case DuckDBTypeId.TIMESTAMP_S: {
      const micros = (value: DuckDBValue): bigint =>
        (value as DuckDBTimestampSecondsValue).seconds * 1_000_000n;
      return (value) => instantText(value as DuckDBTimestampSecondsValue, micros(value), '');
    }
    case DuckDBTypeId.TIMESTAMP_MS: {
      const micros = (value: DuckDBValue): bigint =>
        (value as DuckDBTimestampMillisecondsValue).millis * 1000n;
      return (value) => instantText(value as DuckDBTimestampMillisecondsValue, micros(value), '');
    }
    default:
      return null;
  }
}

function nested(type: DuckDBType): Converter | null {
  switch (type.typeId) {
    case DuckDBTypeId.LIST:
    case DuckDBTypeId.ARRAY: {
      const item = converterOf(type.valueType);
      return (value) => (value as DuckDBListValue | DuckDBArrayValue).items.map(item);
    }
    case DuckDBTypeId.STRUCT: {
      const { entryNames, entryTypes } = type;
      const fields = entryTypes.map(converterOf);
      return (value) => {
        const { entries } = value as DuckDBStructValue;
        return Object.fromEntries(
          entryNames.map((name, i) => [name, fields[i]?.(entries[name] ?? null)]),
        );
      };
    }
    case DuckDBTypeId.MAP: {
      const { keyType, valueType } = type;
      const [key, item] = [converterOf(keyType), converterOf(valueType)];
      return (value) =>
        (value as DuckDBMapValue).entries.map((e) => ({ key: key(e.key), value: item(e.value) }));
    }
    default:
      return null;
  }
}

/** The shortest decimal that is this 32-bit float: 0.1, not 0.10000000149011612. */
function shortestFloat(value: number): number {
  for (let digits = 1; digits <= 9; digits += 1) {
    const rounded = Number(value.toPrecision(digits));
    if (Math.fround(rounded) === value) return rounded;
  }
  return value; // NaN and the infinities
}
