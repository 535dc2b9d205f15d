/** What is known of the feed so far: the forms of its lines, its connector, and the columns of its tables. */
import { readLine } from '../../codecs/debezium-line.ts';
import { readEnvelopeSchema } from '../../codecs/debezium-schema.ts';
import { PipelineError } from '../../model/errors.ts';
import type { Column } from '../../model/types.ts';
import type { Database } from '../../sql/database.ts';
import { inferColumns } from './infer.ts';
import type { KnownTable, Shape } from './landing.ts';
import { linesOf } from './lines.ts';
import type { Segment } from './segments.ts';
import { mergeColumns, tableName, type TableChoice, type Wanted } from './tables.ts';

export interface Prepared {
  readonly shape: Shape;
  /** The one table that the engine may read straight from the files; null: land first, then look. */
  readonly inline: KnownTable | null;
  readonly startsSchema: boolean;
  readonly warnings: readonly string[];
}

const SNIFF_LINES = 20;
const SNIFF_BYTES = 1 << 20;

export class Shapes {
  readonly #db: Database;
  readonly #choice: TableChoice;
  readonly #needsBefore: boolean;
  readonly #tables = new Map<string, KnownTable>();
  readonly #bySchema = new Map<string, readonly Column[] | null>();
  readonly #schemaIds = new Map<string, string>();
  readonly #news = new Set<string>();
  #isBare = false;
  #isWrapped = false;
  #connector: string | null = null;

  constructor(options: { db: Database; choice: TableChoice; needsBefore: boolean }) {
    this.#db = options.db;
    this.#choice = options.choice;
    this.#needsBefore = options.needsBefore;
  }

