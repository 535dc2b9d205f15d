/** `processing.schema_mapping`: tables, columns, properties and targets that must agree with each other. */
import { mappedTarget, objectTypeOf, snakeCase } from '../model/target-name.ts';
import { defaultProblem } from './default-value.ts';
import { nearest } from './did-you-mean.ts';
import type { Finding, MapEntry, Node, Path } from './node-tree.ts';
import { childOf, shown, spanOfKey, textOf } from './node-tree.ts';
import { placeholderFindings } from './placeholders.ts';
import type { FieldEntry, ListedTable, Mapping } from './table-columns.ts';
import {
  columnEncoding,
  columnType,
  isListed,
  listedTable,
  listedTables,
  mappingsOf,
  onlyTable,
  spelledNames,
} from './table-columns.ts';
import { isPattern, tableNameProblem, targetNameProblem } from './table-pattern.ts';

export function mappingFindings(tree: Node): readonly Finding[] {
  const mappings = mappingsOf(tree);
  const tables = listedTables(tree);
  const node = childOf(childOf(tree, 'processing'), 'schema_mapping');
  if (node?.kind === 'map' && mappings.length === 0)
    return [
      {
        code: 'E_CONFIG_VALUE',
        path: ['processing', 'schema_mapping'],
        span: node.span,
        message:
          'a schema mapping without entries would skip every table; leave it out to mirror them as they are',
      },
    ];
  const only = onlyTable(tree);
  const seen = new Set<string>();
  return [
    ...mappings.flatMap((mapping) => [
      ...tableFindings(mapping, tables, only, seen),
      ...targetFindings(mapping),
      ...fieldFindings(mapping, tables),
    ]),
    ...sharedTargetFindings(tree, mappings, tables),
  ];
}

const value = (path: Path, node: Node | undefined, message: string): Finding => ({
  code: 'E_CONFIG_VALUE',
  path,
  span: node?.span,
  message,
});

function tableFindings(
  mapping: Mapping,
  tables: readonly ListedTable[],
  only: string | null,
  seen: Set<string>,
): readonly Finding[] {
  const { table, tableNode, entry, path } = mapping;
  if (table === null) return [];
  const span = tableNode?.span ?? entry.keySpan;
  const name = tableNode === undefined ? JSON.stringify(table) : shown(tableNode);
  const at = { code: 'E_CONFIG_VALUE', path, span } as const;
  const problem = tableNameProblem(table, only);
  if (problem !== null) return [{ ...at, message: `${name} is not a table: ${problem}` }];
  if (seen.has(table)) return [{ ...at, message: `${name} is mapped twice` }];
  seen.add(table);
  if (tables.length === 0 || isListed(tables, table)) return [];
  const message = `${name} is mapped, but source.tables does not list it`;
  return [{ ...at, message, suggestion: nearest(table, spelledNames(tables)) }];
}

function targetFindings({ entry, path }: Mapping): readonly Finding[] {
  const findings: Finding[] = [];
  const target = childOf(entry.node, 'target_table');
  const targetName = textOf(target);
  const problem = targetName === null ? null : targetNameProblem(targetName);
  if (problem !== null)
    findings.push(value([...path, 'target_table'], target, `${shown(target)}: ${problem}`));
  const type = childOf(entry.node, 'target_object_type_rid');
  const typeName = textOf(type);
  if (typeName !== null && snakeCase(objectTypeOf(typeName)) === '')
    findings.push(
      value(
        [...path, 'target_object_type_rid'],
        type,
        `${shown(type)} names no object type after its last dot`,
      ),
    );
  const template = childOf(entry.node, 'rid_template');
  const at = [...path, 'rid_template'];
  const unknown = placeholderFindings(template, at, ['object_type', 'pk']);
  findings.push(...unknown);
  // An unknown one is most likely the {pk} that is missing: one cause, one problem.
  if (unknown.length === 0 && textOf(template)?.includes('{pk}') === false)
    findings.push(
      value(at, template, 'a rid template needs {pk}, or all instances would share one rid'),
    );
  return findings;
}

