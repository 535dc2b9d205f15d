/** Filters and routes: what they name must be among the tables, and their targets must be names. */
import type { Finding, Node, Path } from './node-tree.ts';
import { childOf, entriesOf, itemsOf, shown, textOf } from './node-tree.ts';
import { placeholderFindings } from './placeholders.ts';
import { isListed, listedTables, onlyTable, spelledNames } from './table-columns.ts';
import { nearest } from './did-you-mean.ts';
import { tableNameProblem, targetNameProblem } from './table-pattern.ts';

export function flowFindings(tree: Node): readonly Finding[] {
  const tables = listedTables(tree);
  const only = onlyTable(tree);
  const processing = childOf(tree, 'processing');
  const known = spelledNames(tables);
  const unlisted = (table: string, named: string, path: Path, span: Node['span']): Finding[] => {
    const at = { code: 'E_CONFIG_VALUE', path, span } as const;
    const problem = tableNameProblem(table, only);
    if (problem !== null) return [{ ...at, message: `${named} is not a table: ${problem}` }];
    if (tables.length === 0 || isListed(tables, table)) return [];
    const message = `source.tables does not list ${named}`;
    return [{ ...at, message, suggestion: nearest(table, known) }];
  };
  const filters = entriesOf(childOf(processing, 'filter')).flatMap(({ key, keySpan }) =>
    unlisted(key, JSON.stringify(key), ['processing', 'filter', key], keySpan),
  );
  const routes = itemsOf(childOf(processing, 'routes')).flatMap((route, index) => {
    const path: Path = ['processing', 'routes', index];
    const source = childOf(route, 'source_table');
    const table = textOf(source);
    return [
      ...(table === null
        ? []
        : unlisted(table, shown(source), [...path, 'source_table'], source?.span)),
      ...targetFindings(childOf(route, 'target_table'), [...path, 'target_table']),
    ];
  });
  return [...filters, ...routes];
}

function targetFindings(node: Node | undefined, path: Path): readonly Finding[] {
  const target = textOf(node);
  if (target === null) return [];
  const problem = targetNameProblem(target);
  const findings = placeholderFindings(node, path, ['table', 'db']);
  if (problem === null) return findings;
  const message = `${shown(node)}: ${problem}`;
  return [...findings, { code: 'E_CONFIG_VALUE', path, span: node?.span, message }];
}
