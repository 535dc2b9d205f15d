import type { Place, Rejected, SourceColumn, SourceView } from '../../src/model/change.ts';
import type { ErrorCode } from '../../src/model/errors.ts';
import type { ChangeBatch, LineText, Source } from '../../src/model/source.ts';
import type { Column } from '../../src/model/types.ts';
import { id, join, raw, sql, type Sql } from '../../src/sql/sql.ts';

/** Texts of a row, by column. */
export type RowText = Readonly<Record<string, string | null>>;

export interface ScriptedChange {
  readonly table: string;
  readonly op: 'c' | 'r' | 'u' | 'd';
  readonly before: RowText | null;
  readonly after: RowText | null;
  /** Place in the source's log; a line that is delivered again has the same. */
  readonly seq: number;
}

export interface ScriptedBadLine {
  readonly bad: ErrorCode;
}

export type ScriptedLine = ScriptedChange | ScriptedBadLine;

export interface ScriptedTable {
  readonly columns: readonly Column[];
  readonly key: readonly string[];
}

/** What a feed outside of the process holds and forgets. */
export class ScriptedFeed {
  readonly lines: readonly ScriptedLine[];
  readonly tables: Readonly<Record<string, ScriptedTable>>;
  /** Lines that were acknowledged; nobody gets them again. */
  forgotten = 0;

  constructor(lines: readonly ScriptedLine[], tables: Readonly<Record<string, ScriptedTable>>) {
    this.lines = lines;
    this.tables = tables;
  }
}

export interface ScriptedSourceOptions {
  readonly feed: ScriptedFeed;
  /** Lines of the next batch, at least one. */
  readonly batchLines: () => number;
  /** Whether the next batch is said to begin a schema. */
  readonly startsSchema?: () => boolean;
  /** Whether nothing comes for a moment before the next batch. */
  readonly pauses?: () => boolean;
}

/**
 * A source over a script. Position: the number of lines before it. As a database does, it has lost what was
 * acknowledged.
 */
export class ScriptedSource implements Source {
  readonly #options: ScriptedSourceOptions;

  constructor(options: ScriptedSourceOptions) {
    this.#options = options;
  }

  async *read(position: string | null, signal: AbortSignal): AsyncGenerator<ChangeBatch | null> {
    const { feed, batchLines, startsSchema, pauses } = this.#options;
    let at = Number(position ?? 0);
    if (at < feed.forgotten)
      throw new Error(
        `lines from ${at} on were asked for, those before ${feed.forgotten} are forgotten`,
      );
    while (at < feed.lines.length && !signal.aborted) {
      if (pauses?.() === true) yield null;
      const end = Math.min(feed.lines.length, at + batchLines());
      yield batchOf(feed, at, end, startsSchema?.() ?? false);
      at = end;
    }
  }

  async acknowledge(position: string): Promise<void> {
    const { feed } = this.#options;
    feed.forgotten = Math.max(feed.forgotten, Number(position));
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

const FILE = 'script';
const placeOf = (line: number): Place => ({ file: FILE, line: line + 1, byte: line });
const scriptedBytes = (line: number): Uint8Array => Buffer.from(`line ${line}`);

function batchOf(feed: ScriptedFeed, from: number, to: number, startsSchema: boolean): ChangeBatch {
  const numbered = feed.lines.slice(from, to).map((line, i) => ({ line, at: from + i }));
  const names = Object.keys(feed.tables).filter((name) =>
    numbered.some(({ line }) => !('bad' in line) && line.table === name),
  );
  const lineText = (ordinal: number): LineText => ({
    ordinal,
    place: placeOf(ordinal),
    bytes: scriptedBytes(ordinal),
    key: null,
  });
  return {
    views: names.map((name) => viewOf(name, feed.tables[name] as ScriptedTable, numbered)),
    startsSchema,
    stop: null,
    warnings: [],
    recover: async (error) => {
      throw error;
    },
    reread: async () => null,
    holds: () => false,
    ordinalAt: () => -1,
    suspects: async () => [],
    withPartBefore: async () => raw('(SELECT NULL::BIGINT AS ord WHERE FALSE)'),
    lines: async (_table, ordinals) => ordinals.map(lineText),
    places: async () =>
      sql`(SELECT ord, ${FILE} AS file, ord + 1 AS line, ord AS byte FROM range(${from}, ${to}) AS r(ord))`,
    rejected: () =>
      numbered.flatMap(({ line, at }) => ('bad' in line ? [rejectedAt(at, line.bad)] : [])),
    end: async (before) => {
      const end = before === undefined ? to : before.line - 1;
      return {
        counts: { bytes: end - from, tombstones: 0, messages: 0, unmapped: 0 },
        position: String(end),
      };
    },
  };
}

function rejectedAt(at: number, code: ErrorCode): Rejected {
  return {
    code,
    message: 'bad by script',
    table: null,
    key: null,
    place: placeOf(at),
    bytes: scriptedBytes(at),
  };
}

function viewOf(
  name: string,
  table: ScriptedTable,
  lines: readonly { line: ScriptedLine; at: number }[],
): SourceView {
  const rows = lines.flatMap(({ line, at }): Sql[] => {
    if ('bad' in line || line.table !== name) return [];
    const images = [line.after, line.before].flatMap((image) =>
      table.columns.map((c) => image?.[c.name] ?? null),
    );
    return [sql`(${join([at, line.op, line.before !== null, line.seq, ...images])})`];
  });
  const fields = [
    'ord',
    'op',
    'has_before',
    'seq',
    ...['a', 'b'].flatMap((image) => table.columns.map((_, i) => `${image}${i}`)),
  ];
  const typed = table.columns
    .flatMap((_, i) => [`a${i}`, `b${i}`])
    .map((field) => sql`${id(field)}::VARCHAR AS ${id(field)}`);
  return {
    table: name,
    from: sql`(SELECT * REPLACE (${join(typed)}), NULL::VARCHAR[] AS absent FROM (VALUES ${join(rows)}) AS lines(${join(fields.map((f) => id(f)))}))`,
    where: null,
    isOwn: null,
    ordinal: raw('ord::BIGINT'),
    isOdd: raw('FALSE'),
    op: raw('op'),
    hasBefore: raw('has_before'),
    absent: raw('absent'),
    tsMs: raw('seq::BIGINT'),
    order: raw('seq::HUGEINT'),
    origin: null,
    columns: table.columns.map((column, i): SourceColumn => ({
      name: column.name,
      type: column.type,
      from: column.from,
      after: id(`a${i}`),
      before: id(`b${i}`),
    })),
    key: table.key,
  };
}
