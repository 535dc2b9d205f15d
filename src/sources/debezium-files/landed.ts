/** A segment, landed as a relation of the flat shape, and the way back from its rows to their lines. */
import type { LineLimits } from '../../codecs/debezium-line.ts';
import type { Rejected } from '../../model/change.ts';
import type { LineText } from '../../model/source.ts';
import { createNumberTable } from '../../sql/append.ts';
import type { Database } from '../../sql/database.ts';
import { filePath, id, join, raw, sql, type Sql } from '../../sql/sql.ts';
import { ExactLines, type ExactCounts } from './exact.ts';
import { flatColumns, IS_ODD, readFiles, type Shape } from './landing.ts';
import { countLinesBefore, linesOf, type Line } from './lines.ts';
import { scanFile, type Lines, type Scan, type ScanOptions } from './scan.ts';
import { spool, type Piece, type Segment } from './segments.ts';
import type { TableChoice } from './tables.ts';

/** Consecutive rows of a landed relation that came from one piece. */
interface Extent {
  readonly piece: Piece;
  readonly first: number;
  readonly rows: number;
  /** Row numbers (in the piece) of the rows, where some lines of the piece became none; null: all did. */
  readonly lineRows: readonly number[] | null;
}

export interface LandOptions {
  readonly db: Database;
  readonly segment: Segment;
  readonly shape: Shape;
  readonly choice: TableChoice;
  readonly limits: Omit<LineLimits, 'isFileStart'>;
  readonly spoolDir: string;
  readonly schemaId: (schema: string) => string;
  /** Places of all rows will be asked for. */
  readonly wantsPlaces: boolean;
}

/** A stretch so short that reading it line by line is quick. */
const EXACT_BYTES = 8 << 20;

export class Landed {
  readonly #options: LandOptions;
  readonly #extents: Extent[] = [];
  readonly #tables: string[] = [];
  readonly #patches: Sql[] = [];
  readonly counts: ExactCounts = { tombstones: 0, messages: 0, unmapped: 0 };
  readonly rejected: Rejected[] = [];
  /** By path of the segment; made while the engine reads. */
  readonly #scans: Promise<readonly Scan[]>;
  #table: string | null = null;

