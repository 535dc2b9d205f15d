import type { Changes } from './change.ts';
import type { Json } from './json.ts';

/** A step over typed changes that may keep state from one checkpoint to the next. */
export interface Stage extends AsyncDisposable {
  /** Works on the changes of a batch in place; tells what is left and how many rows it dropped. */
  apply(changes: Changes): Promise<{ readonly changes: Changes; readonly dropped: number }>;
  /** Durable state of everything applied so far; may name files in the state folder. */
  saveState(checkpoint: number): Promise<Json>;
  /** Null: a fresh start. */
  loadState(state: Json): Promise<void>;
}
