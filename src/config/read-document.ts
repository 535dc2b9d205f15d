/** YAML (and so JSON) text → tree with positions. Whatever is wrong with the text itself is found here. */
import type { Alias, ErrorCode as YamlErrorCode, Node as YamlNode, Pair, Scalar } from 'yaml';
import { isAlias, isMap, isScalar, isSeq, parseDocument } from 'yaml';
import type { Finding, MapEntry, Node, Path, ScalarNode, Span } from './node-tree.ts';

/** Values a file may hold once its aliases are followed: a bound for files that grow by aliases of aliases. */
const VALUES_MAX = 100_000;
const NESTING_MAX = 64;
const FAULTS_MAX = 5;

interface Fault {
  readonly code: YamlErrorCode;
  readonly pos: readonly [number, number];
}

/** Our own words: the parser's messages may repeat text of the file, and that may be a secret. */
const SYNTAX: Readonly<Partial<Record<YamlErrorCode, string>>> = {
  BAD_ALIAS: 'an alias (*name) has no anchor (&name) before it',
  BAD_DQ_ESCAPE:
    'a backslash in double quotes does not begin a known escape; use single quotes, or write "\\\\"',
  BAD_INDENT: 'the indentation does not fit the lines above',
  BAD_SCALAR_START: 'a text cannot begin with this character without quotes',
  BLOCK_AS_IMPLICIT_KEY:
    'a "key: value" stands inside another value; check the indentation, or quote the text',
  BLOCK_IN_FLOW: 'an indented block stands inside braces or brackets',
  KEY_OVER_1024_CHARS: 'a key is longer than 1024 characters',
  MISSING_CHAR:
    'a character is missing here, such as a closing quote, brace or bracket, or the colon after a key',
  MULTILINE_IMPLICIT_KEY: 'a key must stand on one line; check the indentation and the colon',
  MULTIPLE_DOCS: 'a pipeline file holds one document; remove what follows "---"',
  NON_STRING_KEY: 'a key must be a text',
  RESOURCE_EXHAUSTION: 'the file is nested too deep to be a pipeline',
  TAB_AS_INDENT: 'a tab cannot indent; use spaces',
  TAG_RESOLVE_FAILED: 'tags (!name) are not supported',
  UNEXPECTED_TOKEN: 'this character has no meaning here',
};

export interface Document {
  /** Null when the text is not one readable map. */
  readonly tree: Node | null;
  readonly findings: readonly Finding[];
}

export function readDocument(text: string): Document {
  const parsed = parse(text);
  if (parsed === null) return failed('the file is nested too deep to be a pipeline');
  const faults = [...parsed.errors, ...parsed.warnings];
  if (faults.length > 0) {
    const findings = firstOfLines(text, faults).map(({ code, pos }) => {
      const message = SYNTAX[code] ?? 'the text is not valid YAML here';
      return syntax(message + quotesHint(text, pos[0]), {
        start: pos[0],
        end: Math.max(pos[0] + 1, pos[1]),
      });
    });
    return { tree: null, findings };
  }
  const root = parsed.contents;
  if (root === null || (isScalar(root) && root.value === null))
    return failed('the file is empty; a pipeline needs at least pipeline_id and source');
  if (!isMap(root) && !isAlias(root))
    return failed(
      `the file must hold keys with values, found ${isSeq(root) ? 'a list' : 'one text'}`,
    );
  return build(root, parsed);
}

/** What follows a fault on its line, and most of what follows it at all, comes of it. */
function firstOfLines(text: string, faults: readonly Fault[]): readonly Fault[] {
  const lines = new Map<number, Fault>();
  for (const fault of [...faults].sort((left, right) => left.pos[0] - right.pos[0])) {
    const line = text.slice(0, fault.pos[0]).split('\n').length;
    if (!lines.has(line)) lines.set(line, fault);
  }
  return [...lines.values()].slice(0, FAULTS_MAX);
}

