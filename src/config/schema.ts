/**
 * The pipeline file, as it is written: the one source of its names, defaults, descriptions, of the JSON Schema for
 * editors and of the reference page. `resolve.ts` turns what it yields into the `PipelineSpec` of the engine.
 */
import { z } from 'zod';
import { delayMs, hints, name } from './hints.ts';
import { processingSchema } from './schema-processing.ts';
import { sourceSchema } from './schema-source.ts';

/** Stands for the pipeline's id in defaults that depend on it. */
export const PIPELINE_ID = '<pipeline_id>';

const icebergSchema = z.strictObject({
  namespace: name()
    .optional()
    .meta({ description: 'The namespace of all tables.', examples: ['lake'] })
    .register(hints, { defaultText: 'the first half of the source table’s name' }),
  delete_mode: z
    .enum(['equality', 'position', 'deletion-vector', 'copy-on-write'])
    .default('equality')
    .meta({
      description: 'How deleted rows are written. This version writes `equality` (Iceberg v2).',
      examples: ['equality'],
    }),
});

const sinkSchema = z.strictObject({
  iceberg_enabled: z
    .boolean()
    .default(true)
    .meta({ description: 'Write Iceberg tables.', examples: [true] }),
  iceberg_catalog: z
    .enum(['hadoop', 'nessie'])
    .default('hadoop')
    .meta({
      description:
        'The catalog. This version writes `hadoop`: tables are folders of the warehouse.',
      examples: ['hadoop'],
    }),
  iceberg_warehouse: name()
    .default('./warehouse')
    .meta({
      description: 'The folder of the tables, a path or a `file:` URI.',
      examples: ['./warehouse'],
    }),
  iceberg: icebergSchema.prefault({}).meta({
    description: 'What the flat keys cannot say about Iceberg.',
    examples: [{ namespace: 'lake' }],
  }),
  doris_enabled: z
    .boolean()
    .optional()
    .meta({ description: 'Write to Doris. Not in this version.', examples: [false] })
    .register(hints, { defaultText: '`true` where `doris_fe_endpoints` are given' }),
  doris_fe_endpoints: z
    .array(z.string())
    .default([])
    .meta({
      description: 'The frontends of Doris. Not in this version.',
      examples: [['doris-fe:8030']],
    }),
  event_bus_enabled: z
    .boolean()
    .default(true)
    .meta({
      description: 'Publish the events of mapped tables: to listeners and to the event log.',
      examples: [false],
    }),
  event_bus: z
    .strictObject({
      path: name()
        .default('./events')
        .meta({
          description: 'The folder of the event log: one file of CloudEvents a checkpoint.',
          examples: ['./events'],
        }),
    })
    .prefault({})
    .meta({ description: 'Where events go.', examples: [{ path: './events' }] }),
});

const checkpointSchema = z.strictObject({
  interval_ms: delayMs()
    .default(60_000)
    .meta({
      description:
        'Milliseconds from one checkpoint to the next. 0: only at the end of a bounded run, and at schema changes.',
      examples: [60_000],
    }),
  min_pause_ms: delayMs()
    .default(500)
    .meta({
      description: 'The least time between the end of a checkpoint and the next one. Milliseconds.',
      examples: [500],
    }),
  timeout_ms: delayMs()
    .min(1)
    .default(600_000)
    .meta({
      description: 'A checkpoint that takes longer fails. Milliseconds.',
      examples: [600_000],
    }),
  max_bytes: z
    .int()
    .min(1)
    .optional()
    .meta({
      description: 'A checkpoint is due, too, when that many bytes of feed have been read.',
      examples: [64 * 1024 * 1024],
    })
    .register(hints, { defaultText: 'no limit by bytes' }),
  max_concurrent: z
    .int()
    .min(1)
    .default(1)
    .meta({ description: 'Checkpoints under way at once.', examples: [1] })
    .register(hints, { unused: true }),
  state_backend: name()
    .default('rocksdb')
    .meta({ description: 'Where a Flink job keeps its state.', examples: ['rocksdb'] })
    .register(hints, { unused: true }),
  state_dir: name()
    .default(`./.lakeward/${PIPELINE_ID}`)
    .meta({
      description: 'The folder of checkpoints and dead letters, a path or a `file:` URI.',
      examples: ['./state'],
    }),
});

const errorHandlingSchema = z.strictObject({
  max_retries: z
    .int()
    .min(0)
    .default(3)
    .meta({
      description: 'Attempts after the first, when a service or device is away.',
      examples: [3],
    }),
  retry_interval_ms: delayMs()
    .default(5000)
    .meta({ description: 'Milliseconds to the first new attempt.', examples: [5000] }),
  dead_letter_enabled: z
    .boolean()
    .default(true)
    .meta({
      description: 'Keep records that cannot be represented, and go on.',
      examples: [false],
    }),
  dead_letter_topic: name()
    .default('cdc-dead-letter')
    .meta({ description: 'A Kafka topic for dead letters.', examples: ['cdc-dead-letter'] })
    .register(hints, { unused: true }),
  skip_corrupted: z
    .boolean()
    .default(false)
    .meta({
      description:
        'Without dead letters: `true` drops and counts such a record, `false` stops the pipeline before it.',
      examples: [true],
    }),
});

/** Letters, digits, `.`, `_`, `-`: the id names a folder and stands in snapshot summaries. */
const ID_PATTERN = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,62}$/u;

export const pipelineSchema = z.strictObject({
  version: z
    .literal(1)
    .default(1)
    .meta({ description: 'The version of the file’s form.', examples: [1] }),
  pipeline_id: z
    .string()
    .regex(ID_PATTERN)
    .meta({
      description:
        'Names the pipeline: in its state folder, in snapshot summaries, in events. Never change it for a running pipeline.',
      examples: ['factory-equipment'],
    })
    .register(hints, {
      expects:
        'a name of at most 63 letters, digits, ".", "_" and "-", beginning with a letter or digit',
    }),
  display_name: z
    .string()
    .default(PIPELINE_ID)
    .meta({ description: 'A name for people.', examples: ['Factory equipment'] }),
  engine: z
    .enum(['embedded', 'flink'])
    .default('embedded')
    .meta({
      description: 'What runs the pipeline. This version has the `embedded` engine.',
      examples: ['embedded'],
    }),
  source: sourceSchema.meta({
    description: 'What is read.',
    examples: [{ source_type: 'debezium_json', path: './feed/*.jsonl' }],
  }),
  processing: processingSchema.prefault({}).meta({
    description: 'What happens to a change on its way.',
    examples: [{ cleansing: { trim: true } }],
  }),
  sink: sinkSchema
    .prefault({})
    .meta({ description: 'Where changes go.', examples: [{ iceberg_warehouse: './warehouse' }] }),
  checkpoint: checkpointSchema.prefault({}).meta({
    description: 'When what was read becomes visible: one snapshot a table a checkpoint.',
    examples: [{ interval_ms: 10_000 }],
  }),
  error_handling: errorHandlingSchema.prefault({}).meta({
    description: 'What happens when something fails.',
    examples: [{ dead_letter_enabled: false }],
  }),
});

/** What a pipeline file, or a program, gives. */
export type PipelineFile = z.input<typeof pipelineSchema>;

/** The same with every default filled in. */
export type CompleteFile = z.output<typeof pipelineSchema>;
