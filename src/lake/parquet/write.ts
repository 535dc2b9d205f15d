import type { DuckDBConnection } from '@duckdb/node-api';
import { assert, PipelineError } from '../../model/errors.ts';
import { id, join, sql, type Sql } from '../../sql/sql.ts';
import { ensureFolderOf, localPath, localStore, syncFile } from '../../storage/local.ts';
import type { DataFile } from '../iceberg/data-file.ts';
import { canonicalType, sqlType, whyNoKey } from '../iceberg/schema.ts';
import type { ParquetColumn } from './column.ts';
import { copyFigures, type CopyFigures } from './copy-figures.ts';
import { measureColumns } from './metrics.ts';

/** Metrics are kept of this many columns, the first ones (`write.metadata.metrics.max-inferred-column-defaults`). */
const METRIC_COLUMNS = 100;

export interface ParquetFile {
  /** Gives the rows. It runs twice and has to give the same rows, so it reads a table or a view over one. */
  readonly select: Sql;
  /** The columns of `select`, all of them, in its order. */
  readonly columns: readonly ParquetColumn[];
  /** A location on the local file system that nothing has yet. */
  readonly path: string;
  readonly kind: 'data' | 'equality';
  /** Field ids that identify the rows to delete; for `equality` only. */
  readonly equalityIds?: readonly number[];
  /** The table's unpartitioned spec; 0 where it is left out. */
  readonly specId?: number;
}

/**
 * Encodes rows as one Parquet file with Iceberg field ids, durable when the promise resolves. Null, and no file, where
 * there are no rows.
 * @throws E_WAREHOUSE_WRITE, E_MEMORY, E_NULL_NOT_ALLOWED for a null in a required column, E_VALUE_BINARY for a fixed value of
 * another length, E_KEY_TYPE for a delete by a column that cannot be a key; nothing is left behind
 */
export async function writeParquet(
  connection: DuckDBConnection,
  file: ParquetFile,
): Promise<DataFile | null> {
  assert(
    (file.kind === 'equality') === (file.equalityIds ?? []).length > 0,
    'equality ids belong to equality files',
  );
  checkKey(file);
  await checkTypes(connection, file);
  await ensureFolderOf(file.path);
  try {
    const figures = await copy(connection, file);
    if (figures.rows === 0) {
      await localStore.remove(file.path);
      return null;
    }
    checkNulls(file, figures);
    const record = await describe(connection, file, figures);
    await syncFile(file.path);
    return record;
  } catch (error) {
    await localStore.remove(file.path).catch(() => {}); // best effort: the first error is the one to tell
    throw error;
  }
}

function checkKey(file: ParquetFile): void {
  for (const fieldId of file.equalityIds ?? []) {
    const column = file.columns.find((c) => c.fieldId === fieldId);
    assert(column !== undefined, `${file.path} lacks the field ${fieldId} that it compares`);
    const why = whyNoKey(column.type);
    if (why === null) continue;
    throw new PipelineError('E_KEY_TYPE', `The key column ${JSON.stringify(column.name)} ${why}`, {
      subject: { column: column.name },
    });
  }
}

// A column of another type would be encoded as that type: readers would fail on the file, or misread it.
async function checkTypes(connection: DuckDBConnection, file: ParquetFile): Promise<void> {
  const reader = await connection.runAndReadAll(sql`DESCRIBE ${file.select}`.text);
  const found = reader
    .getRowObjects()
    .map((row) => `${String(row['column_name'])} ${String(row['column_type'])}`);
  const expected = file.columns.map((c) => `${c.name} ${describedType(c)}`);
  const at = expected.findIndex((column, i) => column !== found[i]);
  const same = at === -1 && found.length === expected.length;
  assert(
    same,
    `${file.path}: column ${at + 1} is ${found[at] ?? 'missing'}, not ${expected[at] ?? 'expected'}`,
  );
}

function describedType(column: ParquetColumn): string {
  assert(typeof column.type === 'string', `${column.name} is nested, which cannot be written`);
  const type = sqlType(column.type).text;
  return type === 'TIMESTAMPTZ' ? 'TIMESTAMP WITH TIME ZONE' : type;
}

// Parquet's second version has encodings that the reference reader's vectorised path does not know.
async function copy(connection: DuckDBConnection, file: ParquetFile): Promise<CopyFigures> {
  const fieldIds = file.columns.map((c) => sql`${id(c.name)}: ${c.fieldId}`);
  const statement = sql`COPY (${file.select}) TO ${localPath(file.path)} (
    FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v1, RETURN_STATS,
    FIELD_IDS {${join(fieldIds)}},
    KV_METADATA {${join(keyValues(file).map(([key, value]) => sql`${id(key)}: ${value}`))}})`;
  try {
    return copyFigures(await connection.runAndReadAll(statement.text), file.columns);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    if (message.startsWith('Out of Memory Error'))
      throw new PipelineError('E_MEMORY', message, { cause });
    if (!message.startsWith('IO Error')) throw cause;
    const path = localPath(file.path);
    throw new PipelineError('E_WAREHOUSE_WRITE', `${path} cannot be written: ${message}`, {
      subject: { file: path },
      cause,
    });
  }
}

// What the reference implementation puts into its files (Iceberg, Parquet file metadata); some readers insist on it.
function keyValues(file: ParquetFile): readonly (readonly [string, string])[] {
  const fields = file.columns.map((c) => ({
    id: c.fieldId,
    name: c.name,
    required: c.required,
    type: canonicalType(c.type),
  }));
  const schema = [
    'iceberg.schema',
    JSON.stringify({ type: 'struct', 'schema-id': 0, fields }),
  ] as const;
  if (file.kind === 'data') return [schema];
  return [
    schema,
    ['delete-type', 'equality'],
    ['delete-field-ids', (file.equalityIds ?? []).join(',')],
  ];
}

function checkNulls(file: ParquetFile, figures: CopyFigures): void {
  const wrong = file.columns.find((c) => c.required && figures.nullColumns.has(c.name));
  if (wrong === undefined) return;
  throw new PipelineError(
    'E_NULL_NOT_ALLOWED',
    `The required column ${JSON.stringify(wrong.name)} holds nulls`,
    {
      subject: { column: wrong.name },
    },
  );
}

async function describe(
  connection: DuckDBConnection,
  file: ParquetFile,
  figures: CopyFigures,
): Promise<DataFile> {
  const measured = file.columns.slice(0, METRIC_COLUMNS);
  const { rows, metrics } = await measureColumns(connection, file.select, measured);
  assert(
    rows === figures.rows,
    `${file.path}: ${figures.rows} rows were written and ${rows} measured`,
  );
  const sizes = measured.flatMap((c) => {
    const bytes = figures.columnBytes.get(c.name);
    return bytes === undefined ? [] : [[c.fieldId, bytes] as const];
  });
  return {
    content: file.kind,
    path: file.path,
    format: 'PARQUET',
    specId: file.specId ?? 0,
    partition: new Map(),
    recordCount: rows,
    fileSizeBytes: figures.fileBytes,
    metrics: { columnSizes: new Map(sizes), ...metrics },
    keyMetadata: null,
    splitOffsets: [4],
    equalityIds: file.kind === 'equality' ? [...(file.equalityIds ?? [])] : null,
    sortOrderId: 0,
    referencedDataFile: null,
  };
}
