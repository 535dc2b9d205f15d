/** Parts that fail without killing the process: one call of one method, in one of four ways. */
import { setImmediate } from 'node:timers/promises';
import { PipelineError } from '../../src/model/errors.ts';
import { intercepted } from './crash-points.ts';

export const FAULTS = ['reject', 'fail-after-doing', 'hold', 'slow'] as const;

export interface Fault {
  readonly method: string;
  readonly kind: (typeof FAULTS)[number];
  /** The call that it befalls, from 1. */
  readonly call: number;
}

export interface Faulty<T> {
  readonly part: T;
  /** Resolves when the fault was met. */
  readonly met: Promise<void>;
  /** Resolves when the call that met it has ended, and whoever waited for it has gone on. */
  readonly settled: Promise<void>;
  /** Lets a held call go on. */
  release(): void;
}

/** Long enough for everything else that can go on to have gone on. */
const SLOW_TURNS = 50;

/** `reject` does nothing and fails; `fail-after-doing` does it and fails; `hold` waits for `release`; `slow` takes its time. */
export function faulty<T extends object>(part: T, fault: Fault): Faulty<T> {
  const [met, released, settled] = [signal(), signal(), signal()];
  let calls = 0;
  const replaced = intercepted(part, [fault.method], (method, original) => async (...args) => {
    calls += 1;
    if (calls !== fault.call) return await original(...args);
    met.resolve();
    const failure = new PipelineError('E_WAREHOUSE_WRITE', `${method} failed by plan`);
    if (fault.kind === 'reject') throw failure;
    if (fault.kind === 'hold') await released.promise;
    if (fault.kind === 'slow') await turns();
    try {
      const result = await original(...args);
      if (fault.kind === 'fail-after-doing') throw failure;
      return result;
    } finally {
      void turns().then(settled.resolve);
    }
  });
  return {
    part: replaced,
    met: met.promise,
    settled: settled.promise,
    release: released.resolve,
  };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < SLOW_TURNS; turn += 1) await setImmediate();
}

function signal(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
