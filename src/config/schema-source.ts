/** The `source` block of a pipeline file. */
import { z } from 'zod';
import { ENCODINGS, TYPE_PATTERN } from './column-type.ts';
import { hints, name } from './hints.ts';

export const SOURCE_TYPES = [
  'mysql',
  'mariadb',
  'postgresql',
  'oracle',
  'mongodb',
  'sqlserver',
  'debezium_json',
  'debezium_avro',
  'kafka',
] as const;

const STARTUP_MODES = [
  'initial',
  'earliest',
  'latest-offset',
  'timestamp',
  'specific-offset',
  'snapshot-only',
] as const;

const MIB = 1024 * 1024;
const TYPE_HINT = { expects: 'a type word', typeWord: true } as const;

const typeWord = (): z.ZodString => z.string().regex(TYPE_PATTERN);

const columnSchema = z.union([
  typeWord().register(hints, TYPE_HINT),
  z.strictObject({
    type: typeWord()
      .meta({
        description: 'The column type, an Iceberg type word.',
        examples: ['timestamptz', 'decimal(18,2)'],
      })
      .register(hints, TYPE_HINT),
    from: z
      .enum(ENCODINGS)
      .optional()
      .meta({
        description:
          'How the feed encodes the value, where its JSON form alone does not say it. Without it a number is never taken for a date, a time or bytes.',
        examples: ['epoch_ms'],
      }),
  }),
]);

const tableObject = z.strictObject({
  table: name().meta({
    description:
      'The table: `db.table`, or `schema.table` where the envelope names a schema. `*` stands for any characters.',
    examples: ['shop.orders'],
  }),
  primary_key: z
    .array(name())
    .min(1)
    .optional()
    .meta({
      description: 'The key columns, in key order. Needed unless a mapping covers the table.',
      examples: [['id']],
    }),
  columns: z
    .record(z.string(), columnSchema)
    .optional()
    .meta({
      description:
        'Columns and their types, in table order: a type word, or `{type, from}`. What it leaves out is not mirrored. Without it, columns come from the schema part of the feed, or are inferred over the first checkpoint with a warning.',
      examples: [
        { id: 'long', price: 'decimal(18,2)', paid_at: { type: 'timestamptz', from: 'epoch_ms' } },
      ],
    }),
});

const feedKeys = {
  path: name()
    .optional()
    .meta({
      description:
        'The feed: a file, a folder or a glob; gzip and zstd are recognised. Files are read by name, lines by place. Needed for `debezium_json`.',
      examples: ['./feed/*.jsonl.gz'],
    }),
  watch: z
    .boolean()
    .default(false)
    .meta({
      description: 'Follow growing and new files instead of ending at the end of the feed.',
      examples: [true],
    }),
  tables: z
    .array(z.union([name(), tableObject]))
    .min(1)
    .optional()
    .meta({
      description:
        'The tables to take: names, patterns with `*`, or `{table, primary_key, columns}`. Other tables of the feed are skipped.',
      examples: [['shop.orders'], [{ table: 'shop.orders', primary_key: ['id'] }]],
    })
    .register(hints, { defaultText: 'every table of the feed' }),
  on_truncate: z
    .enum(['apply', 'ignore', 'dead_letter', 'stop'])
    .default('apply')
    .meta({
      description:
        'What a truncate (`op: t`) of a source table does: empty the table on the lake, nothing, keep the record as a dead letter, or stop the pipeline before it.',
      examples: ['dead_letter'],
    }),
  max_line_bytes: z
    .int()
    .min(1)
    .max(2_147_483_647)
    .default(64 * MIB)
    .meta({
      description: 'A longer line is a data error (`E_LINE_TOO_LONG`). Bytes.',
      examples: [64 * MIB],
    }),
  max_nesting: z
    .int()
    .min(1)
    .max(10_000)
    .default(512)
    .meta({
      description: 'A line that is nested deeper is a data error (`E_LINE_NESTING`). Levels.',
      examples: [512],
    }),
};

const startupKeys = {
  startup_mode: z
    .enum(STARTUP_MODES)
    .default('initial')
    .meta({
      description:
        'Where the first run begins; later runs go on from the last checkpoint. `debezium_json` reads a feed from its start: `initial` and `earliest` mean the same there, the others are refused.',
      examples: ['initial'],
    }),
  startup_timestamp: z
    .int()
    .min(0)
    .optional()
    .meta({
      description: 'The start for `startup_mode: timestamp`. Epoch milliseconds.',
      examples: [1_711_267_200_000],
    })
    .register(hints, { unused: true }),
};

const connectionKeys = {
  hostname: name()
    .optional()
    .meta({ description: 'The host of the database.', examples: ['db.example.com'] })
    .register(hints, { unused: true }),
  port: z
    .int()
    .min(1)
    .max(65_535)
    .optional()
    .meta({ description: 'The port of the database.', examples: [3306] })
    .register(hints, { unused: true }),
  database: z
    .string()
    .optional()
    .meta({ description: 'The database to read.', examples: ['shop'] })
    .register(hints, { unused: true }),
  username: z
    .string()
    .optional()
    .meta({ description: 'The user that reads the database.', examples: ['cdc_reader'] })
    .register(hints, { unused: true }),
  password_secret_ref: z
    .string()
    .optional()
    .meta({
      description: 'The name of the secret that holds the password. Never printed.',
      examples: ['mysql-credentials'],
    })
    .register(hints, { unused: true, secret: true }),
  server_id: z
    .int()
    .min(1)
    .max(4_294_967_295)
    .optional()
    .meta({ description: 'MySQL: the replica id to read the binlog with.', examples: [5401] })
    .register(hints, { unused: true }),
  slot_name: z
    .string()
    .optional()
    .meta({ description: 'PostgreSQL: the replication slot.', examples: ['lakeward_shop'] })
    .register(hints, { unused: true }),
};

export const sourceSchema = z.strictObject({
  source_type: z.enum(SOURCE_TYPES).meta({
    description:
      'What is read. This version reads `debezium_json`: files of Debezium envelopes, one JSON object a line.',
    examples: ['debezium_json'],
  }),
  ...feedKeys,
  ...startupKeys,
  ...connectionKeys,
});
