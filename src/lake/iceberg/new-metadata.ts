import { PipelineError } from '../../model/errors.ts';
import type { NewTable } from '../catalog/catalog.ts';
import type { TableMetadata } from './metadata.ts';
import { highestFieldId, readerProperties, whyNoKey } from './schema.ts';

/**
 * The first metadata of an unpartitioned v2 table.
 * @throws E_KEY_TYPE for a key of floats, fixed bytes or nested values, E_CONFIG_VALUE for a key that is missing, nullable or given twice
 */
export function newMetadata(
  table: NewTable,
  at: { location: string; uuid: string; nowMs: number },
): TableMetadata {
  checkFields(table);
  return {
    'format-version': 2,
    'table-uuid': at.uuid,
    location: at.location,
    'last-sequence-number': 0,
    'last-updated-ms': at.nowMs,
    'last-column-id': highestFieldId({ type: 'struct', fields: table.fields }),
    'current-schema-id': 0,
    schemas: [
      {
        type: 'struct',
        'schema-id': 0,
        ...(table.identifierFieldIds.length > 0 && {
          'identifier-field-ids': table.identifierFieldIds,
        }),
        fields: table.fields,
      },
    ],
    'default-spec-id': 0,
    'partition-specs': [{ 'spec-id': 0, fields: [] }],
    'last-partition-id': 999,
    'default-sort-order-id': 0,
    'sort-orders': [{ 'order-id': 0, fields: [] }],
    properties: {
      'write.parquet.compression-codec': 'zstd',
      ...readerProperties(table.fields),
      ...table.properties,
    },
    'current-snapshot-id': -1n,
    refs: {},
    snapshots: [],
    statistics: [],
    'partition-statistics': [],
    'snapshot-log': [],
    'metadata-log': [],
  };
}

function checkFields(table: NewTable): void {
  const subject = { table: `${table.namespace}.${table.name}` };
  const names = new Set<string>();
  const ids = new Set<number>();
  for (const field of table.fields) {
    if (field.name === '' || names.has(field.name) || ids.has(field.id)) {
      throw new PipelineError(
        'E_CONFIG_VALUE',
        `The column ${JSON.stringify(field.name)} is empty or given twice`,
        {
          subject,
        },
      );
    }
    names.add(field.name);
    ids.add(field.id);
  }
  for (const fieldId of table.identifierFieldIds) {
    const field = table.fields.find((f) => f.id === fieldId);
    if (field === undefined || !field.required) {
      const message = `The key field ${field?.name ?? fieldId} must be a required column`;
      throw new PipelineError('E_CONFIG_VALUE', message, { subject });
    }
    const why = whyNoKey(field.type);
    if (why !== null) {
      throw new PipelineError('E_KEY_TYPE', `The key column ${JSON.stringify(field.name)} ${why}`, {
        subject: { ...subject, column: field.name },
      });
    }
  }
}
