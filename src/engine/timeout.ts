import { PipelineError } from '../model/errors.ts';
import type { Clock } from '../lib/clock.ts';

/** @throws E_CHECKPOINT_TIMEOUT; the work itself cannot be undone, so the caller has to stop */
export async function withinTimeout<T>(
  work: Promise<T>,
  timeoutMs: number,
  clock: Clock,
  checkpoint: number,
): Promise<T> {
  const done = new AbortController();
  const timer = clock.sleep(timeoutMs, done.signal).then(
    () => {
      throw new PipelineError(
        'E_CHECKPOINT_TIMEOUT',
        `checkpoint ${checkpoint} was not done after ${timeoutMs} ms`,
      );
    },
    () => new Promise<never>(() => {}),
  );
  try {
    return await Promise.race([work, timer]);
  } finally {
    done.abort();
  }
}
