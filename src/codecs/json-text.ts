/**
 * JSON (RFC 8259) read as text: what a value says is found without turning its numbers into doubles and without
 * recursion, so that neither a digit nor the stack is lost. All positions are UTF-16 offsets into the text.
 */
export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

/** A value's place: `text.slice(start, end)` is the whole of it, without blanks around it. */
export interface JsonSpan {
  readonly kind: JsonKind;
  readonly start: number;
  readonly end: number;
}

export type FaultCode = 'E_LINE_JSON' | 'E_LINE_NESTING' | 'E_LINE_DUPLICATE_FIELD';

/** Why a text is not JSON, or not such JSON as is read here. Carries no part of the text but field names. */
export class JsonFault extends Error {
  readonly code: FaultCode;
  readonly offset: number;
  constructor(code: FaultCode, message: string, offset: number) {
    super(message);
    this.name = 'JsonFault';
    this.code = code;
    this.offset = offset;
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Names decoded, in the order of the text. */
export type JsonFields = ReadonlyMap<string, JsonSpan>;

/** The one value of a text. */
export interface JsonDocument extends JsonSpan {
  /** Empty where the value is no object. */
  readonly fields: JsonFields;
}

/**
 * Checks a whole text, which may have blanks around its one value and nothing else; null where there are only blanks.
 *
 * @throws JsonFault E_LINE_JSON, E_LINE_NESTING, and E_LINE_DUPLICATE_FIELD for the outermost object
 */
export function readJson(text: string, nestingMax: number): JsonDocument | null {
  const start = skipBlanks(text, 0);
  if (start === text.length) return null;
  const kind = kindAt(text, start);
  const fields = new Map<string, JsonSpan>();
  const end =
    kind === 'object'
      ? gatherFields(text, start, nestingMax, fields)
      : readValue(text, start, nestingMax).end;
  const rest = skipBlanks(text, end);
  if (rest < text.length) throw new JsonFault('E_LINE_JSON', 'text follows the value', rest);
  return { kind, start, end, fields };
}

/**
 * The fields of an object within a text that {@link readJson} has found good.
 *
 * @throws JsonFault E_LINE_DUPLICATE_FIELD
 */
export function readFields(text: string, object: JsonSpan): JsonFields {
  const fields = new Map<string, JsonSpan>();
  gatherFields(text, object.start, Infinity, fields);
  return fields;
}

/** The text of a value that is good JSON: a string decoded, a number's own digits, compact JSON; null for `null`. */
export function textOf(text: string, span: JsonSpan): string | null {
  if (span.kind === 'null') return null;
  if (span.kind === 'string') return decodeString(text, span.start, span.end);
  return span.kind === 'object' || span.kind === 'array'
    ? compactJson(text, span)
    : text.slice(span.start, span.end);
}

/**
 * A value without the blanks between its tokens. Numbers keep their digits, names and their order stay, repeated
 * ones too; strings are escaped as the engine escapes them, so that both readers give one text for one value.
 */
export function compactJson(text: string, span: JsonSpan): string {
  const parts: string[] = [];
  let at = span.start;
  let copied = at;
  while (at < span.end) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = readString(text, at);
      if (text.slice(at, end).includes('\\')) {
        parts.push(text.slice(copied, at), encodeString(decodeString(text, at, end)));
        copied = end;
      }
      at = end;
    } else if (isBlank(code)) {
      parts.push(text.slice(copied, at));
      at = skipBlanks(text, at);
      copied = at;
    } else {
      at += 1;
    }
  }
  parts.push(text.slice(copied, span.end));
  return parts.join('');
}

