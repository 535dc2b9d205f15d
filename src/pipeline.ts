/** A pipeline as an object: build it from a configuration, start it, listen to its events, stop it. */
import { run } from './app.ts';
import { resolvePipeline, type PipelineFile } from './config/load.ts';
import type { Progress, RunSummary } from './engine/run-pipeline.ts';
import { systemClock } from './lib/clock.ts';
import type { EventListener } from './model/event.ts';
import type { PipelineSpec } from './model/spec.ts';

export interface PipelineStatus {
  readonly pipeline_id: string;
  readonly status: 'CREATED' | 'RUNNING' | 'STOPPED' | 'FAILED';
  /** Changes taken since the start. */
  readonly changes: number;
  readonly dead_letters: number;
  readonly last_checkpoint: number | null;
  /** Epoch milliseconds. */
  readonly last_checkpoint_at: number | null;
  /** What it failed with. */
  readonly error: Error | null;
}

/** Validates a configuration in the form of a pipeline file. */
export class PipelineBuilder {
  readonly #spec: PipelineSpec;

  /**
   * @param config the keys of a pipeline file
   * @param options `baseDir`: where relative paths start, default the working directory
   * @throws ConfigError with all problems found
   */
  constructor(config: PipelineFile, options: { readonly baseDir?: string } = {}) {
    this.#spec = resolvePipeline(config, { baseDir: options.baseDir ?? process.cwd() }).spec;
  }

  build(): Pipeline {
    return new Pipeline(this.#spec);
  }
}

/**
 * One run of a pipeline. `start` resolves once it runs; `finished` when a bounded source has ended; `stop` ends it with
 * a last checkpoint, from which the next start goes on. Leaving an `await using` block stops it.
 */
export class Pipeline implements AsyncDisposable {
  readonly #spec: PipelineSpec;
  readonly #listeners: EventListener[] = [];
  #abort = new AbortController();
  #running: Promise<RunSummary> | null = null;
  #status: PipelineStatus;

  constructor(spec: PipelineSpec) {
    this.#spec = spec;
    this.#status = {
      pipeline_id: spec.pipeline_id,
      status: 'CREATED',
      changes: 0,
      dead_letters: 0,
      last_checkpoint: null,
      last_checkpoint_at: null,
      error: null,
    };
  }

  /** Called for every event of a committed checkpoint, in order; after a crash perhaps again, with the same id. */
  addListener(listener: EventListener): this {
    this.#listeners.push(listener);
    return this;
  }

  /** Begins or goes on from the last checkpoint. @throws E_BUG when it runs already */
  async start(): Promise<void> {
    if (this.#running !== null && this.#status.status === 'RUNNING')
      throw new Error(`pipeline ${this.#spec.pipeline_id} runs already`);
    this.#abort = new AbortController();
    this.#status = { ...this.#status, status: 'RUNNING', error: null };
    const options = {
      signal: this.#abort.signal,
      listeners: this.#listeners,
      progress: (news: Progress) => this.#take(news),
    };
    this.#running = run(this.#spec, options).then(
      (summary) => {
        this.#status = {
          ...this.#status,
          status: 'STOPPED',
          last_checkpoint: summary.lastCheckpoint,
        };
        return summary;
      },
      (error: unknown) => {
        this.#status = { ...this.#status, status: 'FAILED', error: error as Error };
        throw error;
      },
    );
    this.#running.catch(() => undefined); // told by `finished` and `stop`
  }

  /** The summary, when a bounded source has ended. Rejects with what the pipeline failed with. */
  async finished(): Promise<RunSummary> {
    if (this.#running === null)
      throw new Error(`pipeline ${this.#spec.pipeline_id} was not started`);
    return await this.#running;
  }

  /** Ends the run after the batch at hand, with a checkpoint (a savepoint). */
  async stop(): Promise<RunSummary | null> {
    this.#abort.abort();
    return this.#running === null ? null : await this.#running;
  }

  status(): PipelineStatus {
    return this.#status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    await this.#running?.catch(() => undefined);
  }

  #take(news: Progress): void {
    if (news.kind === 'batch')
      this.#status = {
        ...this.#status,
        changes: news.counters.changes,
        dead_letters: news.counters.deadLetters,
      };
    if (news.kind === 'checkpoint')
      this.#status = {
        ...this.#status,
        last_checkpoint: news.mark.id,
        last_checkpoint_at: systemClock.now(),
      };
  }
}
