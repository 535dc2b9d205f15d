/** What a pipeline file says that has no effect, each named once. */
import type { Node } from './node-tree.ts';
import { childOf, nodeAt, pathText } from './node-tree.ts';
import type { Schema } from './walk-schema.ts';
import { hintOf, keysOf } from './walk-schema.ts';
import { listedTables, mappingsOf, onlyTable, spelledNames } from './table-columns.ts';
import { matchesPattern } from '../model/pattern.ts';
import { isDotted, isPattern } from './table-pattern.ts';

export interface Notice {
  readonly message: string;
  /** Dotted paths of the keys it is about. */
  readonly paths: readonly string[];
}

export function noticesOf(tree: Node, schema: Schema, sourceType: string): readonly Notice[] {
  return [
    ...unusedKeys(tree, schema, sourceType),
    ...unmappedTables(tree),
    ...undottedTable(tree),
    ...reorderedColumns(tree),
  ];
}

function undottedTable(tree: Node): readonly Notice[] {
  const name = onlyTable(tree);
  if (name === null || isPattern(name) || isDotted(name)) return [];
  // A name that came by reference is not printed, and so not worth a notice.
  const spelled = spelledNames(listedTables(tree));
  if (!spelled.includes(name)) return [];
  const message = `"${name}" has no dot, so it stands for rows whose source block names no database or schema; others are called db.table`;
  return [{ message, paths: ['source.tables'] }];
}

/** JavaScript objects hold names that are whole numbers first, whatever the file says. */
function reorderedColumns(tree: Node): readonly Notice[] {
  return listedTables(tree).flatMap(({ columns, path }) => {
    const names = (columns ?? []).map((column) => column.key);
    const order = Object.keys(Object.fromEntries(names.map((name) => [name, null])));
    if (order.every((name, index) => name === names[index])) return [];
    const message = 'columns whose names are whole numbers come first in their table';
    return [{ message, paths: [`${pathText(path)}.columns`] }];
  });
}

function unusedKeys(tree: Node, schema: Schema, sourceType: string): readonly Notice[] {
  const paths: string[][] = [];
  const visit = (node: Node | undefined, at: Schema, path: string[]): void => {
    for (const [key, child] of keysOf(at)) {
      const value = childOf(node, key);
      if (value === undefined) continue;
      if (hintOf(child).unused === true) paths.push([...path, key]);
      else visit(value, child, [...path, key]);
    }
  };
  visit(tree, schema, []);
  const endpoints = ['sink', 'doris_fe_endpoints'];
  if (nodeAt(tree, endpoints) !== undefined) paths.push(endpoints);
  if (paths.length === 0) return [];
  const names = paths.map((path) => path.at(-1)).join(', ');
  return [
    {
      message: `accepted, not used by ${sourceType}: ${names}`,
      paths: paths.map((path) => path.join('.')),
    },
  ];
}

function unmappedTables(tree: Node): readonly Notice[] {
  const mappings = mappingsOf(tree);
  if (mappings.length === 0) return [];
  const skipped = listedTables(tree).filter(({ name }) => {
    if (name === null || isPattern(name)) return false;
    return !mappings.some(({ table }) => table !== null && matchesPattern(table, name));
  });
  if (skipped.length === 0) return [];
  const names = skipped.map(({ name, nameNode }) => referenceOf(nameNode) ?? name).join(', ');
  return [
    { message: `skipped, because no mapping covers them: ${names}`, paths: ['source.tables'] },
  ];
}

const referenceOf = (node: Node | undefined): string | undefined =>
  node?.kind === 'scalar' ? node.reference : undefined;