// One object from its brace on; gives the place behind it. Each value is read over once, as a whole.
function gatherFields(
  text: string,
  start: number,
  nestingMax: number,
  fields: Map<string, JsonSpan>,
): number {
  if (nestingMax < 1) throw tooDeep(nestingMax, start);
  let at = skipBlanks(text, start + 1);
  if (text.charCodeAt(at) === CLOSE_OBJECT) return at + 1;
  for (;;) {
    const nameEnd = readName(text, at);
    const name = decodeString(text, at, nameEnd);
    if (fields.has(name))
      throw new JsonFault(
        'E_LINE_DUPLICATE_FIELD',
        `the field \`${name.slice(0, 64)}\` stands twice in one object`,
        at,
      );
    const value = readValue(text, readColon(text, nameEnd), nestingMax - 1);
    fields.set(name, value);
    at = skipBlanks(text, value.end);
    const code = text.charCodeAt(at);
    if (code === CLOSE_OBJECT) return at + 1;
    if (code !== COMMA) throw unexpected(text, at, 'a comma or }');
    at = skipBlanks(text, at + 1);
  }
}

// One value from its first letter on. The open objects and arrays are kept in a list of their closing letters.
function readValue(text: string, start: number, nestingMax: number): JsonSpan {
  const kind = kindAt(text, start);
  if (kind !== 'object' && kind !== 'array')
    return { kind, start, end: readScalar(text, start, kind) };
  const open: number[] = [];
  let at = start;
  for (;;) {
    at = readDown(text, at, open, nestingMax);
    at = readUp(text, at, open);
    if (open.length === 0) return { kind, start, end: at };
  }
}

// Reads opening letters, with a field's name after those of objects, down to and over the first scalar or empty value.
function readDown(text: string, start: number, open: number[], nestingMax: number): number {
  let at = start;
  for (;;) {
    const kind = kindAt(text, at);
    if (kind !== 'object' && kind !== 'array') return readScalar(text, at, kind);
    if (open.length >= nestingMax) throw tooDeep(nestingMax, at);
    open.push(kind === 'object' ? CLOSE_OBJECT : CLOSE_ARRAY);
    at = skipBlanks(text, at + 1);
    if (text.charCodeAt(at) === open.at(-1)) {
      open.pop();
      return at + 1;
    }
    if (kind === 'object') at = readColon(text, readName(text, at));
  }
}

// Reads closing letters, and the comma and name before the next value.
function readUp(text: string, start: number, open: number[]): number {
  let at = start;
  while (open.length > 0) {
    at = skipBlanks(text, at);
    const close = open.at(-1);
    const code = text.charCodeAt(at);
    if (code === COMMA) {
      at = skipBlanks(text, at + 1);
      return close === CLOSE_OBJECT ? readColon(text, readName(text, at)) : at;
    }
    if (code !== close)
      throw unexpected(text, at, close === CLOSE_OBJECT ? 'a comma or }' : 'a comma or ]');
    open.pop();
    at += 1;
  }
  return at;
}

function readName(text: string, start: number): number {
  if (text.charCodeAt(start) !== QUOTE) throw unexpected(text, start, 'a name in quotes');
  return readString(text, start);
}

// From behind a name, over the colon, to the value.
function readColon(text: string, start: number): number {
  const colon = skipBlanks(text, start);
  if (text.charCodeAt(colon) !== COLON) throw unexpected(text, colon, 'a colon');
  return skipBlanks(text, colon + 1);
}

function kindAt(text: string, at: number): JsonKind {
  const code = text.charCodeAt(at);
  if (code === OPEN_OBJECT) return 'object';
  if (code === OPEN_ARRAY) return 'array';
  if (code === QUOTE) return 'string';
  if (code === MINUS || isDigit(code)) return 'number';
  if (code === 0x74 || code === 0x66) return 'boolean';
  if (code === 0x6e) return 'null';
  throw unexpected(text, at, 'a value');
}

function readScalar(text: string, start: number, kind: JsonKind): number {
  if (kind === 'string') return readString(text, start);
  if (kind === 'number') return readNumber(text, start);
  const word = kind === 'null' ? 'null' : text.charCodeAt(start) === 0x74 ? 'true' : 'false';
  if (!text.startsWith(word, start)) throw unexpected(text, start, 'a value');
  return start + word.length;
}

