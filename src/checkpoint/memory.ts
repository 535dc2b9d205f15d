import type { Checkpoint, CheckpointStore } from '../model/checkpoint-store.ts';
import { formatCheckpoint, parseCheckpoint } from './store.ts';

/** Checkpoints in memory, in the stored form; for tests and simulations. */
export class MemoryCheckpointStore implements CheckpointStore {
  readonly saved: string[] = [];

  async latest(): Promise<Checkpoint | null> {
    const last = this.saved.at(-1);
    return last === undefined ? null : parseCheckpoint(last, String(this.saved.length));
  }

  async save(checkpoint: Checkpoint): Promise<void> {
    this.saved.push(formatCheckpoint(checkpoint));
  }
}
