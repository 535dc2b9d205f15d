import { isPipelineError } from '../model/errors.ts';
import type { ErrorHandlingSpec } from '../model/spec.ts';
import { runPipeline, type PipelineParts, type RunSummary } from './run-pipeline.ts';

/**
 * Runs a pipeline through outages: what is `unavailable` is tried again from the last checkpoint, `max_retries` times,
 * `retry_interval_ms` apart, doubling. A committed checkpoint starts the count anew.
 */
export async function supervise(
  parts: PipelineParts,
  policy: Pick<ErrorHandlingSpec, 'max_retries' | 'retry_interval_ms'>,
  signal: AbortSignal,
): Promise<RunSummary> {
  let failures = 0;
  const progress: PipelineParts['progress'] = (news) => {
    if (news.kind === 'checkpoint') failures = 0;
    parts.progress(news);
  };
  for (;;) {
    try {
      return await runPipeline({ ...parts, progress }, signal);
    } catch (error) {
      // Work that ran out of time may still be under way in this process, so only a new one may try again.
      if (
        !isPipelineError(error) ||
        error.code === 'E_CHECKPOINT_TIMEOUT' ||
        error.kind !== 'unavailable' ||
        failures >= policy.max_retries ||
        signal.aborted
      )
        throw error;
      failures += 1;
      const delayMs = policy.retry_interval_ms * 2 ** (failures - 1);
      parts.progress({ kind: 'retry', error, attempt: failures, of: policy.max_retries, delayMs });
      await parts.clock.sleep(delayMs, signal).catch(() => undefined);
      if (signal.aborted) throw error;
    }
  }
}
