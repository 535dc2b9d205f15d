/**
 * One line of a Debezium JSON feed, read exactly: for lines that the engine refuses or may have rounded, and for
 * replays. What it gives for a value is the text that `sql/casts.ts` takes, so that both paths share the casts.
 */
import { isUtf8 } from 'node:buffer';
import type { ErrorCode } from '../model/errors.ts';
import {
  JsonFault,
  compactJson,
  readFields,
  readJson,
  textOf,
  type JsonFields,
  type JsonSpan,
} from './json-text.ts';

export interface LineLimits {
  readonly maxLineBytes: number;
  /** Objects and arrays within each other; the line's own object is the first. */
  readonly maxNesting: number;
  /** A byte order mark may stand before the first line of a file, and nowhere else. */
  readonly isFileStart: boolean;
}

export type Operation = 'c' | 'r' | 'u' | 'd' | 't' | 'm';

/**
 * A row of the source: column name → text, in the order of the line. A string decoded, a number's very digits, `true`
 * or `false`, compact JSON for nested values; null for a JSON null. An absent column has no entry.
 */
export type Image = ReadonlyMap<string, string | null>;

export interface Envelope {
  readonly op: Operation;
  /** From the `source` block, as far as it names them; a MongoDB collection counts as table. */
  readonly table: { readonly db?: string; readonly schema?: string; readonly table?: string };
  /** Milliseconds since 1970: when the source committed, else when the connector saw the change; digits. */
  readonly tsMs: string | null;
  /** Null: absent, or a JSON null. */
  readonly before: Image | null;
  readonly after: Image | null;
  readonly isBeforeMissing: boolean;
  readonly isAfterMissing: boolean;
  /** The strings, numbers, booleans and nulls of the `source` block. */
  readonly source: Image;
  /** JSON text of the schema part, for {@link readEnvelopeSchema}; null for a bare envelope. */
  readonly schema: string | null;
}

export type LineResult =
  | { readonly kind: 'tombstone' }
  /** Something that connectors write beside changes: counted and skipped. */
  | { readonly kind: 'other'; readonly what: 'heartbeat' | 'schema-change' | 'transaction' }
  | { readonly kind: 'envelope'; readonly envelope: Envelope }
  /** `byte`: offset of the fault in the line, where it has one. */
  | {
      readonly kind: 'error';
      readonly code: ErrorCode;
      readonly message: string;
      readonly byte?: number;
    };

const DEFAULTS: LineLimits = {
  maxLineBytes: 64 * 1024 * 1024,
  maxNesting: 512,
  isFileStart: false,
};

/** The longest text that the JavaScript engine can hold (2^29 - 24 letters). */
const TEXT_BYTES_MAX = 2 ** 29 - 24;

/** Reads one line, with or without its line end. Never throws: whatever the bytes, they give a result. */
export function readLine(bytes: Uint8Array, limits: Partial<LineLimits> = {}): LineResult {
  const { maxLineBytes, maxNesting, isFileStart } = { ...DEFAULTS, ...limits };
  const lineMax = Math.min(maxLineBytes, TEXT_BYTES_MAX);
  if (bytes.length > lineMax)
    return error('E_LINE_TOO_LONG', `The line has ${bytes.length} bytes; the limit is ${lineMax}.`);
  const markBytes = isFileStart && hasByteOrderMark(bytes) ? 3 : 0;
  const line = Buffer.from(bytes.buffer, bytes.byteOffset + markBytes, bytes.length - markBytes);
  const text = line.toString('utf8');
  if (!isUtf8(line)) {
    const byte = markBytes + invalidByte(line, text);
    return error('E_LINE_UTF8', `The line is not valid UTF-8 at byte ${byte + 1}.`, byte);
  }
  try {
    return readText(text, maxNesting);
  } catch (fault) {
    if (!(fault instanceof JsonFault)) throw fault;
    const byte = markBytes + Buffer.byteLength(text.slice(0, fault.offset));
    return error(
      fault.code,
      `The line cannot be read at byte ${byte + 1}: ${fault.message}.`,
      byte,
    );
  }
}

function readText(text: string, maxNesting: number): LineResult {
  const line = readJson(text, maxNesting);
  if (line === null || line.kind === 'null') return { kind: 'tombstone' };
  if (line.kind !== 'object') return error('E_LINE_JSON', 'The line is not a JSON object.', 0);
  const { fields } = line;
  const payload = fields.get('payload');
  if (payload === undefined || fields.has('op')) return readEnvelope(text, fields, null);
  if (payload.kind === 'null') return { kind: 'tombstone' };
  if (payload.kind !== 'object')
    return error('E_ENVELOPE_OP', 'The `payload` is not an object, so it has no `op`.');
  const schema = fields.get('schema');
  return readEnvelope(
    text,
    readFields(text, payload),
    schema?.kind === 'object' ? compactJson(text, schema) : null,
  );
}

