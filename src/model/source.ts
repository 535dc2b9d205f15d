import type { Sql } from '../sql/sql.ts';
import type { PipelineError } from './errors.ts';
import type { Place, Position, Rejected, SourceView } from './change.ts';

export interface BatchCounts {
  readonly bytes: number;
  readonly tombstones: number;
  /** Messages, heartbeats, schema-change records. */
  readonly messages: number;
  /** Changes of tables that the pipeline does not mirror. */
  readonly unmapped: number;
}

export interface LineText {
  readonly ordinal: number;
  readonly place: Place;
  readonly bytes: Uint8Array;
  /** Text of the key columns, joined by `,`; null where there is none. */
  readonly key: string | null;
}

/** What a batch held besides changes. */
export interface BatchEnd {
  readonly counts: BatchCounts;
  /** Resumes after the batch. */
  readonly position: Position;
}

/**
 * A stretch of a feed. Its relation lives until the next batch is asked for. Where a schema changes, the next batch
 * begins.
 */
export interface ChangeBatch {
  readonly views: readonly SourceView[];
  /** True: everything before this batch must be committed first, since a schema changes here. */
  readonly startsSchema: boolean;
  /** The pipeline has to stop with this, once the batch is committed; null: it goes on. */
  readonly stop: PipelineError | null;
  /** One human-readable line each. */
  readonly warnings: readonly string[];
  /** After the engine failed to read a view: the same changes as a relation that it can read. @throws the error itself where it is another one */
  recover(error: unknown): Promise<SourceView>;
  /** Reads rows of a view again, exactly; null where none of them is a change of this table. */
  reread(view: SourceView, ordinals: Sql): Promise<SourceView | null>;
  /** Ordinals of rows that have to be read again, exactly, although nothing in them tells. */
  suspects(): Promise<readonly number[]>;
  /** Of some rows, those whose before image lacks a column of the view: a relation `(ord)`. */
  withPartBefore(view: SourceView, ordinals: Sql): Promise<Sql>;
  /** Original bytes and places of rows of a table, in feed order. */
  lines(table: string, ordinals: readonly number[]): Promise<readonly LineText[]>;
  /** A relation `(ord BIGINT, file VARCHAR, line BIGINT, byte BIGINT)` of all rows, for events. */
  places(): Promise<Sql>;
  /** Whether a place lies in the batch. */
  holds(place: Place): boolean;
  /** Ordinal of the last row that does not stand behind a place outside of the feed's own order; -1: all do. */
  ordinalAt(place: Place): number;
  /** Lines that are no changes at all; complete once every view has been read. */
  rejected(): readonly Rejected[];
  /**
   * Call once, when every view has been read. With `before`, the batch ends in front of that line.
   *
   * @throws E_SOURCE_READ when a file changed meanwhile
   */
  end(before?: Place): Promise<BatchEnd>;
}

export interface Source extends AsyncDisposable {
  /**
   * Batches in feed order, after `position` (null: from the start), until the feed ends or `signal` aborts. A feed
   * that goes on gives null whenever nothing has come for a moment, so that what came before can be committed.
   */
  read(position: Position | null, signal: AbortSignal): AsyncIterable<ChangeBatch | null>;
  /** Committed downstream up to here: the source may forget. */
  acknowledge(position: Position): Promise<void>;
}