function fieldFindings(mapping: Mapping, tables: readonly ListedTable[]): readonly Finding[] {
  const { entry, path, table, fields } = mapping;
  const columns = table === null || isPattern(table) ? null : listedTable(tables, table)?.columns;
  const known = columns?.map((column) => column.key) ?? null;
  const unknownColumn = (
    name: string | null,
    node: Node | undefined,
    at: Path,
    span = node?.span,
  ): Finding[] => {
    if (known === null || name === null || known.includes(name)) return [];
    const named = node === undefined ? JSON.stringify(name) : shown(node);
    const message = `${named} is not in the table's columns (source.tables)`;
    return [
      { code: 'E_COLUMN_UNKNOWN', path: at, span, message, suggestion: nearest(name, known) },
    ];
  };
  const key = childOf(entry.node, 'primary_key_field');
  const seen = new Map<string, FieldEntry>();
  const fieldsNode = childOf(entry.node, 'field_mappings');
  return [
    ...(fieldsNode?.kind === 'map' && fields.length === 0
      ? [value([...path, 'field_mappings'], fieldsNode, 'a mapping needs at least one field')]
      : []),
    ...fields.flatMap((field) => {
      const node = childOf(field.entry.node, 'source_column');
      return [
        ...propertyFindings(field, seen),
        ...unknownColumn(field.column, node, field.path, node?.span ?? field.entry.keySpan),
        ...defaultFindings(field, columns),
        ...conversionFindings(field, columns),
      ];
    }),
    ...unknownColumn(textOf(key), key, [...path, 'primary_key_field']),
  ];
}

function propertyFindings(field: FieldEntry, seen: Map<string, FieldEntry>): readonly Finding[] {
  if (field.property === null) return [];
  const node =
    childOf(field.entry.node, 'target_property') ?? childOf(field.entry.node, 'source_column');
  const span = node?.span ?? field.entry.keySpan;
  const named = node === undefined ? JSON.stringify(field.property) : shown(node);
  const at = { code: 'E_CONFIG_VALUE', path: field.path, span } as const;
  const folded = field.property.toLowerCase();
  if (folded === 'rid')
    return [
      {
        ...at,
        message: `target property ${named} is taken: "rid" is the key column of mapped tables`,
      },
    ];
  const first = seen.get(folded);
  if (first === undefined) seen.set(folded, field);
  if (first === undefined) return [];
  const message =
    first.property === field.property
      ? `target property ${named} is there twice: field "${first.entry.key}" has it, too`
      : `target property ${named} differs from that of field "${first.entry.key}" only in case; readers of Iceberg tables take them for one`;
  return [{ ...at, message }];
}

type Columns = readonly MapEntry[] | null | undefined;

function defaultFindings(field: FieldEntry, columns: Columns): readonly Finding[] {
  const node = childOf(field.entry.node, 'default_value');
  if (node?.kind !== 'scalar' || node.value === null || node.unresolved === true) return [];
  const hasConversion = childOf(field.entry.node, 'type_conversion') !== undefined;
  // With `from`, the default is encoded as the column is: only the engine knows.
  const isPlain = !hasConversion && columnEncoding(columns, field.column) === null;
  const type = isPlain ? columnType(columns, field.column) : null;
  const problem = defaultProblem(node.literal, field.conversion, type);
  if (problem === null) return [];
  const message = `default value ${shown(node)} ${problem}`;
  return [value([...field.path, 'default_value'], node, message)];
}