  get columns(): Readonly<Record<string, readonly Column[]>> {
    return Object.fromEntries([...this.#tables].map(([name, table]) => [name, table.columns]));
  }

  restore(columns: Readonly<Record<string, readonly Column[]>>): void {
    for (const [name, list] of Object.entries(columns)) {
      const wanted = this.#choice.of(name);
      if (wanted !== null) this.#tables.set(name, known(wanted, wanted.columns ?? list));
    }
  }

  table(name: string): KnownTable | null {
    return this.#tables.get(name) ?? null;
  }

  /** A small number for the text of a schema part, as text. */
  readonly schemaId = (schema: string): string => {
    const id = this.#schemaIds.get(schema) ?? String(this.#schemaIds.size + 1);
    this.#schemaIds.set(schema, id);
    return id;
  };

  /** Learns what can be known before a segment is read. @throws E_TABLE_NO_KEY, E_COLUMN_UNKNOWN, E_TARGET_MISMATCH */
  async prepare(segment: Segment): Promise<Prepared> {
    const warnings: string[] = [];
    this.#news.clear();
    await this.#sniff(segment);
    for (const wanted of this.#choice.closed ?? []) this.#learn(wanted, wanted.columns ?? []);
    let startsSchema = false;
    if (this.#isBare && this.#hasToInfer()) {
      for (const [name, columns] of await inferColumns(this.#db, segment.paths, this.#choice)) {
        const wanted = this.#choice.of(name);
        if (wanted === null) continue;
        const before = this.#tables.get(name);
        const isNew = this.#learn(
          wanted,
          wanted.columns ?? inferred(before?.columns ?? null, columns, wanted),
        );
        if (before !== undefined) startsSchema ||= isNew;
        if (isNew && wanted.columns === null)
          warnings.push(inferenceWarning(name, this.#tables.get(name)?.columns ?? []));
      }
    }
    const only = this.#choice.only;
    const inline =
      !this.#isWrapped && only !== null ? (this.#tables.get(only.table) ?? null) : null;
    return { shape: this.shape(), inline, startsSchema, warnings };
  }

  // Once the columns that a mapping needs are known, others do not matter; a mirror takes in each new one.
  #hasToInfer(): boolean {
    const { closed, only } = this.#choice;
    return (
      closed === null && (only === null || only.needed === null || !this.#tables.has(only.table))
    );
  }

  shape(): Shape {
    const tables = [...this.#tables.values()];
    const names = [...new Set(tables.flatMap((t) => t.columns.map((c) => c.name)))];
    refuseCaseTwins(names);
    const keys = new Set(tables.flatMap((t) => t.key));
    const beforeNames = this.#needsBefore ? names : names.filter((name) => keys.has(name));
    const isBare = this.#isBare || !this.#isWrapped;
    // A struct has at least one field; a feed of which nothing is known yet still has to be looked at.
    const some = names.length > 0 ? names : ['_'];
    return {
      names: some,
      beforeNames: beforeNames.length > 0 ? beforeNames : some.slice(0, 1),
      isBare,
      isWrapped: this.#isWrapped,
      connector: this.#connector,
    };
  }

  /** The columns that a schema part gives to a table, by an id of the part's text; reads the part once. */
  columnsOf(table: string, id: string, schema: () => string | null): readonly Column[] | null {
    const wanted = this.#choice.of(table);
    if (wanted === null) return null;
    if (wanted.columns !== null) return wanted.columns;
    const cacheKey = `${table}\n${id}`;
    let columns = this.#bySchema.get(cacheKey);
    if (columns === undefined) {
      const text = schema();
      const found = text === null ? null : (readEnvelopeSchema(text)?.columns ?? null);
      columns = found === null ? null : narrowed(found, wanted);
      this.#bySchema.set(cacheKey, columns);
    }
    return columns;
  }

  /** Takes columns in; true where they made the table's columns others than before this segment. */
  learn(table: string, columns: readonly Column[]): boolean {
    const wanted = this.#choice.of(table);
    const news = `${table}\n${JSON.stringify(columns)}`;
    if (wanted !== null && this.#learn(wanted, columns)) this.#news.add(news);
    return this.#news.has(news);
  }

  #learn(wanted: Wanted, columns: readonly Column[]): boolean {
    const before = this.#tables.get(wanted.table);
    const merged =
      before === undefined ? columns : mergeColumns(wanted.table, before.columns, columns);
    if (before !== undefined && JSON.stringify(before.columns) === JSON.stringify(merged))
      return false;
    this.#tables.set(wanted.table, known(wanted, merged));
    return true;
  }

  async #sniff(segment: Segment): Promise<void> {
    const [piece] = segment.pieces;
    if (piece === undefined) return;
    let lines = 0;
    for await (const line of linesOf({
      ...piece,
      line: 0,
      bytes: Math.min(piece.bytes, SNIFF_BYTES),
    })) {
      if (lines >= SNIFF_LINES) break;
      lines += 1;
      this.look(line.bytes, line.byte === 0);
    }
  }

  /** Learns from one line: its form, its connector, and its table's columns where it carries them. */
  look(bytes: Uint8Array, isFileStart: boolean): void {
    const result = readLine(bytes, { isFileStart });
    if (result.kind !== 'envelope') return;
    const { schema, source, table } = result.envelope;
    this.#connector ??= source.get('connector') ?? null;
    if (schema === null) {
      this.#isBare = true;
      return;
    }
    this.#isWrapped = true;
    const name = tableName(table) ?? this.#choice.only?.table ?? null;
    const columns =
      name === null ? null : this.columnsOf(name, this.schemaId(schema), () => schema);
    if (name !== null && columns !== null && !this.#tables.has(name)) this.learn(name, columns);
  }
}

/** Text of the key columns of a line; null where it cannot be read. */
export function keyText(table: KnownTable | null, bytes: Uint8Array): string | null {
  const result = readLine(bytes);
  if (table === null || result.kind !== 'envelope') return null;
  const image = result.envelope.op === 'd' ? result.envelope.before : result.envelope.after;
  return image === null ? null : table.key.map((name) => image.get(name) ?? 'null').join(',');
}

function known(wanted: Wanted, columns: readonly Column[]): KnownTable {
  if (wanted.key.length === 0) {
    throw new PipelineError(
      'E_TABLE_NO_KEY',
      `${wanted.table} has no key; under source.tables write:  - {table: ${wanted.table}, primary_key: [${columns[0]?.name ?? 'id'}]}`,
      { subject: { table: wanted.table } },
    );
  }
  for (const name of wanted.key) {
    const column = columns.find((c) => c.name === name);
    if (column === undefined) {
      throw new PipelineError(
        'E_COLUMN_UNKNOWN',
        `key column ${name} is not among the columns of ${wanted.table}: ${columns.map((c) => c.name).join(', ')}`,
        {
          subject: { table: wanted.table, column: name },
        },
      );
    }
    if (column.type === 'float' || column.type === 'double') {
      throw new PipelineError(
        'E_KEY_TYPE',
        `key column ${name} of ${wanted.table} is ${column.type}, which cannot be a key`,
        {
          subject: { table: wanted.table, column: name },
        },
      );
    }
  }
  return {
    table: wanted.table,
    key: wanted.key,
    columns: columns.map((c) => ({ ...c, nullable: !wanted.key.includes(c.name) })),
  };
}

function narrowed(columns: readonly Column[], wanted: Wanted): readonly Column[] {
  if (wanted.needed === null) return columns;
  const absent = wanted.needed.filter((name) => !columns.some((c) => c.name === name));
  const kept = columns.filter((c) => wanted.needed?.includes(c.name));
  return [...kept, ...absent.map((name): Column => ({ name, type: 'string', nullable: true }))];
}

// Types stay as first inferred: a value that does not fit later is a data error, not a new type.
function inferred(
  before: readonly Column[] | null,
  now: readonly Column[],
  wanted: Wanted,
): readonly Column[] {
  const found = narrowed(now, wanted);
  if (before === null) return found;
  return [...before, ...found.filter((c) => !before.some((b) => b.name === c.name))];
}

function inferenceWarning(table: string, columns: readonly Column[]): string {
  return `columns of ${table} were inferred from the feed (${columns.map((c) => `${c.name} ${c.type}`).join(', ')}); fix them with columns: under source.tables`;
}

function refuseCaseTwins(names: readonly string[]): void {
  const seen = new Map<string, string>();
  for (const name of names) {
    const twin = seen.get(name.toLowerCase());
    if (twin !== undefined && twin !== name) {
      throw new PipelineError(
        'E_TARGET_MISMATCH',
        `columns ${twin} and ${name} differ only in case, which readers of the lake cannot tell apart`,
        {
          subject: { column: name },
        },
      );
    }
    seen.set(name.toLowerCase(), name);
  }
}
