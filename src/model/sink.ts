import type { Sql } from '../sql/sql.ts';
import type { Changes, Position } from './change.ts';
import type { Json } from './json.ts';

/** One checkpoint; `id` = 1, 2, 3 … per pipeline, never used twice. */
export interface Mark {
  readonly id: number;
  readonly position: Position;
}

export interface WriteContext {
  /** Places of the batch's rows: see `ChangeBatch.places`. */
  places(): Promise<Sql>;
}

/** What a commit did, for progress and summaries. */
export interface Committed {
  readonly what: string;
  readonly rows: number;
}

export interface Sink extends AsyncDisposable {
  /** Takes the changes of one batch, all its tables, in feed order. Nothing becomes visible. */
  write(changes: readonly Changes[], context: WriteContext): Promise<void>;
  /** Makes everything written since the last commit durable, still invisible. May be called again after a failure. */
  prepare(mark: Mark): Promise<Json>;
  /** Makes it visible, stamped with the mark, atomically. A mark that the target carries already is a no-op. */
  commit(mark: Mark, prepared: Json): Promise<readonly Committed[]>;
  /** Forgets everything written or prepared after a checkpoint: its intent was never saved. */
  discard(after: number): Promise<void>;
}
