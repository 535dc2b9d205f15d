/** The `processing` block of a pipeline file. */
import { z } from 'zod';
import { hints, name } from './hints.ts';

const CONVERSIONS = [
  'to_string',
  'to_int',
  'to_float',
  'to_boolean',
  'epoch_ms_to_datetime',
  'cents_to_dollars',
] as const;

const fieldMappingSchema = z.strictObject({
  source_column: name()
    .optional()
    .meta({ description: 'The column of the source.', examples: ['name'] })
    .register(hints, { defaultText: 'the name of the field mapping' }),
  target_property: name()
    .optional()
    .meta({
      description: 'The property of the object type, and the column on the lake.',
      examples: ['display_name'],
    })
    .register(hints, { defaultText: 'the source column' }),
  type_conversion: z
    .enum(CONVERSIONS)
    .optional()
    .meta({
      description:
        'Converts the value, exactly or not at all: `to_int` gives long, `to_float` double, `cents_to_dollars` decimal(18,2), `epoch_ms_to_datetime` timestamptz. Without it the property has the type of the source column.',
      examples: ['cents_to_dollars'],
    }),
  default_value: z
    .union([z.string(), z.number(), z.boolean()])
    .optional()
    .meta({
      description:
        'Takes the place of a missing or null value, on create and on update, before the conversion.',
      examples: ['unknown', 0],
    }),
  nullable: z
    .boolean()
    .default(true)
    .meta({
      description: '`false`: a null (after the default) is a data error.',
      examples: [false],
    }),
});

const mappingSchema = z.strictObject({
  source_table: name()
    .optional()
    .meta({ description: 'The table, or a pattern with `*`.', examples: ['factory_db.equipment'] })
    .register(hints, { defaultText: 'the name of the mapping' }),
  target_object_type_rid: name().meta({
    description: 'The object type. Its last dotted segment names it in rids and tables.',
    examples: ['ri.type.PumpStation'],
  }),
  field_mappings: z.record(z.string(), fieldMappingSchema).meta({
    description:
      'Source field → property, in the order of the columns on the lake. An empty `{}` takes the column as it is.',
    examples: [{ id: { target_property: 'equipment_id' }, status: {} }],
  }),
  primary_key_field: name().meta({
    description: 'The source column whose value identifies an instance.',
    examples: ['id'],
  }),
  rid_template: name()
    .default('ri.{object_type}.main.{pk}')
    .meta({
      description: 'The rid of an instance; `{object_type}` and `{pk}` are filled in.',
      examples: ['ri.{object_type}.main.{pk}'],
    }),
  target_table: name()
    .optional()
    .meta({
      description:
        'The Iceberg table, `t` or `ns.t`. Mappings may share one if their columns agree.',
      examples: ['assets.pumps'],
    })
    .register(hints, { defaultText: 'the object type in snake_case' }),
});

const cleansingSchema = z.strictObject({
  trim: z
    .boolean()
    .default(false)
    .meta({ description: 'Cut blanks at both ends of every text.', examples: [true] }),
  null_tokens: z
    .array(z.string())
    .default([])
    .meta({
      description: 'Texts that mean null, after trimming; exactly as written.',
      examples: [['N/A', '-']],
    }),
});

const deduplicationSchema = z.strictObject({
  enabled: z
    .boolean()
    .default(true)
    .meta({
      description:
        'Drop and count a change that is not newer, by position, than the last one of its key.',
      examples: [false],
    }),
  window_ms: z
    .int()
    .min(0)
    .default(60_000)
    .meta({
      description:
        'How long the last change of a key is remembered. Milliseconds of the source clock. `dedup_window_ms` is taken, too.',
      examples: [60_000],
    }),
  dedup_window_ms: z
    .int()
    .min(0)
    .optional()
    .meta({ description: 'Another spelling of `window_ms`.', examples: [60_000] })
    .register(hints, { hidden: true }),
});

const routeSchema = z.strictObject({
  source_table: name().meta({
    description: 'The table, or a pattern with `*`.',
    examples: ['shop.orders_*'],
  }),
  when: name()
    .optional()
    .meta({
      description: 'An SQL predicate over the source columns; rows that fulfil it take this route.',
      examples: ["region = 'eu'"],
    })
    .register(hints, { defaultText: 'every row' }),
  target_table: name().meta({
    description: 'Where the rows go: `t` or `ns.t`; `{table}` and `{db}` are filled in.',
    examples: ['shop.orders', 'eu.{table}'],
  }),
});

export const processingSchema = z.strictObject({
  schema_mapping: z
    .record(z.string(), mappingSchema)
    .optional()
    .meta({
      description:
        'Source table → object type, in order. Tables without a mapping are skipped. Left out: every table is mirrored as it is, by its own key.',
      examples: [
        {
          'factory_db.equipment': {
            target_object_type_rid: 'ri.type.Equipment',
            primary_key_field: 'id',
            field_mappings: { id: { target_property: 'equipment_id' } },
          },
        },
      ],
    }),
  cleansing: cleansingSchema
    .prefault({})
    .meta({ description: 'Tidies texts before they are mapped.', examples: [{ trim: true }] }),
  deduplication: deduplicationSchema.prefault({}).meta({
    description: 'Drops changes that were seen before.',
    examples: [{ window_ms: 60_000 }],
  }),
  filter: z
    .union([name(), z.record(z.string(), name())])
    .optional()
    .meta({
      description:
        'An SQL predicate over the source columns: one for all tables, or one by table or pattern. An update that leaves the filter is a delete, one that enters it a create.',
      examples: ["status <> 'draft'", { 'shop.orders': 'total > 0' }],
    }),
  routes: z
    .array(routeSchema)
    .default([])
    .meta({
      description:
        'Sends rows to tables of other names. A row takes every route whose predicate it fulfils; one that takes none goes where it would without routes.',
      examples: [[{ source_table: 'shop.orders_*', target_table: 'shop.orders' }]],
    }),
  enrichment: z
    .unknown()
    .optional()
    .meta({ description: 'Not in this version.' })
    .register(hints, { hidden: true }),
});
