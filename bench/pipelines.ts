/** The pipeline files of the bench. Each run gets a folder of its own, so that it starts from nothing. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { PipelineFile } from '../src/config/schema.ts';

export interface PipelineChoice {
  readonly maxBytes?: number;
  /** Maps the table onto an object type, which turns the events on. */
  readonly isMapped?: boolean;
}

/** How the mapped table calls the columns that it renames. */
export const RENAMED = { id: 'order_id', customer_id: 'customer', qty: 'quantity' };

/** Empties the folder and writes `pipeline.yaml` into it; returns its path. */
export function writePipeline(folder: string, feed: string, choice: PipelineChoice = {}): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'pipeline.yaml');
  writeFileSync(path, stringify(pipelineOf(feed, choice)));
  return path;
}

function pipelineOf(feed: string, { maxBytes, isMapped = false }: PipelineChoice): PipelineFile {
  const updatedAt = isMapped
    ? ('long' as const)
    : ({ type: 'timestamptz', from: 'epoch_ms' } as const);
  const columns = {
    id: 'long',
    customer_id: 'long',
    status: 'string',
    amount: 'decimal(18,2)',
    note: 'string',
    qty: 'int',
    updated_at: updatedAt,
  };
  return {
    pipeline_id: 'bench-orders',
    source: {
      source_type: 'debezium_json',
      path: feed,
      tables: [{ table: 'shop.orders', primary_key: ['id'], columns }],
    },
    ...(isMapped ? { processing: { schema_mapping: { 'shop.orders': MAPPING } } } : {}),
    sink: {
      iceberg_warehouse: './warehouse',
      event_bus_enabled: isMapped,
      event_bus: { path: './events' },
    },
    checkpoint: {
      interval_ms: 0,
      state_dir: './state',
      ...(maxBytes === undefined ? {} : { max_bytes: maxBytes }),
    },
  };
}

const MAPPING = {
  target_object_type_rid: 'ri.type.Order',
  primary_key_field: 'id',
  rid_template: 'ri.{object_type}.main.{pk}',
  target_table: 'shop.orders',
  field_mappings: {
    id: { target_property: RENAMED.id },
    customer_id: { target_property: RENAMED.customer_id },
    status: {},
    amount: {},
    note: {},
    qty: { target_property: RENAMED.qty },
    updated_at: { type_conversion: 'epoch_ms_to_datetime' as const },
  },
};
