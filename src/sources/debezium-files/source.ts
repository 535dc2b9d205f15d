import type { Position, Rejected } from '../../model/change.ts';
import { PipelineError } from '../../model/errors.ts';
import type { ChangeBatch, Source } from '../../model/source.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Database } from '../../sql/database.ts';
import { sql } from '../../sql/sql.ts';
import {
  endsOpen,
  fingerprint,
  listFiles,
  matches,
  type FeedFile,
  type Fingerprint,
} from './files.ts';
import { inlineView, makeBatch, settle, type BatchContext, type Cut } from './batches.ts';
import { Landed } from './landed.ts';
import { readOwn, viewOf, type KnownTable, type Shape } from './landing.ts';
import { formatPosition, parsePosition, type FeedPosition, type FileProgress } from './position.ts';
import { inPlace, spool, type Piece, type Segment } from './segments.ts';
import { keyText, Shapes, type Prepared } from './shapes.ts';
import type { TableChoice } from './tables.ts';

export interface DebeziumFilesOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly path: string;
  readonly isWatching: boolean;
  readonly choice: TableChoice;
  /** Whether whole before images are wanted, or the key only. */
  readonly needsBefore: boolean;
  /** Whether places of all rows will be asked for: for events. */
  readonly wantsPlaces: boolean;
  /** Every table goes to one target, so that its lines are read once however they are read. */
  readonly hasOneTarget: boolean;
  readonly spoolDir: string;
  readonly segmentBytes: number;
  /** Plain files up to this size are read where they lie; 0: never. */
  readonly inPlaceBytes: number;
  readonly maxLineBytes: number;
  readonly maxNesting: number;
}

const POLL_MS = 250;

/**
 * Debezium envelopes from files: files by name, lines by place. Bounded unless it watches. Position: how far each
 * file has been read, and the columns of the tables met so far.
 */
export class DebeziumFiles implements Source {
  readonly #options: DebeziumFilesOptions;
  readonly #shapes: Shapes;
  #position: FeedPosition = parsePosition(null);

  constructor(options: DebeziumFilesOptions) {
    this.#options = options;
    this.#shapes = new Shapes(options);
  }

  async *read(position: Position | null, signal: AbortSignal): AsyncGenerator<ChangeBatch | null> {
    this.#position = parsePosition(position);
    this.#shapes.restore(this.#position.columns);
    for (;;) {
      for await (const segment of this.#segments(signal)) {
        yield* this.#batches(segment);
        if (signal.aborted) return;
      }
      if (!this.#options.isWatching || signal.aborted) return;
      yield null;
      await this.#options.clock.sleep(POLL_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
    }
  }

  // Files stay where they are: the checkpoint is the only position.
  async acknowledge(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}

  async *#segments(signal: AbortSignal): AsyncGenerator<Segment> {
    const { isWatching, inPlaceBytes, segmentBytes } = this.#options;
    const files = await listFiles(this.#options.path);
    await this.#checkGone(files);
    let group: FeedFile[] = [];
    let groupBytes = 0;
    const flush = async (): Promise<Segment> => {
      const segment = inPlace(group, await Promise.all(group.map(endsOpen)));
      group = [];
      groupBytes = 0;
      return segment;
    };
    for (const file of files) {
      const progress = await this.#progressOf(file);
      if (progress !== null && isRead(file, progress)) continue;
      if (file.bytes === 0) continue;
      const isWhole =
        progress === null &&
        file.compression === 'none' &&
        !isWatching &&
        file.bytes <= inPlaceBytes;
      if (
        group.length > 0 &&
        (!isWhole || groupBytes + file.bytes > Math.min(segmentBytes, inPlaceBytes))
      )
        yield await flush();
      if (isWhole) {
        group.push(file);
        groupBytes += file.bytes;
        continue;
      }
      const start = { byte: progress?.byte ?? 0, line: progress === null ? 0 : progress.line };
      const limits = {
        segmentBytes,
        inPlaceBytes,
        maxLineBytes: this.#options.maxLineBytes,
        spoolDir: this.#options.spoolDir,
      };
      yield* spool(file, start, limits, !isWatching);
      if (signal.aborted) return;
    }
    if (group.length > 0) yield await flush();
  }

  async #progressOf(file: FeedFile): Promise<FileProgress | null> {
    const progress = this.#position.files[file.name];
    if (progress === undefined) return null;
    const isSame = await matches(file.path, progress.fingerprint);
    if (isSame && (file.compression !== 'none' || file.bytes >= progress.byte)) return progress;
    throw new PipelineError(
      'E_SOURCE_CHANGED',
      `${file.name} is ${isSame ? 'shorter than' : 'not the file that'} was read before`,
      {
        subject: { file: file.name, byte: progress.byte },
      },
    );
  }