function conversionFindings(field: FieldEntry, columns: Columns): readonly Finding[] {
  const { conversion, column } = field;
  const type = columnType(columns, column);
  if (conversion === null || conversion === 'to_string' || type === null) return [];
  const isBytes = type === 'binary' || type.startsWith('fixed');
  const encoding = columnEncoding(columns, column);
  const isInDays = encoding === 'epoch_day' || encoding?.endsWith('_of_day') === true;
  if (!isBytes && !(isInDays && conversion === 'epoch_ms_to_datetime')) return [];
  const node = childOf(field.entry.node, 'type_conversion');
  const read = encoding === null ? '' : ` read from ${encoding}`;
  const message = `${shown(node)} cannot take a ${type} column${read}`;
  return [value([...field.path, 'type_conversion'], node, message)];
}

const TYPE_OF: Readonly<Record<string, string>> = {
  to_string: 'string',
  to_int: 'long',
  to_float: 'double',
  to_boolean: 'boolean',
  cents_to_dollars: 'decimal(18,2)',
  epoch_ms_to_datetime: 'timestamptz',
};

interface Target {
  readonly mapping: Mapping;
  /** Property → its type, or null where only the feed tells it. */
  readonly types: ReadonlyMap<string, string | null>;
}

/** Mappings may share a table if their columns agree; compared as far as the file tells. */
function sharedTargetFindings(
  tree: Node,
  mappings: readonly Mapping[],
  tables: readonly ListedTable[],
): readonly Finding[] {
  const namespace =
    textOf(childOf(childOf(childOf(tree, 'sink'), 'iceberg'), 'namespace')) ?? undefined;
  const firsts = new Map<string, Target>();
  return mappings.flatMap((mapping): readonly Finding[] => {
    const name = targetOf(mapping, namespace);
    const types = typesOf(mapping, tables);
    if (name === null || types === null) return [];
    const first = firsts.get(name.toLowerCase());
    if (first === undefined) firsts.set(name.toLowerCase(), { mapping, types });
    const difference = first === undefined ? null : differenceOf(types, first.types);
    if (first === undefined || difference === null) return [];
    const key =
      childOf(mapping.entry.node, 'target_table') === undefined
        ? 'target_object_type_rid'
        : 'target_table';
    return [
      {
        code: 'E_TARGET_MISMATCH',
        path: [...mapping.path, key],
        span: spanOfKey(tree, [...mapping.path, key]),
        message: `two mappings write one table with different columns: ${difference} (the other is mapping "${first.mapping.entry.key}"); give one another target_table`,
      },
    ];
  });
}

function targetOf({ entry, table }: Mapping, namespace: string | undefined): string | null {
  const type = textOf(childOf(entry.node, 'target_object_type_rid'));
  const targetNode = childOf(entry.node, 'target_table');
  const targetTable = textOf(targetNode) ?? undefined;
  if (type === null || table === null || (targetNode !== undefined && targetTable === undefined))
    return null;
  const target = mappedTarget(
    { target_object_type_rid: type, target_table: targetTable },
    table,
    namespace,
  );
  return `${target.namespace}.${target.table}`;
}

function typesOf(
  { table, fields }: Mapping,
  tables: readonly ListedTable[],
): Target['types'] | null {
  if (fields.some((field) => field.property === null)) return null;
  const columns = table === null || isPattern(table) ? null : listedTable(tables, table)?.columns;
  return new Map(
    fields.map((field) => {
      const converted = field.conversion === null ? null : (TYPE_OF[field.conversion] ?? null);
      const own = columnType(columns, field.column);
      return [field.property ?? '', converted ?? own];
    }),
  );
}

/** Names come from the file's keys as a rule, but may come by reference: a difference tells which, never what. */
function differenceOf(left: Target['types'], right: Target['types']): string | null {
  const onlyOne =
    [...left.keys()].some((name) => !right.has(name)) ||
    [...right.keys()].some((name) => !left.has(name));
  if (onlyOne) return 'their target properties are not the same';
  for (const [name, type] of left) {
    const other = right.get(name) ?? null;
    if (type !== null && other !== null && type !== other)
      return `a property is ${type} in one and ${other} in the other`;
  }
  return null;
}
