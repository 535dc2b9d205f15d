import type { Place, Position, Rejected, SourceView } from '../../model/change.ts';
import type { BatchEnd, ChangeBatch, LineText, Source } from '../../model/source.ts';
import type { Database } from '../../sql/database.ts';
import { id, sql } from '../../sql/sql.ts';
import { ExactLines } from './exact.ts';
import { viewOf } from './landing.ts';
import { parsePosition } from './position.ts';
import { keyText, Shapes } from './shapes.ts';
import type { TableChoice } from './tables.ts';

/** A line that was kept, with where it stood. */
export interface KeptLine {
  readonly file: string;
  readonly line: number;
  readonly byte: number;
  readonly bytes: Uint8Array;
}

export interface ReplayOptions {
  readonly db: Database;
  readonly choice: TableChoice;
  readonly needsBefore: boolean;
  readonly maxLineBytes: number;
  readonly maxNesting: number;
  /** In the order in which they are to be applied; asked for when the engine has recovered. */
  readonly lines: () => readonly KeptLine[];
  /** Called when the engine has worked the lines off, before its checkpoint. */
  readonly done: () => void;
}

/** Lines that were kept, once more, as one batch. The position of the feed does not move. */
export class ReplayedLines implements Source {
  readonly #options: ReplayOptions;

  constructor(options: ReplayOptions) {
    this.#options = options;
  }

  async *read(position: Position | null): AsyncGenerator<ChangeBatch> {
    if (position === null) return;
    const { db, choice, maxLineBytes, maxNesting } = this.#options;
    const lines = this.#options.lines();
    const shapes = new Shapes(this.#options);
    shapes.restore(parsePosition(position).columns);
    for (const line of lines) shapes.look(line.bytes, line.byte === 0);
    const exact = new ExactLines(
      shapes.shape(),
      choice,
      { maxLineBytes, maxNesting },
      shapes.schemaId,
    );
    for (const [ordinal, kept] of lines.entries()) {
      exact.add(
        kept.file,
        {
          row: ordinal,
          line: kept.line,
          byte: kept.byte,
          bytes: Buffer.from(kept.bytes),
          isOpen: false,
        },
        ordinal,
      );
    }
    const table = exact.rows === 0 ? null : await exact.table(db);
    const views: SourceView[] = [];
    if (table !== null) {
      for (const { tbl } of await db.rows(sql`SELECT DISTINCT tbl FROM ${table}`)) {
        const known = shapes.table(String(tbl));
        if (known !== null)
          views.push(
            viewOf(known, shapes.shape(), {
              from: table,
              where: sql`tbl = ${known.table}`,
              hasOrdinal: true,
              isRaw: false,
            }),
          );
      }
    }
    yield this.#batch(position, views, lines, exact, shapes);
    this.#options.done();
    if (table !== null) await db.run(sql`DROP TABLE ${table}`);
  }

  async acknowledge(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}

  #batch(
    position: Position,
    views: readonly SourceView[],
    lines: readonly KeptLine[],
    exact: ExactLines,
    shapes: Shapes,
  ): ChangeBatch {
    const { db } = this.#options;
    const textOf = (table: string, ordinal: number): LineText[] => {
      const kept = lines[ordinal];
      if (kept === undefined) return [];
      const { file, line, byte, bytes } = kept;
      return [
        { ordinal, place: { file, line, byte }, bytes, key: keyText(shapes.table(table), bytes) },
      ];
    };
    return {
      views,
      startsSchema: false,
      stop: null,
      warnings: [],
      recover: (error) => Promise.reject(error),
      reread: async (view, ordinals) => ({
        ...view,
        where: sql`tbl = ${view.table} AND ord IN (SELECT ord FROM ${ordinals})`,
      }),
      suspects: async () => [],
      withPartBefore: (_, ordinals) => Promise.resolve(ordinals),
      lines: async (table, ordinals) => ordinals.flatMap((ordinal) => textOf(table, ordinal)),
      places: async () => {
        const name = db.name('places');
        await db.run(
          sql`CREATE TABLE ${id(name)} (ord BIGINT, file VARCHAR, line BIGINT, byte BIGINT)`,
        );
        for (const [ordinal, kept] of lines.entries()) {
          await db.run(
            sql`INSERT INTO ${id(name)} VALUES (${ordinal}, ${kept.file}, ${kept.line}, ${kept.byte})`,
          );
        }
        return id(name);
      },
      holds: () => false,
      ordinalAt: (place) => lines.findLastIndex((line) => !isBehind(line, place)),
      rejected: (): readonly Rejected[] => exact.rejected,
      end: async (): Promise<BatchEnd> => ({ counts: { bytes: 0, ...exact.counts }, position }),
    };
  }
}

function isBehind(line: KeptLine, place: Place): boolean {
  return line.file === place.file ? line.byte > place.byte : line.file > place.file;
}
