/**
 * One walk over the tree, along the schema: fills in `${…}` references, gives their texts the type that the schema
 * asks for, and drops known keys without a value (`checkpoint:` with nothing below), which mean "not given".
 */
import type { Finding, ListNode, MapNode, Node, Path, ScalarNode } from './node-tree.ts';
import type { Reference } from './interpolate.ts';
import { interpolate } from './interpolate.ts';
import type { Schema } from './walk-schema.ts';
import { alternatives, childSchema, defOf, isOptional } from './walk-schema.ts';

export type Lookup = (reference: Reference) => string | null;

/** @param lookup the value of a reference; null when there is none */
export function prepare(
  tree: Node,
  schema: Schema,
  lookup: Lookup,
): { readonly tree: Node; readonly findings: readonly Finding[] } {
  const findings: Finding[] = [];
  const visit = (node: Node, at: Schema | undefined, path: Path): Node => {
    if (at === undefined) return node;
    if (node.kind === 'scalar') return visitScalar(node, at, path);
    if (node.kind === 'list') return visitList(node, at, path);
    return visitMap(node, at, path);
  };
  const visitList = (node: ListNode, at: Schema, path: Path): Node => ({
    ...node,
    items: node.items.map((item, index) =>
      visit(item, childSchema(at, node, index), [...path, index]),
    ),
  });
  const visitMap = (node: MapNode, at: Schema, path: Path): Node => ({
    ...node,
    entries: node.entries
      .filter((entry) => !isBlank(entry.node, at, childSchema(at, node, entry.key)))
      .map((entry) => ({
        ...entry,
        node: visit(entry.node, childSchema(at, node, entry.key), [...path, entry.key]),
      })),
  });
  const visitScalar = (node: ScalarNode, at: Schema, path: Path): Node => {
    if (typeof node.value !== 'string') return node;
    const filled = interpolate(node.value, lookup);
    if (filled === null) return node;
    const reference = node.value;
    if ('problem' in filled) {
      findings.push({ code: filled.code, path, span: node.span, message: filled.problem });
      return { ...node, reference, unresolved: true };
    }
    if (!filled.hasReference) return { ...node, value: filled.text, literal: filled.text };
    return { ...node, value: typed(filled.text, at), literal: filled.text, reference };
  };
  return { tree: visit(tree, schema, []), findings };
}

/** Only where the schema knows the key; in a map from names to values a null is a value, and a wrong one. */
function isBlank(node: Node, parent: Schema, at: Schema | undefined): boolean {
  if (at === undefined || node.kind !== 'scalar' || node.value !== null) return false;
  const [inner] = alternatives(parent, 'map');
  return inner !== undefined && defOf(inner).type === 'object' && isOptional(at);
}

const NUMBER = /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/u;

/** A reference yields text; where only a number or only true or false may stand, it is read as that. */
function typed(text: string, schema: Schema): string | number | boolean {
  const types = alternatives(schema, 'scalar').map((option) => defOf(option));
  if (types.some((def) => def.type === 'string' || def.type === 'enum')) return text;
  const isNumber = types.some(
    (def) =>
      def.type === 'number' ||
      (def.type === 'literal' && def.values.some((value) => typeof value === 'number')),
  );
  if (isNumber && NUMBER.test(text)) return Number(text);
  if (types.some((def) => def.type === 'boolean') && (text === 'true' || text === 'false'))
    return text === 'true';
  return text;
}
