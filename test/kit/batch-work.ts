import { BatchWork, type BatchWorkOptions } from '../../src/engine/batch-work.ts';
import { DeadLetters } from '../../src/engine/dead-letters.ts';

/** The engine's work on a batch: no stages, dead letters in memory only, truncates applied, unless told otherwise. */
export function newWork(
  options: Pick<BatchWorkOptions, 'db' | 'targets'> & Partial<BatchWorkOptions>,
): BatchWork {
  return new BatchWork({
    stages: [],
    deadLetters: newDeadLetters(),
    isShared: () => false,
    policy: { dead_letter_enabled: true, skip_corrupted: false, on_truncate: 'apply' },
    ...options,
  });
}

/** @param folder absent: nothing may be made durable */
export function newDeadLetters(folder = 'nowhere'): DeadLetters {
  return new DeadLetters({ folder });
}
