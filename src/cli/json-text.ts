/**
 * JSON of plain values. Bigints become numbers in full digits, which `JSON.stringify` cannot do; numbers that JSON
 * does not have become their names as text.
 */
export function jsonText(
  value: unknown,
  { indent = 0 }: { readonly indent?: number } = {},
): string {
  return textOf(value, indent === 0 ? null : ' '.repeat(indent), '');
}

function textOf(value: unknown, step: string | null, margin: string): string {
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return Number.isFinite(value) ? numberText(value) : `"${value}"`;
  if (Array.isArray(value)) {
    return wrapped(
      ['[', ']'],
      value.map((item) => textOf(item, step, `${margin}${step}`)),
      step,
      margin,
    );
  }
  if (typeof value !== 'object') return JSON.stringify(value);
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .map(
      ([name, field]) =>
        `${JSON.stringify(name)}:${step === null ? '' : ' '}${textOf(field, step, `${margin}${step}`)}`,
    );
  return wrapped(['{', '}'], fields, step, margin);
}

function wrapped(
  ends: readonly [string, string],
  parts: readonly string[],
  step: string | null,
  margin: string,
): string {
  if (step === null || parts.length === 0) return `${ends[0]}${parts.join(',')}${ends[1]}`;
  const inner = `\n${margin}${step}`;
  return `${ends[0]}${inner}${parts.join(`,${inner}`)}\n${margin}${ends[1]}`;
}

// -0 is a value of its own.
function numberText(value: number): string {
  return Object.is(value, -0) ? '-0.0' : String(value);
}
