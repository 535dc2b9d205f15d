/**
 * Ways for a process to die: before or after any call that crosses a contract. Whoever is called after the crash gets
 * nowhere either, so that what the run does while it unwinds leaves no trace. What is durable lies outside and stays.
 */
import { PipelineError } from '../../src/model/errors.ts';
import type { Source } from '../../src/model/source.ts';

export class Crash extends Error {
  constructor(at: string) {
    super(`the process died ${at}`);
    this.name = 'Crash';
  }
}

export interface CrashPlanOptions {
  /** Number of the point to die at, from 0; null: never. */
  readonly dieAt: number | null;
  /** Numbers of points that fail as an outage does, and work the next time. */
  readonly failAt?: ReadonlySet<number>;
}

/** Counts the points of one life of a process, and ends it at one of them. */
export class CrashPlan {
  readonly #options: CrashPlanOptions;
  /** What was passed, in order. */
  readonly passed: string[] = [];
  #crash: Crash | null = null;

  constructor(options: CrashPlanOptions) {
    this.#options = options;
  }

  get isDead(): boolean {
    return this.#crash !== null;
  }

  /** @throws Crash at the chosen point and at every one after it, E_WAREHOUSE_WRITE at one that is to fail */
  point(name: string): void {
    if (this.#crash !== null) throw this.#crash;
    const number = this.passed.push(name) - 1;
    if (number === this.#options.dieAt) {
      this.#crash = new Crash(name);
      throw this.#crash;
    }
    if (this.#options.failAt?.has(number) === true)
      throw new PipelineError('E_WAREHOUSE_WRITE', `${name} failed by plan`);
  }
}

/** The methods of each contract that wait for something. */
export const AWAITED = {
  batch: ['recover', 'reread', 'suspects', 'withPartBefore', 'lines', 'places', 'end'],
  stage: ['apply', 'saveState', 'loadState'],
  sink: ['write', 'prepare', 'commit', 'discard'],
  store: ['latest', 'save'],
  deadLetters: ['load', 'supersede', 'prepare'],
} as const;

export type Method = (...args: unknown[]) => unknown;

/** The same part, with some of its methods replaced. Its own calls among its methods stay as they are. */
export function intercepted<T extends object>(
  part: T,
  methods: readonly string[],
  replace: (method: string, original: Method) => Method,
): T {
  const replaced = new Map(
    methods.map((method) => [
      method,
      replace(method, (Reflect.get(part, method) as Method).bind(part)),
    ]),
  );
  return new Proxy(part, {
    get: (target, name) => {
      const own = typeof name === 'string' ? replaced.get(name) : undefined;
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value as Method).bind(target) : value;
    },
  });
}

export function crashing<T extends object>(
  part: T,
  name: string,
  methods: readonly string[],
  plan: CrashPlan,
): T {
  return intercepted(part, methods, (method, original) => async (...args) => {
    plan.point(`before ${name}.${method}`);
    const result = await original(...args);
    plan.point(`after ${name}.${method}`);
    return result;
  });
}

export function crashingSource(source: Source, plan: CrashPlan): Source {
  return {
    async *read(position, signal) {
      plan.point('before source.read');
      for await (const batch of source.read(position, signal)) {
        plan.point('after source.read');
        yield batch === null ? null : crashing(batch, 'batch', AWAITED.batch, plan);
        plan.point('before source.read');
      }
    },
    acknowledge: async (position) => {
      plan.point('before source.acknowledge');
      await source.acknowledge(position);
      plan.point('after source.acknowledge');
    },
    [Symbol.asyncDispose]: () => source[Symbol.asyncDispose](),
  };
}
