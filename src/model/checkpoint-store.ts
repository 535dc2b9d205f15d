import type { Json } from './json.ts';
import type { Mark } from './sink.ts';

export interface Checkpoint {
  readonly mark: Mark;
  readonly stages: readonly Json[];
  readonly prepared: readonly Json[];
  /** True once every sink has committed; a recovery of a false one commits again. */
  readonly counters: Readonly<Record<string, number>>;
}

export interface CheckpointStore {
  /** @throws E_STATE_VERSION, E_STATE_DAMAGED */
  latest(): Promise<Checkpoint | null>;
  /** Atomic and durable: after it returns, recovery finishes this checkpoint. @throws E_STATE_WRITE */
  save(checkpoint: Checkpoint): Promise<void>;
}
