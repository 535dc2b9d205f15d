/** What the zod schema finds, in the words and with the positions of the file. */
import type { z } from 'zod';
import { nearest } from './did-you-mean.ts';
import { nearestType, TYPE_WORDS } from './column-type.ts';
import type { Finding, Node, Path } from './node-tree.ts';
import { entryOf, nodeAt, shown, spanOfKey } from './node-tree.ts';
import type { Schema } from './walk-schema.ts';
import {
  alternatives,
  bare,
  defOf,
  expects,
  hintOf,
  keysOf,
  looksSecret,
  schemaAt,
  wordsOf,
} from './walk-schema.ts';

type Issue = z.core.$ZodIssue;

export function shapeFindings(
  issues: readonly Issue[],
  tree: Node,
  schema: Schema,
): readonly Finding[] {
  return issues.flatMap((issue) => findingsOf(issue, [], tree, schema));
}

function findingsOf(issue: Issue, base: Path, tree: Node, schema: Schema): readonly Finding[] {
  const path = [...base, ...(issue.path as (string | number)[])];
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => unknownKey(key, path, tree, schema));
  if (issue.code === 'invalid_union') {
    // The branch that the value was meant for fails further inside than at the value itself.
    const inner = issue.errors.find((branch) => !branch.some((fault) => isTypeFault(fault)));
    if (inner !== undefined) return inner.flatMap((fault) => findingsOf(fault, path, tree, schema));
  }
  return wrongValue(path, tree, schema);
}

const isTypeFault = (issue: Issue): boolean =>
  issue.code === 'invalid_type' && issue.path.length === 0;

function unknownKey(key: string, path: Path, tree: Node, schema: Schema): Finding {
  const siblings = keysOf(schemaAt(schema, tree, path)).map(([known]) => known);
  const suggestion = nearest(key, siblings);
  const elsewhere = suggestion === undefined ? homeOf(key, schema) : undefined;
  // A key that is no name may well be a value that lost its key or its quotes.
  const named = /^[A-Za-z_][\w-]{0,63}$/u.test(key) ? `unknown key "${key}"` : 'unknown key';
  return {
    code: 'E_CONFIG_UNKNOWN_KEY',
    path,
    span: entryOf(nodeAt(tree, path), key)?.keySpan,
    message: elsewhere === undefined ? named : `${named}; it belongs under ${elsewhere}`,
    suggestion,
    allowed: siblings.length <= 8 ? siblings : undefined,
  };
}

/** The block that has this key, when exactly one has: `interval_ms` → `checkpoint`. */
function homeOf(key: string, root: Schema): string | undefined {
  const homes: string[] = [];
  const visit = (schema: Schema, path: string): void => {
    for (const [known, child] of keysOf(schema)) {
      if (known === key && hintOf(child).hidden !== true) homes.push(path);
      visit(child, path === '' ? known : `${path}.${known}`);
    }
  };
  visit(root, '');
  return homes.length === 1 && homes[0] !== '' ? homes[0] : undefined;
}

function wrongValue(path: Path, tree: Node, schema: Schema): readonly Finding[] {
  const at = schemaAt(schema, tree, path);
  const node = nodeAt(tree, path);
  if (at === undefined) return [];
  if (node === undefined) {
    const message = `${String(path.at(-1))} is missing: expected ${expects(at)}`;
    return [{ code: 'E_CONFIG_VALUE', path, span: spanOfKey(tree, path.slice(0, -1)), message }];
  }
  if (node.kind === 'scalar' && node.unresolved === true) return [];
  const choices = alternatives(at, node.kind);
  const wanted = choices.length === 1 ? (choices[0] as Schema) : at;
  const base = { code: 'E_CONFIG_VALUE', path, span: node.span } as const;
  const words = wordsOf(wanted);
  if (typeof valueOf(node) === 'string' && words.length > 0) {
    const suggestion = nearest(String(valueOf(node)), words);
    return [{ ...base, message: `${shown(node)} is not known`, suggestion, allowed: words }];
  }
  if (typeof valueOf(node) === 'string' && hintOf(wanted).typeWord === true) {
    const suggestion = nearestType(String(valueOf(node)));
    return [
      {
        ...base,
        message: `${isNamedSecret(path) ? 'the value' : shown(node)} is not a type word`,
        suggestion,
        allowed: TYPE_WORDS,
      },
    ];
  }
  const secret = hintOf(at).secret === true;
  return [
    { ...base, message: `expected ${expects(wanted)}, found ${found(node, wanted, secret)}` },
  ];
}

/** A column that is called like a secret may hold one by mistake. */
const isNamedSecret = (path: Path): boolean => looksSecret(String(path.at(-1)));

const valueOf = (node: Node): unknown => (node.kind === 'scalar' ? node.value : undefined);

/** The kind of a value, never the value of a text; numbers out of range are told, unless they came by reference. */
function found(node: Node, wanted: Schema, secret: boolean): string {
  if (node.kind === 'map') return 'a map';
  if (node.kind === 'list') return node.items.length === 0 ? 'an empty list' : 'a list';
  if (node.reference !== undefined)
    return `another value in ${shown(node).replace('the value of ', '')}`;
  if (node.value === null)
    return defOf(bare(wanted)).type === 'string' ? 'null; quote it if it is a text' : 'null';
  if (typeof node.value === 'string') return node.value === '' ? 'an empty text' : 'text';
  return secret ? 'another value' : node.literal;
}
