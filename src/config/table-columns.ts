/** What the tree says about tables and their columns, read so that a mistake elsewhere does not cause a second one. */
import type { MapEntry, Node, Path } from './node-tree.ts';
import { childOf, entriesOf, itemsOf, textOf } from './node-tree.ts';
import { matchesPattern } from '../model/pattern.ts';
import { isPattern } from './table-pattern.ts';
import { normalType, TYPE_PATTERN } from './column-type.ts';

export interface ListedTable {
  /** Null when the entry is malformed. */
  readonly name: string | null;
  readonly node: Node;
  readonly nameNode: Node | undefined;
  readonly path: Path;
  /** Null when the table has no `columns` block. */
  readonly columns: readonly MapEntry[] | null;
  readonly hasKey: boolean;
}

export function listedTables(tree: Node): readonly ListedTable[] {
  return itemsOf(childOf(childOf(tree, 'source'), 'tables')).map((node, index) => {
    const nameNode = node.kind === 'map' ? childOf(node, 'table') : node;
    const columns = childOf(node, 'columns');
    return {
      node,
      nameNode,
      name: textOf(nameNode),
      path: ['source', 'tables', index],
      columns: columns?.kind === 'map' ? columns.entries : null,
      hasKey: childOf(node, 'primary_key') !== undefined,
    };
  });
}

/** Names to suggest: those that the file spells out, never one that came by reference. */
export function spelledNames(tables: readonly ListedTable[]): readonly string[] {
  return tables.flatMap(({ name, nameNode }) =>
    name !== null && nameNode?.kind === 'scalar' && nameNode.reference === undefined ? [name] : [],
  );
}

/** The entry that a table of this name falls under: its own, else the first pattern that stands for it. */
export function listedTable(tables: readonly ListedTable[], name: string): ListedTable | undefined {
  return (
    tables.find((table) => table.name === name) ??
    tables.find((table) => table.name !== null && matchesPattern(table.name, name))
  );
}

/** True unless it is certain that no table of the list can fall under this name or pattern. */
export function isListed(tables: readonly ListedTable[], name: string): boolean {
  return tables.some(
    (table) =>
      table.name === null ||
      matchesPattern(table.name, name) ||
      matchesPattern(name, table.name) ||
      (isPattern(name) && isPattern(table.name)),
  );
}

/** The type word of a column; null when it is unknown or malformed. */
export function columnType(
  columns: readonly MapEntry[] | null | undefined,
  name: string | null,
): string | null {
  const node = columns?.find((entry) => entry.key === name)?.node;
  const word = textOf(node?.kind === 'map' ? childOf(node, 'type') : node);
  return word !== null && TYPE_PATTERN.test(word) ? normalType(word) : null;
}

/** The `from` of a column; null when it has none. */
export function columnEncoding(
  columns: readonly MapEntry[] | null | undefined,
  name: string | null,
): string | null {
  const node = columns?.find((entry) => entry.key === name)?.node;
  return node?.kind === 'map' ? textOf(childOf(node, 'from')) : null;
}

export interface Mapping {
  readonly entry: MapEntry;
  readonly path: Path;
  /** The source table or pattern; the key where `source_table` is left out; null when malformed. */
  readonly table: string | null;
  /** Where the table's name stands. */
  readonly tableNode: Node | undefined;
  readonly fields: readonly FieldEntry[];
}

export interface FieldEntry {
  readonly entry: MapEntry;
  readonly path: Path;
  readonly column: string | null;
  readonly property: string | null;
  readonly conversion: string | null;
}

/** Text of a key, or the default where the key is left out; null when it is malformed. */
function textOr(node: Node, key: string, absent: string | null): string | null {
  const child = childOf(node, key);
  return child === undefined ? absent : textOf(child);
}

export function mappingsOf(tree: Node): readonly Mapping[] {
  const base: Path = ['processing', 'schema_mapping'];
  return entriesOf(childOf(childOf(tree, 'processing'), 'schema_mapping')).map((entry) => {
    const path = [...base, entry.key];
    return {
      entry,
      path,
      table: textOr(entry.node, 'source_table', entry.key),
      tableNode: childOf(entry.node, 'source_table'),
      fields: entriesOf(childOf(entry.node, 'field_mappings')).map((field) =>
        fieldOf(field, [...path, 'field_mappings', field.key]),
      ),
    };
  });
}

function fieldOf(entry: MapEntry, path: Path): FieldEntry {
  const column = textOr(entry.node, 'source_column', entry.key);
  return {
    entry,
    path,
    column,
    property: textOr(entry.node, 'target_property', column),
    conversion: textOr(entry.node, 'type_conversion', null),
  };
}

/** The one table that the file is about; null when there are several, or patterns only. */
export function onlyTable(tree: Node): string | null {
  const listed = listedTables(tree).map(({ name }) => name);
  const names = new Set([...listed, ...mappingsOf(tree).map(({ table }) => table)]);
  const [name = null] = names;
  return names.size === 1 ? name : null;
}
