import { duckdbType, type TypedCast } from './casts-shape.ts';
import { join, raw, sql, type Sql } from './sql.ts';

/** JSON's number, leading zeros allowed. */
const NUMBER = String.raw`-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?`;
/** The same, parted, without the zeros that say nothing: those before the whole part and those behind the fraction. */
const PARTS = String.raw`^(-?)0*([0-9]*?)(?:\.([0-9]*?)0*)?(?:[eE][+]?(-?[0-9]+))?$`;

// Names of lambda parameters: an engine's lambda cannot hide a column of the same name.
const NUM = raw('__lakeward_number');
const WHOLE = raw('__lakeward_whole');

/** The widest decimal that the engine keeps in 64 bits; text is cast to wider ones 200 times more slowly. */
const FAST_DIGITS_MAX = 18;

const DIGITS_MAX = { int: 10, long: 19 } as const;
const FIRST_BEYOND = { int: '2147483648', long: '9223372036854775808' } as const;

/** `int` and `long`. A whole number in any form of {@link NUMBER} is one: `5.0` is 5, `1e3` is 1000. */
export function castInteger(text: Sql, type: 'int' | 'long'): TypedCast {
  return {
    value: ofWhole(text, type, null),
    code: sql`CASE WHEN ${isBeyond(text, FIRST_BEYOND[type])} THEN 'E_VALUE_RANGE' ELSE 'E_VALUE_INTEGER' END`,
  };
}

/** `body`, or the number itself, over the whole number that the text holds; NULL where it holds none of the type. */
export function ofWhole(text: Sql, type: 'int' | 'long', body: ((whole: Sql) => Sql) | null): Sql {
  const guess = sql`TRY_CAST(${text} AS ${duckdbType(type)})`;
  const exact = sql`TRY_CAST(${scaledDigits(text, 0, DIGITS_MAX[type])} AS ${duckdbType(type)})`;
  const other =
    body === null ? exact : sql`list_transform([${exact}], lambda ${WHOLE}: ${body(WHOLE)})[1]`;
  // The engine's own cast also takes 1.5, 0x10, 1_000 and blanks: only what prints as it was read is taken from it.
  return sql`(CASE WHEN CAST(${guess} AS VARCHAR) = ${text} THEN ${body === null ? guess : body(guess)} ELSE ${other} END)`;
}

// Of a text that is bad for its type: whether it is a number of that size, whole or not.
function isBeyond(text: Sql, size: string): Sql {
  return sql`CASE WHEN ${isNumber(text)} THEN abs(TRY_CAST(${text} AS DOUBLE)) >= ${raw(size)} ELSE FALSE END`;
}

function isNumber(text: Sql): Sql {
  return sql`regexp_full_match(${text}, ${NUMBER})`;
}

export function castDecimal(text: Sql, precision: number, scale: number): TypedCast {
  const exact = fromUnscaled(
    sql`TRY_CAST(${scaledDigits(text, scale, precision)} AS HUGEINT)`,
    precision,
    scale,
  );
  const branches =
    precision <= FAST_DIGITS_MAX
      ? [narrow(text, precision, precision, scale)]
      : wide(text, precision, scale);
  const whens = branches.map(
    ({ pattern, value }) => sql`WHEN regexp_full_match(${text}, ${pattern}) THEN ${value}`,
  );
  return {
    value: sql`(CASE ${join(whens, ' ')} ELSE ${exact} END)`,
    code: sql`CASE WHEN ${isNumber(text)} THEN 'E_VALUE_DECIMAL' ELSE 'E_VALUE_NUMBER' END`,
  };
}

/** A whole number of cents as a decimal(18,2) of hundreds of them. */
export function castCents(text: Sql): TypedCast {
  return {
    value: ofWhole(text, 'long', (cents) => fromUnscaled(cents, 18, 2)),
    code: sql`CASE WHEN ${isBeyond(text, '1000000000000000000')} THEN 'E_VALUE_RANGE' WHEN ${isNumber(text)} THEN 'E_VALUE_DECIMAL' ELSE 'E_VALUE_NUMBER' END`,
  };
}

interface Branch {
  readonly pattern: string;
  readonly value: Sql;
}