  constructor(options: LandOptions) {
    this.#options = options;
    this.#scans = scanAll(options.segment.paths, {
      wantsLines: options.wantsPlaces,
      maxLineBytes: options.limits.maxLineBytes,
    });
    this.#scans.catch(() => undefined); // told by `suspects`
  }

  /** Everything that landed, with `ord`. */
  get from(): Sql {
    if (this.#table === null) throw new Error('nothing has landed');
    const good = sql`SELECT rowid AS ord, * FROM ${id(this.#table)} WHERE NOT (${IS_ODD})`;
    return sql`(${join([good, ...this.#patches.map((patch) => sql`SELECT * FROM ${patch}`)], ' UNION ALL ')})`;
  }

  /** Lands the whole segment; lines that the engine refuses are read one by one. */
  async land(): Promise<void> {
    const { db, segment, shape } = this.#options;
    const table = this.#newTable('landed');
    this.#table = table;
    this.#extents.length = 0;
    const columns = flatColumns(shape).slice(1);
    await db.allowColumns(columns.length);
    await db.run(
      sql`CREATE TABLE ${id(table)} (${join(columns.map(([name, type]) => sql`${id(name)} ${raw(type)}`))})`,
    );
    if (await this.#landFast(segment.paths)) {
      await this.#extend(segment.pieces);
      await this.#patchOdd();
      return;
    }
    for (const piece of segment.pieces) {
      const limits = {
        segmentBytes: EXACT_BYTES,
        inPlaceBytes: 0,
        maxLineBytes: 0,
        spoolDir: this.#options.spoolDir,
      };
      const stretch = { byte: piece.byte, line: piece.line, end: piece.byte + piece.bytes };
      for await (const part of spool(piece.file, stretch, limits, true)) {
        const [partPiece] = part.pieces;
        if (partPiece === undefined) continue;
        const whole = { ...partPiece, isOpen: partPiece.isOpen && piece.isOpen };
        if (await this.#landFast(part.paths)) await this.#extend([whole]);
        else await this.#landExact(whole);
      }
    }
    await this.#patchOdd();
  }

  /** For a relation that the engine reads straight from the files: `rows` rows, none of them landed here. */
  async adopt(): Promise<void> {
    await this.#extend(this.#options.segment.pieces);
  }

  async #landFast(paths: readonly string[]): Promise<boolean> {
    const { db, shape, choice } = this.#options;
    try {
      await db.run(sql`INSERT INTO ${id(this.#table ?? '')} ${readFiles(paths, shape, choice)}`);
      return true;
    } catch (error) {
      if (isUnreadable(error)) return false;
      throw error;
    }
  }

  async #landExact(piece: Piece): Promise<void> {
    const { db } = this.#options;
    const exact = this.#exact();
    const lineRows: number[] = [];
    const first = this.#nextOrdinal();
    for await (const line of linesOf(piece)) {
      if (exact.add(piece.file.name, line, first + lineRows.length)) lineRows.push(line.row);
    }
    if (exact.rows > 0) {
      const rows = await exact.table(db);
      await db.run(
        sql`INSERT INTO ${id(this.#table ?? '')} SELECT * EXCLUDE (ord) FROM ${rows} ORDER BY ord; DROP TABLE ${rows}`,
      );
    }
    this.#extents.push({ piece, first, rows: lineRows.length, lineRows });
    this.#take(exact);
  }

  // The share of each piece is only asked for where there are several: counting rows by file costs a second reading.
  async #extend(pieces: readonly Piece[]): Promise<void> {
    const { db } = this.#options;
    for (const [i, piece] of pieces.entries()) {
      const first = this.#nextOrdinal();
      const isLast = i === pieces.length - 1;
      const rows = isLast ? Infinity : await countRows(piece);
      this.#extents.push({ piece, first, rows, lineRows: null });
    }
    if (this.#table !== null) {
      const total = Number((await db.one(sql`SELECT count(*) AS n FROM ${id(this.#table)}`))['n']);
      const last = this.#extents.at(-1);
      if (last !== undefined)
        this.#extents[this.#extents.length - 1] = { ...last, rows: total - last.first };
    }
  }

  #nextOrdinal(): number {
    const last = this.#extents.at(-1);
    return last === undefined ? 0 : last.first + last.rows;
  }

  async #patchOdd(): Promise<void> {
    const { db } = this.#options;
    const odd = await db.rows(
      sql`SELECT rowid AS ord FROM ${id(this.#table ?? '')} WHERE ${IS_ODD} ORDER BY ord`,
    );
    if (odd.length === 0) return;
    const patch = await this.reread(odd.map((row) => Number(row['ord'])));
    if (patch !== null) this.#patches.push(patch);
  }

  /** Reads rows again, exactly, into a relation of their own; null where none of them is a change. */
  async reread(ordinals: readonly number[]): Promise<Sql | null> {
    const exact = this.#exact();
    await this.#visit(ordinals, (ordinal, file, line) => void exact.add(file, line, ordinal));
    this.#take(exact);
    if (exact.rows === 0) return null;
    const table = await exact.table(this.#options.db);
    this.#tables.push(table.text.slice(1, -1));
    return table;
  }

  #exact(): ExactLines {
    const { shape, choice, limits, schemaId } = this.#options;
    return new ExactLines(shape, choice, limits, schemaId);
  }

  #take(exact: ExactLines): void {
    this.rejected.push(...exact.rejected);
    this.counts.tombstones += exact.counts.tombstones;
    this.counts.messages += exact.counts.messages;
    this.counts.unmapped += exact.counts.unmapped;
  }

  /** Of some rows, those whose before image lacks one of `names`; rows that cannot be looked at count. */
  async withPartBefore(ordinals: Sql, names: readonly string[]): Promise<Sql> {
    const { db, segment, shape } = this.#options;
    const table = this.#newTable('part');
    await db.run(sql`CREATE TABLE ${id(table)} (ord BIGINT)`);
    for (const extent of this.#extents) {
      const path = segment.paths[segment.pieces.indexOf(extent.piece)];
      const rows = sql`SELECT ord FROM ${ordinals} WHERE ord >= ${extent.first}${extent.rows === Infinity ? raw('') : sql` AND ord < ${extent.first + extent.rows}`}`;
      const image = shape.isWrapped
        ? shape.isBare
          ? raw(`coalesce(json -> '$.payload.before', json -> '$.before')`)
          : raw(`json -> '$.payload.before'`)
        : raw(`json -> '$.before'`);
      const lacks = sql`SELECT ${extent.first} + n AS ord FROM (SELECT row_number() OVER () - 1 AS n, json FROM read_ndjson_objects(${filePath(path ?? '')}))
        WHERE ${extent.first} + n IN (${rows}) AND NOT coalesce(list_has_all(json_keys(${image}), [${join(names)}]), FALSE)`;
      try {
        await db.run(sql`INSERT INTO ${id(table)} ${path === undefined ? rows : lacks}`);
      } catch (error) {
        if (!isUnreadable(error)) throw error;
        await db.run(sql`INSERT INTO ${id(table)} ${rows}`);
      }
    }
    return id(table);
  }

  /** Lines of the whole segment that hold nothing but blanks, and its line ends by piece. */
  async counted(): Promise<{ readonly blanks: number; readonly newlines: readonly number[] }> {
    const scans = await this.#scans;
    return {
      blanks: scans.reduce((sum, scan) => sum + scan.blanks, 0),
      newlines: scans.map((scan) => scan.newlines),
    };
  }

  /** Rows whose line holds a number that the engine's reader may have shortened unseen, ascending. */
  async suspects(): Promise<readonly number[]> {
    const { segment } = this.#options;
    const ordinals: number[] = [];
    for (const [i, piece] of segment.pieces.entries()) {
      const scan = (await this.#scans)[i];
      const offsets = [...(scan?.longReals ?? []), ...(scan?.longLines ?? [])].sort(
        (a, b) => a - b,
      );
      if (offsets.length === 0) continue;
      for (const extent of this.#extents.filter(
        (e) => e.lineRows === null && isWithin(e.piece, piece),
      )) {
        for await (const line of linesOf(extent.piece)) {
          const from = line.byte - piece.byte;
          while ((offsets[0] ?? Infinity) < from) offsets.shift();
          if ((offsets[0] ?? Infinity) <= from + line.bytes.length)
            ordinals.push(extent.first + line.row);
        }
      }
    }
    return ordinals;
  }

  /** Original bytes and places of rows, by ordinal. */
  async lines(ordinals: readonly number[]): Promise<readonly Omit<LineText, 'key'>[]> {
    const found: Omit<LineText, 'key'>[] = [];
    await this.#visit(ordinals, (ordinal, file, line) => {
      found.push({
        ordinal,
        place: { file, line: line.line, byte: line.byte },
        bytes: Buffer.from(line.bytes),
      });
    });
    return found;
  }

  async #visit(
    ordinals: readonly number[],
    take: (ordinal: number, file: string, line: Line) => void,
  ): Promise<void> {
    const wanted = new Set(ordinals);
    for (const extent of this.#extents) {
      const last = extent.first + extent.rows;
      if (!ordinals.some((ordinal) => ordinal >= extent.first && ordinal < last)) continue;
      const ordinalOf = ordinalsOf(extent);
      for await (const line of linesOf(extent.piece)) {
        const ordinal = ordinalOf(line.row);
        if (ordinal === null || !wanted.delete(ordinal)) continue;
        take(ordinal, extent.piece.file.name, line);
        if (wanted.size === 0) return;
      }
    }
  }

  /** `(ord, file, line, byte)` of every row, in their order. */
  async places(): Promise<Sql> {
    const { db, segment } = this.#options;
    const parts: Sql[] = [];
    for (const extent of this.#extents) {
      const i = segment.pieces.findIndex((piece) => isWithin(extent.piece, piece));
      const whole = segment.pieces[i];
      const scan = (await this.#scans)[i];
      if (whole === undefined || scan === undefined) continue;
      const lines =
        scan.lines ??
        (await scanFile(segment.paths[i] ?? '', { wantsLines: true, maxLineBytes: Infinity }))
          .lines;
      if (lines === null) continue;
      const table = this.#newTable('places');
      const { offsets, before } = linesWithin(lines, extent, whole);
      await createNumberTable(db, table, ['offset', 'before'], [offsets, before]);
      const line = whole.line ?? (await countLinesBefore(whole));
      parts.push(sql`SELECT ${extent.first} + rowid AS ord, ${whole.file.name} AS file, ${line} + "before"::BIGINT + 1 AS line,
        ${whole.byte} + "offset"::BIGINT AS byte FROM ${id(table)}`);
    }
    if (parts.length === 0)
      return raw(
        '(SELECT NULL::BIGINT AS ord, NULL::VARCHAR AS file, NULL::BIGINT AS line, NULL::BIGINT AS byte WHERE FALSE)',
      );
    return sql`(${join(parts, ' UNION ALL ')})`;
  }

  #newTable(prefix: string): string {
    const table = this.#options.db.name(prefix);
    this.#tables.push(table);
    return table;
  }

  async drop(): Promise<void> {
    for (const table of this.#tables)
      await this.#options.db.run(sql`DROP TABLE IF EXISTS ${id(table)}`);
  }
}

