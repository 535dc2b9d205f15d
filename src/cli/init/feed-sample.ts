/** A look at the head of a feed: which tables it has, with which columns, and what may be their keys. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readEnvelopeSchema } from '../../codecs/debezium-schema.ts';
import { readLine, type Envelope, type Image } from '../../codecs/debezium-line.ts';
import type { Column } from '../../model/types.ts';
import { listFiles, type FeedFile } from '../../sources/debezium-files/files.ts';
import { inferColumns } from '../../sources/debezium-files/infer.ts';
import { blocks } from '../../sources/debezium-files/segments.ts';
import { chooseTables, tableName } from '../../sources/debezium-files/tables.ts';
import type { Database } from '../../sql/database.ts';
import { guessKey } from './guess-key.ts';

export interface SampledTable {
  /** `db.table` or `schema.table`. */
  readonly name: string;
  readonly columns: readonly Column[];
  /** Columns whose types the feed itself declares; the others are judged by the values met. */
  readonly isDeclared: boolean;
  readonly key: readonly string[];
  /** Why the key is taken for one. */
  readonly keyReason: string;
  /** Columns of whole numbers that look like epoch milliseconds. */
  readonly instants: readonly string[];
  readonly changes: number;
}

export interface FeedSample {
  readonly files: number;
  readonly lines: number;
  /** Lines that are no envelopes. */
  readonly odd: number;
  readonly tables: readonly SampledTable[];
}

const FILES_MAX = 8;
const BYTES_MAX = 2 << 20;
/** Of a table, so many rows decide. */
const ROWS_MAX = 2000;

interface Met {
  readonly rows: Image[];
  /** Before images of deletes. */
  readonly removed: Image[];
  columns: readonly Column[] | null;
  changes: number;
}

/**
 * Reads the first megabytes of the first files.
 * @param nameless what a table is called whose rows do not say it
 * @throws E_SOURCE_PATH, E_SOURCE_READ
 */
export async function sampleFeed(
  path: string,
  nameless: string,
  scratch: { readonly db: Database; readonly dir: string },
): Promise<FeedSample> {
  const files = (await listFiles(path)).filter(({ bytes }) => bytes > 0);
  const heads: Buffer[] = [];
  for (const file of files.slice(0, FILES_MAX)) heads.push(await headOf(file));
  const met = new Map<string, Met>();
  let lines = 0;
  let odd = 0;
  for (const bytes of heads.flatMap(linesOf)) {
    const result = readLine(bytes);
    if (result.kind === 'tombstone') continue;
    lines += 1;
    if (result.kind === 'error') odd += 1;
    if (result.kind === 'envelope')
      meet(met, tableName(result.envelope.table) ?? nameless, result.envelope);
  }
  const inferred = await infer(heads, nameless, scratch);
  const tables = [...met].flatMap(([name, table]) =>
    sampled(name, table, inferred.get(name) ?? []),
  );
  return { files: files.length, lines, odd, tables };
}

async function headOf(file: FeedFile): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const block of blocks(file, 0, BYTES_MAX)) parts.push(Buffer.from(block));
  const head = Buffer.concat(parts);
  // The last line may be cut; alone, it is all there is.
  const end = head.length < BYTES_MAX ? head.length : head.lastIndexOf(10) + 1;
  return head.subarray(0, end === 0 ? head.length : end);
}

function linesOf(head: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (let at = 0; at < head.length;) {
    const end = head.indexOf(10, at);
    lines.push(head.subarray(at, end === -1 ? head.length : end));
    at = end === -1 ? head.length : end + 1;
  }
  return lines;
}

function meet(met: Map<string, Met>, name: string, { op, before, after, schema }: Envelope): void {
  if (op === 'm' || op === 't') return;
  const table = met.get(name) ?? { rows: [], removed: [], columns: null, changes: 0 };
  met.set(name, table);
  table.changes += 1;
  if (table.columns === null && schema !== null)
    table.columns = readEnvelopeSchema(schema)?.columns ?? null;
  if (after !== null && (op === 'c' || op === 'r') && table.rows.length < ROWS_MAX)
    table.rows.push(after);
  if (op === 'd' && before !== null && table.removed.length < ROWS_MAX) table.removed.push(before);
}

async function infer(
  heads: readonly Buffer[],
  nameless: string,
  { db, dir }: { readonly db: Database; readonly dir: string },
) {
  const paths = heads.map((_, i) => join(dir, `head-${i}.jsonl`));
  for (const [i, path] of paths.entries()) await writeFile(path, heads[i] ?? '');
  const choice = chooseTables({ tables: [], mapping: null, mapped: [] });
  const only = { table: nameless, columns: null, needed: null, key: [] };
  return paths.length === 0
    ? new Map<string, readonly Column[]>()
    : await inferColumns(db, paths, { ...choice, only });
}

function sampled(name: string, table: Met, inferred: readonly Column[]): readonly SampledTable[] {
  const columns = table.columns ?? inferred;
  if (columns.length === 0) return [];
  const { key, reason } = guessKey(
    name,
    columns.map((column) => column.name),
    table,
  );
  const instants = columns
    .filter(({ type, from }) => type === 'long' && from === undefined)
    .map((column) => column.name)
    .filter((column) => looksLikeInstant(column, table.rows));
  return [
    {
      name,
      columns,
      isDeclared: table.columns !== null,
      key,
      keyReason: reason,
      instants,
      changes: table.changes,
    },
  ];
}

const TIME_WORDS =
  /(?:^|_)(?:at|on|ts|time|date|datetime|timestamp|created|updated|modified|deleted)$|At$|Time$|Date$/u;

/** Named like a time, and all values are milliseconds of the years 1990 to 2100. */
function looksLikeInstant(column: string, rows: readonly Image[]): boolean {
  if (!TIME_WORDS.test(column)) return false;
  const values = rows.flatMap((row) => row.get(column) ?? []);
  return (
    values.length > 0 &&
    values.every((text) => Number(text) > 631_152_000_000 && Number(text) < 4_102_444_800_000)
  );
}