/** `{ port: ${env:PORT} }` is the likeliest reason for a stray brace. */
function quotesHint(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const isNear = /[{[,].*\$\{/u.test(text.slice(start, offset + 2));
  return isNear ? '; inside braces or brackets, a ${…} needs quotes' : '';
}

const syntax = (message: string, span?: Span, path: Path = []): Finding => ({
  code: 'E_CONFIG_SYNTAX',
  path,
  span,
  message,
});

const failed = (message: string): Document => ({
  tree: null,
  findings: [syntax(message, { start: 0, end: 1 })],
});

type Parsed = ReturnType<typeof parseDocument>;

/** Null when the parser ran out of stack. */
function parse(text: string): Parsed | null {
  try {
    // Own check for repeated keys: theirs compares typed values, ours the names.
    return parseDocument(text, { schema: 'core', prettyErrors: false, uniqueKeys: false });
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

class TooMuch extends Error {}

function build(root: YamlNode, parsed: Parsed): Document {
  const findings: Finding[] = [];
  let values = 0;
  const targets = new Map<Alias, YamlNode | undefined>();
  // The parser searches the whole file for each: once is enough.
  const targetOf = (alias: Alias): YamlNode | undefined => {
    if (!targets.has(alias)) targets.set(alias, alias.resolve(parsed));
    return targets.get(alias);
  };
  const visit = (node: YamlNode | null, path: Path): Node => {
    values += 1;
    if (values > VALUES_MAX || path.length > NESTING_MAX) throw new TooMuch();
    if (node === null) return scalar(null, 'null', undefined);
    if (isAlias(node)) {
      const target = targetOf(node);
      if (target === undefined) findings.push(syntax(SYNTAX.BAD_ALIAS ?? '', spanOf(node), path));
      // The place of use is what a message should point at.
      return { ...visit(target ?? null, path), span: spanOf(node) };
    }
    if (isMap(node)) {
      const entries = entriesOfMap(
        node.items as Pair<YamlNode, YamlNode | null>[],
        path,
        findings,
        visit,
      );
      return { kind: 'map', span: spanOf(node), entries };
    }
    if (isSeq(node)) {
      const items = node.items.map((item, index) =>
        visit(item as YamlNode | null, [...path, index]),
      );
      return { kind: 'list', span: spanOf(node), items };
    }
    return scalarOf(node);
  };
  try {
    return { tree: visit(root, []), findings };
  } catch (error) {
    if (!(error instanceof TooMuch)) throw error;
    return failed(
      `the file is nested deeper than ${NESTING_MAX} levels, or its aliases stand for more than ${VALUES_MAX} values`,
    );
  }
}

function entriesOfMap(
  pairs: readonly Pair<YamlNode, YamlNode | null>[],
  path: Path,
  findings: Finding[],
  visit: (node: YamlNode | null, path: Path) => Node,
): MapEntry[] {
  const seen = new Set<string>();
  const entries: MapEntry[] = [];
  for (const { key: keyNode, value } of pairs) {
    const keySpan = spanOf(keyNode);
    const key = keyOf(keyNode);
    const fault = key === null ? 'a key must be a text' : keyFault(key, seen);
    if (key === null || fault !== null) {
      findings.push(syntax(fault ?? '', keySpan, path));
      continue;
    }
    seen.add(key);
    entries.push({ key, keySpan, node: visit(value, [...path, key]) });
  }
  return entries;
}

/** Keys that look like numbers or booleans are names all the same, and keep their digits. */
function keyOf(node: YamlNode): string | null {
  if (!isScalar(node)) return null;
  if (typeof node.value === 'string') return node.value;
  return node.source ?? String(node.value);
}

function keyFault(key: string, seen: ReadonlySet<string>): string | null {
  if (key === '') return 'a key is empty';
  if (key === '<<')
    return 'merge keys (<<) are not supported; repeat the keys, or use an alias for the value';
  if (key === '__proto__') return 'the name __proto__ is not supported';
  return seen.has(key) ? 'this key stands there twice' : null;
}

const spanOf = (node: YamlNode): Span | undefined =>
  node.range ? { start: node.range[0], end: node.range[1] } : undefined;

function scalarOf(node: Scalar): ScalarNode {
  const { value, source } = node;
  const span = spanOf(node);
  if (typeof value === 'string' || typeof value === 'boolean' || value === null)
    return scalar(value, typeof value === 'string' ? value : String(value), span);
  const number = Number(value);
  // Hexadecimal and octal forms have no digits of their own to keep.
  const literal =
    source !== undefined && /^[+-]?[\d.]/u.test(source) && !/^0[xo]/u.test(source)
      ? source
      : String(number);
  return scalar(number, literal, span);
}

const scalar = (
  value: ScalarNode['value'],
  literal: string,
  span: Span | undefined,
): ScalarNode => ({
  kind: 'scalar',
  value,
  literal,
  span,
});