  // A file that has been read to its end may be removed; one that stopped in its middle may not.
  async #checkGone(files: readonly FeedFile[]): Promise<void> {
    const current = this.#position.current;
    if (current === null || files.some((file) => file.name === current.file)) return;
    const progress = this.#position.files[current.file];
    if (progress === undefined || progress.fileBytes !== null) return;
    throw new PipelineError(
      'E_SOURCE_CHANGED',
      `${current.file}, which was read up to byte ${progress.byte}, is gone`,
      {
        subject: { file: current.file, byte: progress.byte },
      },
    );
  }

  async *#batches(segment: Segment): AsyncGenerator<ChangeBatch> {
    const prepared = await this.#shapes.prepare(segment);
    if (prepared.inline !== null && this.#options.hasOneTarget) {
      yield* this.#inlineBatch(segment, prepared, prepared.inline);
      return;
    }
    for (let shape = prepared.shape; ; shape = this.#shapes.shape()) {
      const landed = this.#landing(segment, shape);
      try {
        await landed.land();
        const context = this.#context(segment, landed, shape);
        const settled = await settle(context, this.#shapes, this.#options.choice, prepared);
        if (settled.again) continue;
        for (const parts of settled.parts) yield makeBatch(context, parts);
        return;
      } finally {
        await landed.drop();
      }
    }
  }

  // The engine reads the files itself, within the statement that computes the changes. Where it meets a line that it
  // cannot read, it asks for a landed relation instead.
  async *#inlineBatch(
    segment: Segment,
    prepared: Prepared,
    table: KnownTable,
  ): AsyncGenerator<ChangeBatch> {
    const { choice } = this.#options;
    const { shape, startsSchema, warnings } = prepared;
    const landed = this.#landing(segment, shape);
    try {
      await landed.adopt();
      const parts = {
        views: [inlineView(table, shape, readOwn(segment.paths, shape, choice, table.table))],
        startsSchema,
        stop: null,
        warnings,
        from: null,
        to: null,
        unmapped: 0,
      };
      yield makeBatch(this.#context(segment, landed, shape), parts, async () => {
        await landed.land();
        return viewOf(table, shape, {
          from: landed.from,
          where: sql`tbl = ${table.table}`,
          hasOrdinal: true,
          isRaw: false,
        });
      });
    } finally {
      await landed.drop();
    }
  }

  #landing(segment: Segment, shape: Shape): Landed {
    const { db, choice, maxLineBytes, maxNesting, spoolDir, wantsPlaces } = this.#options;
    return new Landed({
      db,
      segment,
      shape,
      choice,
      limits: { maxLineBytes, maxNesting },
      spoolDir,
      schemaId: this.#shapes.schemaId,
      wantsPlaces,
    });
  }

  #context(segment: Segment, landed: Landed, shape: Shape): BatchContext {
    const finish = async (cut: Cut | null, rejected: readonly Rejected[]): Promise<Position> => {
      const { newlines } = await landed.counted();
      const step = { segment, cut, rejected, newlines };
      this.#position = await advanced(this.#position, step, this.#shapes.columns);
      return formatPosition(this.#position);
    };
    const keyOf = (table: string, bytes: Uint8Array): string | null =>
      keyText(this.#shapes.table(table), bytes);
    return { db: this.#options.db, segment, landed, shape, keyOf, finish };
  }
}

function isRead(file: FeedFile, progress: FileProgress): boolean {
  return file.compression === 'none'
    ? file.bytes === progress.byte
    : file.bytes === progress.fileBytes;
}

interface Step {
  readonly segment: Segment;
  readonly cut: Cut | null;
  readonly rejected: readonly Rejected[];
  /** Line ends by piece. */
  readonly newlines: readonly number[];
}

/** The position after a segment, or after its part before a cut. */
async function advanced(
  position: FeedPosition,
  { segment, cut, rejected, newlines }: Step,
  columns: FeedPosition['columns'],
): Promise<FeedPosition> {
  const files = { ...position.files };
  let current = position.current;
  for (const [i, piece] of segment.pieces.entries()) {
    if (cut !== null && i > cut.piece) break;
    const isCut = cut !== null && i === cut.piece;
    const end = isCut ? cut : endOf(piece, rejected, newlines[i] ?? 0);
    const isWhole = !isCut && piece.isLast && end.byte === piece.byte + piece.bytes;
    const seen: Fingerprint =
      files[piece.file.name]?.fingerprint ?? (await fingerprint(piece.file.path, piece.file.bytes));
    files[piece.file.name] = {
      fingerprint: seen,
      byte: end.byte,
      line: end.line,
      fileBytes: isWhole ? piece.file.bytes : null,
    };
    current = { file: piece.file.name, line: end.line, byte: end.byte };
  }
  return { files, current, columns };
}

// A last line that has no end yet and cannot be read may be half of one: it is reported, and read again next time.
function endOf(
  piece: Piece,
  rejected: readonly Rejected[],
  newlines: number,
): { byte: number; line: number | null } {
  const end = piece.byte + piece.bytes;
  const half = piece.isOpen
    ? rejected.find((r) => r.place.file === piece.file.name && r.place.byte + r.bytes.length >= end)
    : undefined;
  if (half !== undefined) return { byte: half.place.byte, line: half.place.line - 1 };
  return { byte: end, line: piece.line === null ? null : piece.line + newlines };
}
