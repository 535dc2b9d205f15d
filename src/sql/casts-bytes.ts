import { fromUnscaled } from './casts-number.ts';
import type { TypedCast } from './casts-shape.ts';
import { raw, sql, type Sql } from './sql.ts';

/** Standard alphabet, padded, unused bits zero (RFC 4648 §4 and §3.5): one text for one value. */
const TAIL = '[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=';
const BASE64 = `(?:[A-Za-z0-9+/]{4})*(?:${TAIL})?`;
/** The same of one byte or more. */
const SOME_BASE64 = `(?:[A-Za-z0-9+/]{4})*(?:${TAIL}|[A-Za-z0-9+/]{4})`;
const BINARY_CODE = sql`'E_VALUE_BINARY'`;

/** `binary`, and `fixed` where `length` is given, from base64. */
export function castBinary(text: Sql, length: number | null): TypedCast {
  const bytes = sql`from_base64(${text})`;
  const checked =
    length === null ? bytes : sql`CASE WHEN octet_length(${bytes}) = ${length} THEN ${bytes} END`;
  return {
    value: sql`(CASE WHEN regexp_full_match(${text}, ${BASE64}) THEN ${checked} END)`,
    code: BINARY_CODE,
  };
}

/**
 * A decimal from base64 of its unscaled value, a big-endian two's complement of any length but zero (Kafka Connect,
 * `org.apache.kafka.connect.data.Decimal`).
 */
export function castBase64Decimal(text: Sql, precision: number, scale: number): TypedCast {
  const bytes = sql`from_base64(${text})`;
  const upTo8 = sql`strlen(${text}) < CASE WHEN ends_with(${text}, '=') THEN 13 ELSE 12 END`;
  const upTo16 = sql`strlen(${text}) < CASE WHEN ends_with(${text}, '==') THEN 25 ELSE 24 END`;
  const ofBytes = (part: Sql, integer: 'BIGINT' | 'HUGEINT'): Sql =>
    fromUnscaled(twosComplement(text, part, integer), precision, scale);
  return {
    value: sql`(CASE WHEN ${isBytes(text)} THEN CASE WHEN ${upTo8} THEN ${ofBytes(bytes, 'BIGINT')}
      WHEN ${upTo16} THEN ${ofBytes(bytes, 'HUGEINT')} ELSE ${ofBytes(withoutSignBytes(bytes), 'HUGEINT')} END END)`,
    code: sql`CASE WHEN ${isBytes(text)} THEN 'E_VALUE_DECIMAL' ELSE 'E_VALUE_BINARY' END`,
  };
}

function isBytes(text: Sql): Sql {
  return sql`regexp_full_match(${text}, ${SOME_BASE64})`;
}

// The sign is the first bit of the first base64 letter: A to Z and a to f have it off. Bits are read as unsigned, so
// a negative number is read through its complement.
function twosComplement(text: Sql, bytes: Sql, integer: 'BIGINT' | 'HUGEINT'): Sql {
  const bits = sql`CAST(${bytes} AS BIT)`;
  const type = raw(integer);
  return sql`CASE WHEN ${text} BETWEEN 'A' AND 'f~' THEN CAST(${bits} AS ${type}) ELSE -1 - CAST(~${bits} AS ${type}) END`;
}

// The last 16 bytes of longer ones, where those before repeat the sign only; else NULL: no 38 digits need more.
function withoutSignBytes(bytes: Sql): Sql {
  const isPadded = sql`regexp_full_match(hex(${bytes}), '(?:00)+[0-7][0-9A-F]{31}|(?:FF)+[89A-F][0-9A-F]{31}')`;
  return sql`CASE WHEN ${isPadded} THEN unhex(right(hex(${bytes}), 32)) END`;
}
