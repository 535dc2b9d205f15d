/** What the model knows and this version does not do, and what it does but cannot do together. */
import { localPath } from './local-path.ts';
import { SOURCE_TYPES } from './schema-source.ts';
import type { Finding, Node, Path } from './node-tree.ts';
import { childOf, itemsOf, nodeAt, shown, spanOfKey, textOf } from './node-tree.ts';

export function supportFindings(tree: Node, baseDir: string): readonly Finding[] {
  return [
    ...sourceFindings(tree),
    ...wordFindings(tree),
    ...dorisFindings(tree),
    ...sinkFindings(tree),
    ...processingFindings(tree),
    ...pathFindings(tree, baseDir),
  ];
}

const unsupported = (tree: Node, path: Path, message: string): Finding => ({
  code: 'E_CONFIG_UNSUPPORTED',
  path,
  span: nodeAt(tree, path)?.span,
  message,
});

function sourceFindings(tree: Node): readonly Finding[] {
  const source = childOf(tree, 'source');
  const type = textOf(childOf(source, 'source_type'));
  if (source?.kind !== 'map' || type === null) return [];
  if (type !== 'debezium_json') {
    if (!SOURCE_TYPES.some((known) => known === type)) return [];
    const message = `${shown(childOf(source, 'source_type'))} is not read in this version; debezium_json is`;
    return [unsupported(tree, ['source', 'source_type'], message)];
  }
  if (childOf(source, 'path') !== undefined) return [];
  const message = 'debezium_json needs source.path: a file, a folder or a glob';
  return [
    {
      code: 'E_CONFIG_VALUE',
      path: ['source', 'path'],
      span: spanOfKey(tree, ['source']),
      message,
    },
  ];
}

interface Choice {
  readonly path: Path;
  readonly known: readonly string[];
  readonly message: string;
}

/** Words that the schema takes and this version refuses. */
const CHOICES: readonly Choice[] = [
  {
    path: ['engine'],
    known: ['flink'],
    message:
      'this version runs pipelines on the embedded engine; leave engine out, or set it to embedded',
  },
  {
    path: ['source', 'startup_mode'],
    known: ['latest-offset', 'timestamp', 'specific-offset', 'snapshot-only'],
    message:
      'debezium_json reads a feed from its start; leave startup_mode out, or set it to initial',
  },
  {
    path: ['sink', 'iceberg_catalog'],
    known: ['nessie'],
    message:
      'this version writes the hadoop catalog (tables are folders of the warehouse); leave iceberg_catalog out, or set it to hadoop',
  },
  {
    path: ['sink', 'iceberg', 'delete_mode'],
    known: ['position', 'deletion-vector', 'copy-on-write'],
    message: 'this version writes equality deletes; leave delete_mode out, or set it to equality',
  },
];

function wordFindings(tree: Node): readonly Finding[] {
  const isFeed = textOf(nodeAt(tree, ['source', 'source_type'])) === 'debezium_json';
  return CHOICES.flatMap(({ path, known, message }) => {
    const node = nodeAt(tree, path);
    const word = textOf(node);
    if (word === null || !known.includes(word) || (path[0] === 'source' && !isFeed)) return [];
    return [unsupported(tree, path, `${shown(node)} is not supported: ${message}`)];
  });
}

function dorisFindings(tree: Node): readonly Finding[] {
  const sink = childOf(tree, 'sink');
  const enabled = childOf(sink, 'doris_enabled');
  const isOn = enabled?.kind === 'scalar' && enabled.value === true;
  const isOff = enabled?.kind === 'scalar' && enabled.value === false;
  const hasEndpoints = itemsOf(childOf(sink, 'doris_fe_endpoints')).length > 0;
  if (!isOn && (isOff || !hasEndpoints)) return [];
  const path = ['sink', isOn ? 'doris_enabled' : 'doris_fe_endpoints'];
  const message =
    'Doris is not supported: this version writes Iceberg and the event log; set doris_enabled to false';
  return [unsupported(tree, path, message)];
}

const isFalse = (node: Node | undefined): boolean =>
  node?.kind === 'scalar' && node.value === false;

function sinkFindings(tree: Node): readonly Finding[] {
  const sink = childOf(tree, 'sink');
  if (!isFalse(childOf(sink, 'iceberg_enabled'))) return namespaceFindings(tree);
  const at = { code: 'E_CONFIG_VALUE', path: ['sink'], span: spanOfKey(tree, ['sink']) } as const;
  if (isFalse(childOf(sink, 'event_bus_enabled')))
    return [
      {
        ...at,
        message: 'nothing would be written: iceberg_enabled and event_bus_enabled are both false',
      },
    ];
  const isMapped = childOf(childOf(tree, 'processing'), 'schema_mapping') !== undefined;
  if (isMapped) return [];
  const message =
    'nothing would be written: only mapped tables have events, and there is no schema_mapping';
  return [{ ...at, message }];
}

function namespaceFindings(tree: Node): readonly Finding[] {
  const path = ['sink', 'iceberg', 'namespace'];
  const node = nodeAt(tree, path);
  const text = textOf(node);
  if (text === null || text === '' || /^[^./\\\p{Cc}]+$/u.test(text)) return [];
  const message = `${shown(node)} is not one namespace: no dots, slashes or control characters`;
  return [{ code: 'E_CONFIG_VALUE', path, span: node?.span, message }];
}

function processingFindings(tree: Node): readonly Finding[] {
  const processing = childOf(tree, 'processing');
  const findings: Finding[] = [];
  if (childOf(processing, 'enrichment') !== undefined) {
    const path = ['processing', 'enrichment'];
    findings.push({
      code: 'E_CONFIG_UNSUPPORTED',
      path,
      span: spanOfKey(tree, path),
      message:
        'enrichment is not in this version; remove it, or join the tables when they are read',
    });
  }
  const deduplication = childOf(processing, 'deduplication');
  const other = childOf(deduplication, 'dedup_window_ms');
  if (other !== undefined && childOf(deduplication, 'window_ms') !== undefined)
    findings.push({
      code: 'E_CONFIG_VALUE',
      path: ['processing', 'deduplication', 'dedup_window_ms'],
      span: other.span,
      message: 'dedup_window_ms is another spelling of window_ms; give one of them',
    });
  return findings;
}

const PATHS: readonly Path[] = [
  ['source', 'path'],
  ['sink', 'iceberg_warehouse'],
  ['sink', 'event_bus', 'path'],
  ['checkpoint', 'state_dir'],
];

function pathFindings(tree: Node, baseDir: string): readonly Finding[] {
  return PATHS.flatMap((path) => {
    const node = nodeAt(tree, path);
    const text = textOf(node);
    if (text === null || text === '') return [];
    const local = localPath(text, baseDir);
    if ('path' in local) return [];
    return [{ code: local.code, path, span: node?.span, message: local.problem }];
  });
}