function readNumber(text: string, start: number): number {
  let at = text.charCodeAt(start) === MINUS ? start + 1 : start;
  at = text.charCodeAt(at) === ZERO ? at + 1 : readDigits(text, at);
  if (text.charCodeAt(at) === POINT) at = readDigits(text, at + 1);
  const exponent = text.charCodeAt(at) | 0x20;
  if (exponent === 0x65) {
    const sign = text.charCodeAt(at + 1);
    at = readDigits(text, sign === 0x2b || sign === MINUS ? at + 2 : at + 1);
  }
  return at;
}

function readDigits(text: string, start: number): number {
  let at = start;
  while (isDigit(text.charCodeAt(at))) at += 1;
  if (at === start) throw unexpected(text, at, 'a digit');
  return at;
}

// What needs no look within a string. Faster than letter by letter, but for the short strings that most are.
// oxlint-disable-next-line no-control-regex -- control characters are what has to be found
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const SHORT = 32;

// From the opening quote to behind the closing one.
function readString(text: string, start: number): number {
  let at = start + 1;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code === BACKSLASH) at = readEscape(text, at);
    else if (code >= 0x20) at = at - start < SHORT ? at + 1 : skipPlain(text, at);
    else if (at >= text.length)
      throw new JsonFault('E_LINE_JSON', 'the text ends within a string', at);
    else throw new JsonFault('E_LINE_JSON', 'a control character stands in a string', at);
  }
}

function skipPlain(text: string, start: number): number {
  PLAIN.lastIndex = start;
  PLAIN.test(text);
  return PLAIN.lastIndex;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

function readEscape(text: string, at: number): number {
  const letter = text.charAt(at + 1);
  if (letter !== 'u') {
    if (ESCAPES[letter] === undefined) throw unexpected(text, at + 1, 'an escape that JSON knows');
    return at + 2;
  }
  const unit = hexUnit(text, at);
  if (unit < 0xd800 || unit > 0xdfff) return at + 6;
  const low = unit < 0xdc00 && text.startsWith('\\u', at + 6) ? hexUnit(text, at + 6) : 0;
  if (low < 0xdc00 || low > 0xdfff)
    throw new JsonFault('E_LINE_JSON', 'half of a surrogate pair stands alone', at);
  return at + 12;
}

function hexUnit(text: string, at: number): number {
  const hex = text.slice(at + 2, at + 6);
  if (!/^[0-9a-fA-F]{4}$/.test(hex)) throw unexpected(text, at + 2, 'four hex digits');
  return Number.parseInt(hex, 16);
}

function decodeString(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1);
  if (!inner.includes('\\')) return inner;
  return inner.replaceAll(
    /\\(?:u([0-9a-fA-F]{4})|(.))/g,
    (_, hex: string | undefined, letter: string | undefined) =>
      hex === undefined
        ? (ESCAPES[letter ?? ''] ?? '')
        : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

function encodeString(value: string): string {
  const escaped = value.replaceAll(
    // oxlint-disable-next-line no-control-regex -- control characters are what has to be escaped
    /["\\\u0000-\u001f]/g,
    (c) => SHORT_ESCAPES[c] ?? `\\u${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`,
  );
  return `"${escaped}"`;
}

function skipBlanks(text: string, start: number): number {
  let at = start;
  while (isBlank(text.charCodeAt(at))) at += 1;
  return at;
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function tooDeep(nestingMax: number, at: number): JsonFault {
  return new JsonFault(
    'E_LINE_NESTING',
    `objects and arrays stand more than ${nestingMax} deep in each other`,
    at,
  );
}

function unexpected(text: string, at: number, wanted: string): JsonFault {
  return new JsonFault(
    'E_LINE_JSON',
    at >= text.length
      ? `the text ends where ${wanted} should stand`
      : `${wanted} should stand here`,
    at,
  );
}
