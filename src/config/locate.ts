/**
 * Findings → problems with line, column and a few masked lines of the file. Loaded only when something is wrong.
 * Masked are: values of keys that look secret, of unknown keys and of free keys (`x-…`), the names of unknown keys
 * that are no names, credentials in URLs, defaults of references, and comments.
 */
import type { Frame, Problem } from './config-error.ts';
import { problemOf } from './config-error.ts';
import type { Finding, MapEntry, Node, Span } from './node-tree.ts';
import type { Schema } from './walk-schema.ts';
import { alternatives, childSchema, defOf, hintOf, looksSecret } from './walk-schema.ts';

const MASK = '•••';
const LINE_MAX = 100;

export interface FileSource {
  readonly file: string;
  readonly text: string;
  /** Null when the text could not be read as a tree. */
  readonly tree: Node | null;
  readonly schema: Schema;
}

/** In the order of the file. */
export function locate(findings: readonly Finding[], source: FileSource): Problem[] {
  const starts = lineStarts(source.text);
  const masks = source.tree === null ? null : masksOf(source.tree, source.schema, source.text);
  return [...findings]
    .sort((left, right) => (left.span?.start ?? 0) - (right.span?.start ?? 0))
    .map((finding) => {
      const span = finding.span ?? { start: 0, end: 1 };
      const line = lineOf(starts, span.start);
      const column = span.start - (starts[line] ?? 0) + 1;
      const frame =
        masks === null
          ? unreadFrame(source.text, starts, line, column)
          : frameOf(source.text, starts, line, span, masks);
      return { ...problemOf(finding), file: source.file, line: line + 1, column, frame };
    });
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function lineOf(starts: readonly number[], offset: number): number {
  const after = starts.findIndex((start) => start > offset);
  return after === -1 ? starts.length - 1 : after - 1;
}

function lineText(
  text: string,
  starts: readonly number[],
  line: number,
): { start: number; end: number } {
  const start = starts[line] ?? 0;
  const end = (starts[line + 1] ?? text.length + 1) - 1;
  return { start, end: text[end - 1] === '\r' ? end - 1 : end };
}

/** The line before, when it says something, and the line itself. */
function linesShown(text: string, starts: readonly number[], line: number): readonly number[] {
  const before = line - 1;
  const { start, end } = lineText(text, starts, before);
  const isWorthIt =
    before >= 0 &&
    text
      .slice(start, end)
      .replace(/^\s*#.*$/u, '')
      .trim() !== '';
  return isWorthIt ? [before, line] : [line];
}

function frameOf(
  text: string,
  starts: readonly number[],
  line: number,
  span: Span,
  masks: readonly Span[],
): Frame {
  const shown = linesShown(text, starts, line).map((number) => {
    const { start, end } = lineText(text, starts, number);
    return { number, drawn: draw(text, start, end, masks, span) };
  });
  const own = shown.at(-1)?.drawn;
  return cut({
    lines: shown.map(({ number, drawn }) => ({ number: number + 1, text: drawn.text })),
    caret: {
      column: own?.caretStart ?? 0,
      width: Math.max(1, (own?.caretEnd ?? 1) - (own?.caretStart ?? 0)),
    },
  });
}

/** A surrogate pair is one letter. */
const lettersOf = (text: string): readonly string[] => Array.from(text);

/** One line with masks in place of what they cover; carets counted in characters of the result. */
function draw(
  text: string,
  start: number,
  end: number,
  masks: readonly Span[],
  caret: Span,
): { readonly text: string; readonly caretStart: number; readonly caretEnd: number } {
  let drawn = '';
  let caretStart = 0;
  let caretEnd = 0;
  let at = start;
  while (at <= end) {
    if (at <= caret.start) caretStart = lettersOf(drawn).length;
    const mask = masks.find((candidate) => candidate.start <= at && at < candidate.end);
    const next = mask === undefined ? at + 1 : Math.min(mask.end, end + 1);
    if (at < end) drawn += mask === undefined ? (text[at] ?? '').replace(/\s|\p{Cc}/u, ' ') : MASK;
    if (at < caret.end) caretEnd = lettersOf(drawn).length;
    at = next;
  }
  return { text: drawn, caretStart, caretEnd };
}

/** A long line is cut around the caret. */
function cut({ lines, caret }: Frame): Frame {
  const from = caret.column + 10 > LINE_MAX ? Math.max(0, caret.column - 20) : 0;
  const width = Math.min(caret.width, LINE_MAX - (caret.column - from));
  const shorten = (text: string): string => {
    const letters = lettersOf(text);
    const part = letters.slice(from, from + LINE_MAX).join('');
    return `${from > 0 ? '…' : ''}${part}${letters.length > from + LINE_MAX ? '…' : ''}`;
  };
  // The line before would show another part.
  const kept = from > 0 ? lines.slice(-1) : lines;
  return {
    lines: kept.map(({ number, text }) => ({ number, text: shorten(text) })),
    caret: { column: caret.column - from + (from > 0 ? 1 : 0), width },
  };
}

function masksOf(tree: Node, schema: Schema, text: string): readonly Span[] {
  const masks: Span[] = [];
  const visible: Span[] = [];
  const hide = (span: Span | undefined): void => {
    if (span !== undefined) masks.push(span);
  };
  const visit = (node: Node, at: Schema | undefined): void => {
    if (node.kind === 'scalar' && node.span !== undefined) {
      visible.push(contentOf(node.span, text));
      masks.push(...partsToHide(text, node.span));
    }
    if (node.kind === 'list')
      for (const [index, item] of node.items.entries())
        visit(item, at === undefined ? undefined : childSchema(at, node, index));
    if (node.kind === 'map') for (const entry of node.entries) visitEntry(entry, node, at);
  };
  const visitEntry = (
    { key, keySpan, node }: MapEntry,
    parent: Node,
    at: Schema | undefined,
  ): void => {
    const child = at === undefined ? undefined : childSchema(at, parent, key);
    if (keySpan !== undefined) visible.push(keySpan);
    if (child === undefined && !/^[A-Za-z_][\w-]{0,63}$/u.test(key)) hide(keySpan);
    const isOpen =
      child !== undefined && defOf(alternatives(child, node.kind)[0] ?? child).type === 'unknown';
    const isNamed = at !== undefined && defOf(alternatives(at, 'map')[0] ?? at).type === 'object';
    const isSecret =
      child === undefined ||
      isOpen ||
      hintOf(child).secret === true ||
      (!isNamed && node.kind === 'scalar' && looksSecret(key));
    if (isSecret) hide(node.span);
    if (isSecret && node.span !== undefined) visible.push(node.span);
    else visit(node, child);
  };
  visit(tree, schema);
  return [...masks, ...commentsOf(text, visible)];
}

/** Without the first line of a block scalar (`| # note`), which may end in a comment. */
function contentOf(span: Span, text: string): Span {
  if (!/[|>]/u.test(text[span.start] ?? '')) return span;
  const end = text.indexOf('\n', span.start);
  return { start: end === -1 ? span.end : end, end: span.end };
}

/** Inside a value that may be shown: the user and password of a URL, and the default of a reference. */
function partsToHide(text: string, span: Span): readonly Span[] {
  const value = text.slice(span.start, span.end);
  return [...value.matchAll(/(?<=:\/\/)[^/\s@]+(?=@)|(?<=\$\{env:\w+:-)[^}]+/gu)].map((match) => ({
    start: span.start + match.index,
    end: span.start + match.index + match[0].length,
  }));
}

/** From `#` to the end of the line, outside of keys and values. */
function commentsOf(text: string, values: readonly Span[]): readonly Span[] {
  return [...text.matchAll(/(?<=^|[\s,[\]{}])#[^\n]*/gmu)]
    .map((match) => ({ start: match.index + 1, end: match.index + match[0].length }))
    .filter(
      ({ start, end }) =>
        start < end && !values.some((span) => span.start <= start && start < span.end),
    );
}

/**
 * The text could not be read, so what is a secret in it is unknown: indentation, dashes and the key are shown, when
 * the key is one the reader could have meant, and nothing else.
 */
function unreadFrame(text: string, starts: readonly number[], line: number, column: number): Frame {
  const { start, end } = lineText(text, starts, line);
  const [head = ''] =
    /^[\s-]*(?:[A-Za-z_][\w-]{0,63}(?=\s*:(?:\s|$))\s*:\s?)?/u.exec(text.slice(start, end)) ?? [];
  const hasMore = head.length < end - start;
  const shown = `${head.replaceAll('\t', '→')}${hasMore ? MASK : ''}`;
  return cut({
    lines: [{ number: line + 1, text: shown }],
    caret: { column: Math.min(column - 1, head.length), width: 1 },
  });
}
