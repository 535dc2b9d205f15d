/** The text of a first pipeline file: short, and every line explained. */
import { stringify } from 'yaml';
import type { Column } from '../../model/types.ts';
import type { SampledTable } from './feed-sample.ts';

export interface FirstPipeline {
  readonly pipelineId: string;
  /** As it stands in the file. */
  readonly feed: string;
  readonly tables: readonly SampledTable[];
}

/** A table to show where nobody has looked at a feed. */
export const PLACEHOLDER: SampledTable = {
  name: 'shop.orders',
  columns: [
    { name: 'id', type: 'long', nullable: true },
    { name: 'customer', type: 'string', nullable: true },
    { name: 'total', type: 'decimal(18,2)', nullable: true },
    { name: 'paid_at', type: 'timestamptz', from: 'epoch_ms', nullable: true },
  ],
  isDeclared: true,
  key: ['id'],
  keyReason: '',
  instants: [],
  changes: 0,
};

export function pipelineText({ pipelineId, feed, tables }: FirstPipeline): string {
  return `# yaml-language-server: $schema=./node_modules/lakeward/schema/v1.json
# What each key means: docs/reference/configuration.md of lakeward. Paths start at this file's folder.
pipeline_id: ${scalar(pipelineId)} # names the state folder, ./.lakeward/${pipelineId}

source:
  source_type: debezium_json # one Debezium envelope a line
  path: ${scalar(feed)} # a file, a folder or a pattern; gzip and zstd too
  # watch: true # go on with what is added, instead of ending
  tables:
${tables.map(tableText).join('')}
sink:
  iceberg_warehouse: ./warehouse # a table db.t becomes ./warehouse/db/t

checkpoint:
  interval_ms: 60000 # a snapshot of each touched table once a minute; 0: one at the end
`;
}

function tableText(table: SampledTable): string {
  const key = table.key.map((name) => scalar(name, true)).join(', ');
  const why = table.keyReason === '' ? 'rows are written by key' : `CHECK THIS: ${table.keyReason}`;
  const judged = table.isDeclared
    ? ''
    : ' # judged by the first values; nothing is rounded to fit, so check them';
  return `    - table: ${scalar(table.name)}
      primary_key: [${key}] # ${why}
      columns:${judged}
${table.columns.map((column) => columnText(column, table)).join('')}`;
}

function columnText({ name, type, from }: Column, { instants }: SampledTable): string {
  const value =
    from === undefined
      ? type
      : `{ type: ${type.includes(',') ? `"${type}"` : type}, from: ${from} }`;
  return `        ${scalar(name)}: ${value}${remark(name, type, instants)}\n`;
}

function remark(name: string, type: string, instants: readonly string[]): string {
  if (instants.includes(name)) return ' # a time? then { type: timestamptz, from: epoch_ms }';
  return type === 'double' ? ' # an amount? then decimal(18,2), which is exact' : '';
}

/** A YAML scalar on one line; in a flow list, commas and brackets want quotes too. */
function scalar(text: string, inFlow = false): string {
  const plain = stringify(text, { lineWidth: 0 }).trimEnd();
  const isPlain = !plain.includes('\n') && !(inFlow && /[,[\]{}]/u.test(plain));
  return isPlain ? plain : JSON.stringify(text);
}