async function scanAll(paths: readonly string[], options: ScanOptions): Promise<readonly Scan[]> {
  const scans: Scan[] = [];
  for (const path of paths) scans.push(await scanFile(path, options));
  return scans;
}

/** Of the lines of a whole piece, those that became rows of an extent. */
function linesWithin(lines: Lines, extent: Extent, whole: Piece): Lines {
  const from = extent.piece.byte - whole.byte;
  const to = from + extent.piece.bytes;
  const isAll = extent.piece.byte === whole.byte && extent.piece.bytes === whole.bytes;
  const first = isAll ? 0 : lines.offsets.findIndex((offset) => offset >= from);
  const end = isAll ? lines.offsets.length : lines.offsets.findIndex((offset) => offset >= to);
  const offsets = lines.offsets.subarray(
    first === -1 ? lines.offsets.length : first,
    end === -1 ? lines.offsets.length : end,
  );
  const before = lines.before
    .subarray(offsets.byteOffset / 8 - lines.offsets.byteOffset / 8)
    .subarray(0, offsets.length);
  if (extent.lineRows === null) return { offsets, before };
  return {
    offsets: Float64Array.from(extent.lineRows, (row) => offsets[row] ?? 0),
    before: Float64Array.from(extent.lineRows, (row) => before[row] ?? 0),
  };
}

function isWithin(part: Piece, whole: Piece): boolean {
  return (
    part.file.name === whole.file.name &&
    part.byte >= whole.byte &&
    part.byte + part.bytes <= whole.byte + whole.bytes
  );
}

async function countRows(piece: Piece): Promise<number> {
  let rows = 0;
  for await (const line of linesOf(piece)) rows = line.row + 1;
  return rows;
}

function ordinalsOf(extent: Extent): (row: number) => number | null {
  if (extent.lineRows === null) return (row) => (row < extent.rows ? extent.first + row : null);
  const index = new Map(extent.lineRows.map((row, i) => [row, extent.first + i]));
  return (row) => index.get(row) ?? null;
}

/** Whether the engine's reader refused the text of a file: any line that is not one JSON object of the right shape. */
export function isUnreadable(error: unknown): boolean {
  return (
    error instanceof Error &&
    /^(Invalid Input Error|Conversion Error|Binder Error: .*JSON)/.test(error.message)
  );
}
