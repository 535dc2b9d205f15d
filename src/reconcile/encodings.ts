/**
 * How the values of a table are encoded, as the schema part of a `{schema,payload}` line says it: the names of
 * Kafka Connect's and Debezium's logical types. Read from the first line of the table that has one.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import { raw, sql } from '../sql/sql.ts';
import { literalPath } from './envelope-sql.ts';
import type { Encoding } from '../model/types.ts';

const BY_NAME: Readonly<Record<string, Encoding>> = {
  'io.debezium.time.Date': 'epoch_day',
  'io.debezium.time.Time': 'ms_of_day',
  'io.debezium.time.MicroTime': 'us_of_day',
  'io.debezium.time.NanoTime': 'ns_of_day',
  'io.debezium.time.Timestamp': 'epoch_ms',
  'io.debezium.time.MicroTimestamp': 'epoch_us',
  'io.debezium.time.NanoTimestamp': 'epoch_ns',
  'io.debezium.time.ZonedTimestamp': 'iso',
  'org.apache.kafka.connect.data.Date': 'epoch_day',
  'org.apache.kafka.connect.data.Time': 'ms_of_day',
  'org.apache.kafka.connect.data.Timestamp': 'epoch_ms',
  'org.apache.kafka.connect.data.Decimal': 'base64',
};

/** By column name; empty where the feed carries no schema for the table. */
export async function encodingsOf(
  connection: DuckDBConnection,
  files: readonly string[],
  table: string,
): Promise<ReadonlyMap<string, Encoding>> {
  for (const file of files) {
    const schema = await firstSchema(connection, file, table);
    if (schema !== null) return encodings(schema);
  }
  return new Map();
}

async function firstSchema(
  connection: DuckDBConnection,
  file: string,
  table: string,
): Promise<string | null> {
  const name = raw(
    `coalesce(payload.source."schema", payload.source."db") || '.' || payload.source."table"`,
  );
  const reader = await connection.runAndReadAll(
    sql`SELECT "schema" FROM read_json(${literalPath(file)}, format='newline_delimited', ignore_errors=true,
        columns={"schema": 'JSON', "payload": 'STRUCT(source STRUCT(db VARCHAR, "schema" VARCHAR, "table" VARCHAR))'})
      WHERE "schema" IS NOT NULL AND json_type("schema") = 'OBJECT' AND ${name} = ${table} LIMIT 1`
      .text,
  );
  const text = reader.getRows()[0]?.[0];
  return typeof text === 'string' ? text : null;
}

interface SchemaField {
  readonly field?: string;
  readonly type?: string;
  readonly name?: string;
  readonly fields?: readonly SchemaField[];
}

function encodings(text: string): ReadonlyMap<string, Encoding> {
  const schema = JSON.parse(text) as SchemaField;
  const image =
    schema.fields?.find(({ field }) => field === 'after') ??
    schema.fields?.find(({ field }) => field === 'before');
  const found = new Map<string, Encoding>();
  for (const { field, type, name } of image?.fields ?? []) {
    const encoding = BY_NAME[name ?? ''] ?? (type === 'bytes' ? 'base64' : undefined);
    if (field !== undefined && encoding !== undefined) found.set(field, encoding);
  }
  return found;
}
