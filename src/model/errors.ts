/**
 * Every error a user can meet, with its kind, its meaning and the next step. `docs/reference/errors.md` is generated
 * from this table. A message says what was found and where; it never holds a cell's value or a secret.
 */
export type ErrorKind =
  | 'config' // the user must change something: stop
  | 'unavailable' // a service or device is away or full: retry with backoff, then stop
  | 'conflict' // another writer won, or the store is stale: reload once, then stop
  | 'data' // this record cannot be represented: dead letter, skip or stop, as error_handling says
  | 'lost' // source history is gone: stop, advise
  | 'bug'; // an assertion failed: stop at once

interface Entry {
  readonly kind: ErrorKind;
  readonly meaning: string;
  readonly advice: string;
}

const entry = (kind: ErrorKind, meaning: string, advice: string): Entry => ({
  kind,
  meaning,
  advice,
});

export const ERRORS = {
  // configuration
  E_CONFIG_SYNTAX: entry(
    'config',
    'The pipeline file is not valid YAML or JSON.',
    'Mend the place that the message names.',
  ),
  E_CONFIG_UNKNOWN_KEY: entry(
    'config',
    'A key of the pipeline file is not known.',
    'Take the suggested name, or remove the key.',
  ),
  E_CONFIG_VALUE: entry(
    'config',
    'A value of the pipeline file is missing or not allowed.',
    'Give a value that the message allows.',
  ),
  E_CONFIG_SECRET: entry(
    'config',
    'A secret or variable that the file refers to cannot be resolved.',
    'Set the variable, or create the file that it names.',
  ),
  E_CONFIG_UNSUPPORTED: entry(
    'config',
    'This version cannot do what the setting asks for.',
    'Take one of the values that the message names.',
  ),
  E_CONFIG_FILE: entry(
    'config',
    'The pipeline file cannot be read.',
    'Check the path and its permissions.',
  ),
  E_CONFIG_SQL: entry(
    'config',
    'A filter or a route predicate is not a valid SQL expression over the columns of its table.',
    'Mend the expression; quote names with double quotes.',
  ),
  E_TABLE_NO_KEY: entry(
    'config',
    'A table has neither a key nor a mapping, so its rows cannot be written by key.',
    'Add `primary_key: [column]` to the table under `source.tables`.',
  ),
  E_TABLE_UNKNOWN: entry(
    'config',
    'Rows carry no table name and more than one table is configured.',
    'Configure exactly one table, or let the feed carry its `source` block.',
  ),
  E_COLUMN_UNKNOWN: entry(
    'config',
    'A mapping, key, filter or route names a column that the table does not have.',
    'Take one of the columns that the message names.',
  ),
  E_TARGET_MISMATCH: entry(
    'config',
    'Two mappings write to one table with different columns, or a table on the lake has other columns than the pipeline.',
    'Give one of them another `target_table`, or make the columns agree.',
  ),
  E_KEY_TYPE: entry(
    'config',
    'A key column has a type that cannot be a key (float, double).',
    'Give the key column an exact type, such as decimal or string.',
  ),
  // data
  E_LINE_JSON: entry(
    'data',
    'The line is not one JSON object.',
    'Mend the producer; replay the line once it is readable.',
  ),
  E_LINE_UTF8: entry('data', 'The line is not valid UTF-8.', 'Let the producer write UTF-8.'),
  E_LINE_TOO_LONG: entry(
    'data',
    'The line is longer than `source.max_line_bytes`.',
    'Raise the limit, or shorten the record.',
  ),
  E_LINE_NESTING: entry(
    'data',
    'The line is nested deeper than `source.max_nesting`.',
    'Raise the limit, or flatten the record.',
  ),
  E_LINE_DUPLICATE_FIELD: entry(
    'data',
    'A JSON object of the line holds one field name twice.',
    'Mend the producer: which of the two holds is unknown.',
  ),
  E_ENVELOPE_OP: entry(
    'data',
    'The envelope has no `op`, or one that is not c, r, u, d, t or m.',
    'Check that the feed holds Debezium envelopes.',
  ),
  E_ENVELOPE_AFTER: entry(
    'data',
    'A create, read or update has no `after` object.',
    'Check the producer.',
  ),
  E_ENVELOPE_BEFORE: entry(
    'data',
    'A delete has no `before` object, so its key is unknown.',
    'Give the table a replica identity that carries the key.',
  ),
  E_ENVELOPE_TABLE: entry(
    'data',
    'The envelope does not say which table it belongs to.',
    'Let the feed carry its `source` block, or configure exactly one table.',
  ),
  E_KEY_MISSING: entry(
    'data',
    'A key column is missing or null.',
    'Check the key of the table in the pipeline file.',
  ),
  E_NULL_NOT_ALLOWED: entry(
    'data',
    'A property that is `nullable: false` is null.',
    'Give the field mapping a `default_value`, or mend the record.',
  ),
  E_VALUE_BOOLEAN: entry(
    'data',
    'The value is not one of the known booleans.',
    'Mend the record, or mirror the column as string.',
  ),
  E_VALUE_INTEGER: entry(
    'data',
    'The value is not a whole number.',
    'Mend the record, or give the column a decimal or string type.',
  ),
  E_VALUE_RANGE: entry(
    'data',
    'The number does not fit the type of its column.',
    'Give the column a wider type.',
  ),
  E_VALUE_NUMBER: entry(
    'data',
    'The value is not a number.',
    'Mend the record, or mirror the column as string.',
  ),
  E_VALUE_DECIMAL: entry(
    'data',
    'The decimal has more digits than its column.',
    'Give the column a larger precision or scale: nothing is rounded.',
  ),
  E_VALUE_DATE: entry('data', 'The value is not a date.', 'Say `from:` how it is encoded.'),
  E_VALUE_TIME: entry('data', 'The value is not a time of day.', 'Say `from:` how it is encoded.'),
  E_VALUE_TIMESTAMP: entry(
    'data',
    'The value is not a timestamp.',
    'Say `from:` how it is encoded, for example `from: epoch_ms`.',
  ),
  E_VALUE_UUID: entry('data', 'The value is not a UUID.', 'Mirror the column as string.'),
  E_VALUE_BINARY: entry(
    'data',
    'The value is not base64, or its length is not that of the column.',
    'Check the binary handling of the producer.',
  ),
  E_VALUE_UNAVAILABLE: entry(
    'data',
    'The source left out a large unchanged value (`__debezium_unavailable_value`).',
    'Give the table REPLICA IDENTITY FULL, so that the log carries it.',
  ),
  E_TRUNCATE: entry(
    'data',
    'The source table was truncated, and `on_truncate: dead_letter` holds it back.',
    'Empty the table by hand, or set `on_truncate: apply`.',
  ),
  E_TRUNCATE_SHARED: entry(
    'data',
    'A source table was truncated whose target holds rows of other tables too.',
    'Give it a target of its own, or delete its rows by hand.',
  ),
  // source and state
  E_SOURCE_PATH: entry(
    'config',
    'No file matches `source.path`.',
    'Check the path; relative paths start at the pipeline file.',
  ),
  E_SOURCE_READ: entry(
    'unavailable',
    'A feed file cannot be read.',
    'Check that the file exists, is readable and is not damaged.',
  ),
  E_SOURCE_CHANGED: entry(
    'lost',
    'A feed file that was read before is gone, shorter or another file now.',
    'Put the file back, or start with a new `pipeline_id` and state folder.',
  ),
  E_SOURCE_TRUNCATED_TABLE: entry(
    'data',
    'The source table was truncated, and `on_truncate: stop` holds the pipeline.',
    'Set `on_truncate: apply` to empty the table, and run again.',
  ),
  E_PIPELINE_LOCKED: entry(
    'conflict',
    'Another process runs this pipeline.',
    'Stop it first; one process is the only writer of a pipeline.',
  ),
  E_STATE_VERSION: entry(
    'config',
    'The state folder was written by a newer version of Lakeward.',
    'Run that version, or start with a new `pipeline_id`.',
  ),
  E_STATE_DAMAGED: entry(
    'lost',
    'The state folder cannot be read.',
    'Restore it from a backup, or start with a new `pipeline_id`.',
  ),
  E_STATE_STALE: entry(
    'lost',
    'The table carries a newer checkpoint of this pipeline than the state folder.',
    'The state folder was restored from an old backup: put the latest one back.',
  ),
  E_STATE_WRITE: entry(
    'unavailable',
    'The state folder cannot be written.',
    'Check its permissions and the free space.',
  ),
  // sinks
  E_WAREHOUSE_WRITE: entry(
    'unavailable',
    'The warehouse cannot be written.',
    'Check its permissions and the free space.',
  ),
  E_TABLE_METADATA: entry(
    'lost',
    'The metadata of a table cannot be read.',
    'Check the table with another reader; restore it from a backup.',
  ),
  E_COMMIT_CONFLICT: entry(
    'conflict',
    'Other writers changed the table at every attempt to commit.',
    'Stop the other writers, or commit less often.',
  ),
  E_TABLE_GONE: entry(
    'lost',
    'A table that this pipeline has written is not in the warehouse any more.',
    'Put it back from a backup, or start with a new `pipeline_id` to write it anew.',
  ),
  E_TABLE_FOREIGN: entry(
    'conflict',
    'The table exists and was not made by this pipeline in this form.',
    'Choose another `target_table` or namespace, or remove the table.',
  ),
  E_EVENTS_WRITE: entry(
    'unavailable',
    'The event log cannot be written.',
    'Check the permissions of its folder and the free space.',
  ),
  E_MEMORY: entry(
    'unavailable',
    'The engine has no memory or disk left for this checkpoint.',
    'Set `checkpoint.max_bytes` lower, or free space in the state folder.',
  ),
  E_CHECKPOINT_TIMEOUT: entry(
    'unavailable',
    'A checkpoint took longer than `checkpoint.timeout_ms`.',
    'Raise the limit, or find what is slow.',
  ),
  E_QUERY: entry(
    'config',
    'The query cannot be run.',
    'Mend the SQL; `lakeward catalog tables` lists the tables.',
  ),
  E_NOT_FOUND: entry('config', 'What the command names does not exist.', 'Check the name.'),
  E_USAGE: entry('config', 'The command line is not understood.', 'See `lakeward --help`.'),
  E_BUG: entry(
    'bug',
    'An assertion of Lakeward failed.',
    'Please report it, with the message and the state folder kept.',
  ),
} as const satisfies Record<string, Entry>;

export type ErrorCode = keyof typeof ERRORS;

/** Where an error lies, as far as known. Never holds a value. */
export interface Subject {
  readonly file?: string;
  /** From 1. */
  readonly line?: number;
  /** Column of a text file from 1, or the name of a table's column. */
  readonly column?: number | string;
  readonly byte?: number;
  readonly table?: string;
  readonly pipeline?: string;
}

export class PipelineError extends Error {
  readonly code: ErrorCode;
  readonly kind: ErrorKind;
  readonly subject: Subject;
  constructor(
    code: ErrorCode,
    message: string,
    options: { subject?: Subject; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'PipelineError';
    this.code = code;
    this.kind = ERRORS[code].kind;
    this.subject = options.subject ?? {};
  }
  /** What to do next. */
  get advice(): string {
    return ERRORS[this.code].advice;
  }
}

export function isPipelineError(error: unknown, code?: ErrorCode): error is PipelineError {
  return error instanceof PipelineError && (code === undefined || error.code === code);
}

/** @throws E_BUG */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new PipelineError('E_BUG', message);
}