function readEnvelope(text: string, fields: JsonFields, schema: string | null): LineResult {
  const op = fields.get('op');
  if (op === undefined) return withoutOp(fields);
  const operation = textOf(text, op);
  if (!isOperation(operation))
    return error('E_ENVELOPE_OP', 'The `op` is none of c, r, u, d, t and m.');
  const before = fields.get('before');
  const after = fields.get('after');
  const fault = imageFault(operation, before, after);
  if (fault !== null) return fault;
  const source = readScalars(text, fields.get('source'));
  const envelope: Envelope = {
    op: operation,
    table: tableOf(source),
    tsMs: wholeNumber(source.get('ts_ms')) ?? wholeNumber(scalarText(text, fields.get('ts_ms'))),
    before: readImage(text, before),
    after: readImage(text, after),
    isBeforeMissing: before === undefined,
    isAfterMissing: after === undefined,
    source,
    schema,
  };
  return { kind: 'envelope', envelope };
}

// What connectors write beside changes has no `op`, and neither has a record that was flattened on its way.
function withoutOp(fields: JsonFields): LineResult {
  const names = [...fields.keys()];
  if (fields.has('ts_ms') && names.every((name) => name.startsWith('ts_')))
    return { kind: 'other', what: 'heartbeat' };
  if (fields.has('ddl') || fields.has('tableChanges'))
    return { kind: 'other', what: 'schema-change' };
  if (fields.has('status') && fields.has('event_count') && fields.has('id'))
    return { kind: 'other', what: 'transaction' };
  if (names.some((name) => name === '__op' || name === '__deleted')) {
    return error(
      'E_ENVELOPE_OP',
      'The record was flattened (`__op`): take the unwrapping transform off the connector.',
    );
  }
  return error('E_ENVELOPE_OP', 'The envelope has no `op`.');
}

function imageFault(
  op: Operation,
  before: JsonSpan | undefined,
  after: JsonSpan | undefined,
): LineResult | null {
  if (op === 't' || op === 'm') return null;
  if (!isImageOrNull(after))
    return error('E_ENVELOPE_AFTER', 'The `after` is neither an object nor null.');
  if (!isImageOrNull(before))
    return error('E_ENVELOPE_BEFORE', 'The `before` is neither an object nor null.');
  if (op === 'd')
    return before?.kind === 'object'
      ? null
      : error('E_ENVELOPE_BEFORE', 'A delete has no `before` object, so its key is unknown.');
  return after?.kind === 'object'
    ? null
    : error('E_ENVELOPE_AFTER', `A record with \`op\` ${op} has no \`after\` object.`);
}

function isImageOrNull(span: JsonSpan | undefined): boolean {
  return span === undefined || span.kind === 'object' || span.kind === 'null';
}

function readImage(text: string, span: JsonSpan | undefined): Image | null {
  if (span?.kind !== 'object') return null;
  const image = new Map<string, string | null>();
  for (const [name, value] of readFields(text, span)) image.set(name, textOf(text, value));
  return image;
}

function readScalars(text: string, span: JsonSpan | undefined): Image {
  const scalars = new Map<string, string | null>();
  if (span?.kind !== 'object') return scalars;
  for (const [name, value] of readFields(text, span)) {
    if (value.kind !== 'object' && value.kind !== 'array') scalars.set(name, textOf(text, value));
  }
  return scalars;
}

function tableOf(source: Image): Envelope['table'] {
  const db = source.get('db');
  const schema = source.get('schema');
  const table = source.get('table') ?? source.get('collection');
  return {
    ...(typeof db === 'string' && { db }),
    ...(typeof schema === 'string' && { schema }),
    ...(typeof table === 'string' && { table }),
  };
}

function scalarText(text: string, span: JsonSpan | undefined): string | null {
  return span === undefined ? null : textOf(text, span);
}

function wholeNumber(text: string | null | undefined): string | null {
  return typeof text === 'string' && /^-?\d+$/.test(text) ? text : null;
}

function isOperation(op: string | null): op is Operation {
  return op !== null && op.length === 1 && 'crudtm'.includes(op);
}

function hasByteOrderMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

// The decoder puts U+FFFD for what it cannot read; where the bytes do not spell that letter, they are the fault.
function invalidByte(line: Buffer, text: string): number {
  for (let at = text.indexOf('\uFFFD'); at >= 0; at = text.indexOf('\uFFFD', at + 1)) {
    const byte = Buffer.byteLength(text.slice(0, at));
    if (line[byte] !== 0xef || line[byte + 1] !== 0xbf || line[byte + 2] !== 0xbd) return byte;
  }
  return 0;
}

function error(code: ErrorCode, message: string, byte?: number): LineResult {
  return { kind: 'error', code, message, ...(byte !== undefined && { byte }) };
}
