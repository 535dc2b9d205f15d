/** Whether a `default_value` can become what its property holds: found when the file is read, not at the first null. */
import type { Conversion } from '../model/spec.ts';
import { decimalOf } from '../model/types.ts';

/** JSON's number, leading zeros allowed: what the casts take. */
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/u;

interface Decimal {
  /** Value = digits × 10^-scale; trailing zeros removed. */
  readonly digits: bigint;
  readonly scale: number;
}

function exact(text: string): Decimal | null {
  const match = NUMBER.exec(text);
  if (match === null) return null;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  let digits = BigInt(whole + fraction) * (sign === '-' ? -1n : 1n);
  let scale = fraction.length - Number(exponent);
  while (scale > 0 && digits % 10n === 0n && digits !== 0n) {
    digits /= 10n;
    scale -= 1;
  }
  if (digits === 0n) scale = 0;
  return scale < 0 ? { digits: digits * 10n ** BigInt(-scale), scale: 0 } : { digits, scale };
}

function wholeProblem(text: string, bits: 32 | 64): string | null {
  const number = exact(text);
  if (number === null || number.scale !== 0) return 'is not a whole number';
  return BigInt.asIntN(bits, number.digits) === number.digits ? null : 'does not fit the type';
}

function decimalProblem(text: string, precision: number, scale: number): string | null {
  const number = exact(text);
  if (number === null) return 'is not a number';
  if (number.scale > scale) return `has more than ${scale} decimal places`;
  const digits = number.digits * 10n ** BigInt(scale - number.scale);
  const size = digits < 0n ? -digits : digits;
  return size < 10n ** BigInt(precision) ? null : `has more than ${precision} digits`;
}

function centsProblem(text: string): string | null {
  const number = exact(text);
  if (number === null || number.scale !== 0) return 'is not a whole number of cents';
  return decimalProblem(`${number.digits}e-2`, 18, 2);
}

const floatProblem = (text: string): string | null =>
  isFloat(text, Number) ? null : 'is not a number';

const singleProblem = (text: string): string | null =>
  isFloat(text, Math.fround) ? null : 'is not a number of its size';

/** Rounding is what floating point is for; a number that it would turn into infinity is not one. */
function isFloat(text: string, round: (value: number) => number): boolean {
  if (/^(NaN|-?(?:Infinity|inf))$/u.test(text)) return true;
  return exact(text) !== null && Number.isFinite(round(Number(text)));
}

/** The years 0001 to 9999, in epoch milliseconds. */
const FIRST_MS = -62_135_596_800_000n;
const LAST_MS = 253_402_300_799_999n;

function epochProblem(text: string): string | null {
  const number = exact(text);
  if (number === null || number.scale !== 0) return 'is not a whole number';
  const isInRange = number.digits >= FIRST_MS && number.digits <= LAST_MS;
  return isInRange ? null : 'is outside of the years 0001 to 9999';
}

const wordProblem = (text: string): string | null =>
  /^(1|true|yes|t|y|on|0|false|no|f|n|off)$/iu.test(text)
    ? null
    : 'is not one of the known booleans (true, false, yes, no, 1, 0 …)';

const booleanProblem = (text: string): string | null =>
  /^(1|true|t|0|false|f)$/iu.test(text) ? null : 'is neither true nor false';

const BY_CONVERSION: Readonly<Record<Conversion, (text: string) => string | null>> = {
  to_string: () => null,
  to_int: (text) => wholeProblem(text, 64),
  to_float: floatProblem,
  to_boolean: wordProblem,
  epoch_ms_to_datetime: epochProblem,
  cents_to_dollars: centsProblem,
};

const BY_TYPE: Readonly<Record<string, (text: string) => string | null>> = {
  boolean: booleanProblem,
  int: (text) => wholeProblem(text, 32),
  long: (text) => wholeProblem(text, 64),
  float: singleProblem,
  double: floatProblem,
};

/**
 * What is wrong with a default, to follow its name in a sentence; null when nothing is, or when only the engine can
 * tell. `columnType` counts where there is no conversion.
 */
export function defaultProblem(
  text: string,
  conversion: string | null,
  columnType: string | null,
): string | null {
  if (conversion !== null) {
    const known = Object.hasOwn(BY_CONVERSION, conversion);
    const problem = known ? BY_CONVERSION[conversion as Conversion](text) : null;
    return problem === null ? null : `${problem}, so ${conversion} cannot convert it`;
  }
  if (columnType === null) return null;
  const decimal = decimalOf(columnType);
  const problem =
    decimal === null
      ? (BY_TYPE[columnType]?.(text) ?? null)
      : decimalProblem(text, decimal.precision, decimal.scale);
  return problem === null ? null : `${problem}, but the column is ${columnType}`;
}
