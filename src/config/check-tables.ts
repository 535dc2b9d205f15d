/** `source.tables`: names, keys and columns. */
import { ENCODINGS, encodingsOf, normalType, typeProblem, TYPE_PATTERN } from './column-type.ts';
import { nearest } from './did-you-mean.ts';
import type { Finding, MapEntry, Node, Path } from './node-tree.ts';
import { childOf, itemsOf, shown, textOf } from './node-tree.ts';
import type { ListedTable } from './table-columns.ts';
import { columnType, listedTables, onlyTable } from './table-columns.ts';
import { tableNameProblem } from './table-pattern.ts';

export function tableFindings(tree: Node): readonly Finding[] {
  const tables = listedTables(tree);
  const isMapped = childOf(childOf(tree, 'processing'), 'schema_mapping') !== undefined;
  const only = onlyTable(tree);
  const seen = new Set<string>();
  return tables.flatMap((table) => [
    ...nameFindings(table, only, seen),
    ...(isMapped || table.hasKey ? [] : withoutKey(table, only)),
    ...keyFindings(table),
    ...columnFindings(table),
  ]);
}

function nameFindings(
  table: ListedTable,
  only: string | null,
  seen: Set<string>,
): readonly Finding[] {
  const { name, nameNode } = table;
  if (name === null) return [];
  const at = { code: 'E_CONFIG_VALUE', path: table.path, span: nameNode?.span } as const;
  const problem = tableNameProblem(name, only);
  if (problem !== null)
    return [{ ...at, message: `${shown(nameNode)} is not a table: ${problem}` }];
  if (seen.has(name)) return [{ ...at, message: `${shown(nameNode)} is listed twice` }];
  seen.add(name);
  return [];
}

function withoutKey(table: ListedTable, only: string | null): readonly Finding[] {
  if (table.name === null || tableNameProblem(table.name, only) !== null) return [];
  const line =
    table.node.kind === 'map'
      ? 'add "primary_key: [id]", with its key columns'
      : `write "- {table: ${table.node.kind === 'scalar' && table.node.reference === undefined ? table.name : '…'}, primary_key: [id]}", with its key columns`;
  return [
    {
      code: 'E_TABLE_NO_KEY',
      path: table.path,
      span: table.nameNode?.span,
      message: `${shown(table.nameNode)} has neither a key nor a mapping: ${line}`,
    },
  ];
}

function keyFindings(table: ListedTable): readonly Finding[] {
  const seen = new Set<string>();
  return itemsOf(childOf(table.node, 'primary_key')).flatMap((node, index): readonly Finding[] => {
    const name = textOf(node);
    if (name === null) return [];
    const at = { path: [...table.path, 'primary_key', index], span: node.span };
    if (seen.has(name))
      return [{ ...at, code: 'E_CONFIG_VALUE', message: `${shown(node)} is in the key twice` }];
    seen.add(name);
    return columnProblem(table.columns, name, node, at, 'key column');
  });
}

/** A column that a `columns` block leaves out, or a key of a type that no two writers compare alike. */
function columnProblem(
  columns: readonly MapEntry[] | null,
  name: string,
  node: Node,
  at: { readonly path: Path; readonly span?: Node['span'] },
  what: string,
): readonly Finding[] {
  if (columns === null) return [];
  const known = columns.map((column) => column.key);
  if (!known.includes(name)) {
    const message = `${what} ${shown(node)} is not in the table's columns`;
    return [{ ...at, code: 'E_COLUMN_UNKNOWN', message, suggestion: nearest(name, known) }];
  }
  const type = columnType(columns, name);
  if (type !== 'float' && type !== 'double') return [];
  return [
    {
      ...at,
      code: 'E_KEY_TYPE',
      message: `${what} ${shown(node)} is ${type}, which cannot be a key`,
    },
  ];
}

function columnFindings(table: ListedTable): readonly Finding[] {
  const seen = new Map<string, string>();
  const path = [...table.path, 'columns'];
  if (table.columns?.length === 0) {
    const span = childOf(table.node, 'columns')?.span;
    return [{ code: 'E_CONFIG_VALUE', path, span, message: 'a table needs at least one column' }];
  }
  return (table.columns ?? []).flatMap((column): readonly Finding[] => {
    const first = seen.get(column.key.toLowerCase());
    seen.set(column.key.toLowerCase(), column.key);
    const repeated: readonly Finding[] =
      first === undefined
        ? []
        : [
            {
              code: 'E_CONFIG_VALUE',
              path: [...path, column.key],
              span: column.keySpan,
              message: `column "${column.key}" differs from "${first}" only in case; readers of Iceberg tables take them for one`,
            },
          ];
    return [...repeated, ...typeFindings(column, [...path, column.key])];
  });
}

function typeFindings({ node }: MapEntry, path: Path): readonly Finding[] {
  const typeNode = node.kind === 'map' ? childOf(node, 'type') : node;
  const word = textOf(typeNode);
  if (word === null || !TYPE_PATTERN.test(word)) return [];
  const problem = typeProblem(word);
  if (problem !== null)
    return [
      {
        code: 'E_CONFIG_VALUE',
        path,
        span: typeNode?.span,
        message: `${shown(typeNode)}: ${problem}`,
      },
    ];
  const fromNode = node.kind === 'map' ? childOf(node, 'from') : undefined;
  const from = textOf(fromNode);
  const fitting = encodingsOf(normalType(word));
  if (from === null || fitting.some((encoding) => encoding === from)) return [];
  // A misspelt word is told by the schema check.
  const message =
    fitting.length === 0
      ? `${normalType(word)} has one form in the feed; leave "from" out`
      : `${shown(fromNode)} does not fit ${normalType(word)}`;
  return ENCODINGS.some((known) => known === from)
    ? [
        {
          code: 'E_CONFIG_VALUE',
          path: [...path, 'from'],
          span: fromNode?.span,
          message,
          allowed: fitting.length === 0 ? undefined : fitting,
        },
      ]
    : [];
}
