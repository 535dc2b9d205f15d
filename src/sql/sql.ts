/**
 * The one place where SQL text is put together. Values enter a statement through this tag only, so that an
 * identifier or a literal can never end the quotes that hold it.
 *
 * `${fragment}` (an `Sql`) is spliced as it is; a string, number, bigint, boolean or null becomes a literal;
 * names go through {@link id}. Arrays are refused: say {@link join}.
 */
export class Sql {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toString(): string {
    return this.text;
  }
}

export type SqlValue = Sql | string | number | bigint | boolean | null;

export function sql(strings: TemplateStringsArray, ...values: SqlValue[]): Sql {
  let text = strings[0] ?? '';
  for (const [i, value] of values.entries()) text += literal(value) + (strings[i + 1] ?? '');
  return new Sql(text);
}

/** A quoted identifier; more parts make a dotted path: `id('db', 't')` → `"db"."t"`. */
export function id(...parts: readonly string[]): Sql {
  return new Sql(parts.map((part) => `"${part.replaceAll('"', '""')}"`).join('.'));
}

/** SQL text from a trusted constant of this code base, never from input. */
export function raw(text: string): Sql {
  return new Sql(text);
}

export function join(parts: readonly SqlValue[], separator = ', '): Sql {
  return new Sql(parts.map(literal).join(separator));
}

/** A path as a literal that the engine's readers take for that one file, whatever letters it holds. */
export function filePath(name: string): Sql {
  return sql`${name.replaceAll(/[*?[]/g, '[$&]')}`;
}

/** An expression with another one put in the place of each of its parts that are, word by word, `part`. */
export function substitute(expression: Sql, part: Sql, by: Sql): Sql {
  return new Sql(expression.text.replaceAll(part.text, () => by.text));
}

export function and(parts: readonly Sql[]): Sql {
  return parts.length === 0 ? raw('TRUE') : new Sql(parts.map((p) => `(${p.text})`).join(' AND '));
}

export function or(parts: readonly Sql[]): Sql {
  return parts.length === 0 ? raw('FALSE') : new Sql(parts.map((p) => `(${p.text})`).join(' OR '));
}

function literal(value: SqlValue): string {
  if (value instanceof Sql) return value.text;
  if (value === null) return 'NULL';
  if (typeof value === 'string') return textLiteral(value);
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  if (typeof value === 'number' && !Number.isFinite(value)) return `CAST('${value}' AS DOUBLE)`;
  return String(value);
}

// A NUL byte cannot stand inside a literal of the engine's parser, so it is spliced in by chr(0).
function textLiteral(value: string): string {
  const quoted = `'${value.replaceAll("'", "''")}'`;
  return value.includes('\0') ? `(${quoted.replaceAll('\0', "' || chr(0) || '")})` : quoted;
}
