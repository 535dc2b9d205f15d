import type { Clock } from '../../src/lib/clock.ts';

interface Sleeper {
  readonly dueMs: number;
  readonly wake: () => void;
}

/** A clock that stands still until it is told to go on. */
export class VirtualClock implements Clock {
  #nowMs: number;
  #sleepers: Sleeper[] = [];

  constructor(startMs = Date.UTC(2024, 0, 1)) {
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  /** How many wait for the time to pass. */
  get sleeping(): number {
    return this.#sleepers.length;
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason as Error);
      const sleeper: Sleeper = { dueMs: this.#nowMs + delayMs, wake: resolve };
      this.#sleepers.push(sleeper);
      const onAbort = (): void => {
        this.#sleepers = this.#sleepers.filter((s) => s !== sleeper);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Lets time pass; wakes everyone whose time has come, in the order of their times. */
  advance(ms: number): void {
    this.#nowMs += ms;
    const due = this.#sleepers
      .filter((s) => s.dueMs <= this.#nowMs)
      .sort((a, b) => a.dueMs - b.dueMs);
    this.#sleepers = this.#sleepers.filter((s) => s.dueMs > this.#nowMs);
    for (const sleeper of due) sleeper.wake();
  }
}