function narrow(text: Sql, digits: number, precision: number, scale: number): Branch {
  const whole = digits === scale ? '0' : `[0-9]{1,${digits - scale}}`;
  const pattern = scale === 0 ? `-?${whole}` : String.raw`-?${whole}(?:\.[0-9]{1,${scale}})?`;
  const cast = sql`TRY_CAST(${text} AS DECIMAL(${digits},${scale}))`;
  return {
    pattern,
    value: digits === precision ? cast : sql`TRY_CAST(${cast} AS DECIMAL(${precision},${scale}))`,
  };
}

function wide(text: Sql, precision: number, scale: number): readonly Branch[] {
  const whole = precision === scale ? '0' : `[0-9]{1,${precision - scale}}`;
  const full: Branch = {
    pattern: scale === 0 ? `-?${whole}` : String.raw`-?${whole}\.[0-9]{${scale}}`,
    value: fromUnscaled(sql`TRY_CAST(replace(${text}, '.', '') AS HUGEINT)`, precision, scale),
  };
  return scale < FAST_DIGITS_MAX ? [narrow(text, FAST_DIGITS_MAX, precision, scale), full] : [full];
}

/** A HUGEINT as the unscaled value of a decimal; NULL where it has more digits. */
export function fromUnscaled(unscaled: Sql, precision: number, scale: number): Sql {
  const whole = sql`TRY_CAST(${unscaled} AS DECIMAL(${precision},0))`;
  if (scale === 0) return whole;
  const unit = sql`CAST(${`0.${'1'.padStart(scale, '0')}`} AS DECIMAL(${scale},${scale}))`;
  return sql`TRY_CAST(${whole} * ${unit} AS DECIMAL(${precision},${scale}))`;
}

/**
 * `float` and `double`: the nearest one, as everywhere decimal text is read as binary; a finite text beyond the range
 * is bad. The words for not-a-number and the infinities are those of PostgreSQL, Java and C.
 */
export function castFloating(text: Sql, type: 'float' | 'double'): TypedCast {
  const engineType = duckdbType(type);
  const guess = sql`TRY_CAST(${text} AS ${engineType})`;
  const word = sql`CASE WHEN regexp_full_match(${text}, 'NaN|[+-]?Infinity|-?inf') THEN ${guess} END`;
  const number = sql`CASE WHEN isfinite(${guess}) THEN ${guess} END`;
  return {
    value: sql`(CASE WHEN ${isNumber(text)} THEN ${number} ELSE ${word} END)`,
    code: sql`CASE WHEN ${isNumber(text)} THEN 'E_VALUE_RANGE' ELSE 'E_VALUE_NUMBER' END`,
  };
}

/**
 * The digits of `number × 10^scale` as text, which the engine casts without rounding; NULL where the text is no number
 * or that is not whole, or where it has more zeros at its end than fit `digitsMax` digits. Slow: for texts that no
 * cheap test knows. Written to be small, since every statement carries it for every column.
 */
function scaledDigits(text: Sql, scale: number, digitsMax: number): Sql {
  const parts = sql`regexp_extract(${text}, ${PARTS}, ['sign', 'whole', 'fraction', 'exponent'])`;
  const exponent = sql`CASE WHEN ${part(NUM, 'exponent')} = '' THEN 0 ELSE TRY_CAST(${part(NUM, 'exponent')} AS INTEGER) END`;
  const number = sql`{'sign': ${part(NUM, 'sign')}, 'digits': ${part(NUM, 'whole')} || ${part(NUM, 'fraction')}, 'zeros': ${exponent} - strlen(${part(NUM, 'fraction')}) + ${scale}}`;
  const digits = part(NUM, 'digits');
  const zeros = part(NUM, 'zeros');
  const shifted = sql`CASE WHEN ${digits} = '' THEN '0' WHEN ${zeros} BETWEEN 0 AND ${digitsMax} THEN ${part(NUM, 'sign')} || ${digits} || repeat('0', ${zeros})
    WHEN ${zeros} > 0 THEN NULL WHEN rtrim(right(${digits}, -${zeros}), '0') = '' THEN ${part(NUM, 'sign')} || left(${digits}, strlen(${digits}) + ${zeros}) END`;
  // A lambda is SQL's only way to name an intermediate result within an expression.
  const steps = sql`list_transform(list_transform([${parts}], lambda ${NUM}: ${number}), lambda ${NUM}: ${shifted})`;
  return sql`CASE WHEN ${isNumber(text)} THEN ${steps}[1] END`;
}

// Not `n.name`: the engine takes that for a table's column first, and compares all columns for its "did you mean".
function part(n: Sql, name: string): Sql {
  return sql`struct_extract(${n}, ${name})`;
}
