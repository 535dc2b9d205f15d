/** The lives of one pipeline: it dies, or meets an outage, or is stopped, and starts again, until it has read its feed. */
import type { PipelineParts, Progress } from '../../src/engine/run-pipeline.ts';
import { supervise } from '../../src/engine/supervise.ts';
import { isPipelineError } from '../../src/model/errors.ts';
import { CrashPlan } from '../kit/crash-points.ts';
import type { Rng } from '../kit/rng.ts';
import type { VirtualClock } from '../kit/virtual-clock.ts';

export interface World {
  readonly clock: VirtualClock;
  /** A new process over what the last one left behind. */
  start(plan: CrashPlan, random: Rng, progress: (news: Progress) => void): Promise<PipelineParts>;
  /** After the last life: what is visible and what is durable is as if there had been one life without a mishap. */
  check(): Promise<void>;
  /** Nothing that was prepared is left over. */
  checkLeftovers(): Promise<void>;
}

export interface LivesOptions {
  readonly random: Rng;
  /** Roughly how many points a life has; deaths lie among that many. */
  readonly points: number;
  /** After each life. */
  readonly bury?: () => Promise<void>;
}

const RETRY = { max_retries: 3, retry_interval_ms: 1000 };

/** @returns what was passed in each life, for the message of a failure */
export async function live(
  world: World,
  options: LivesOptions,
): Promise<readonly (readonly string[])[]> {
  const { random, points } = options;
  const deaths = random.between(1, 2);
  const lives: (readonly string[])[] = [];
  for (let life = 0; ; life += 1) {
    const isLast = life === deaths;
    const failAt = new Set(!isLast && random.chance(0.3) ? [random.between(0, points)] : []);
    const plan = new CrashPlan({ dieAt: isLast ? null : random.between(0, points), failAt });
    lives.push(plan.passed);
    const isOver = await liveOnce(world, plan, random, isLast ? null : stopAfter(random));
    await options.bury?.();
    if (isOver && isLast) return lives;
  }
}

const stopAfter = (random: Rng): number | null =>
  random.chance(0.1) ? random.between(1, 3) : null;

/** True: it ended by itself. */
async function liveOnce(
  world: World,
  plan: CrashPlan,
  random: Rng,
  stopAfterBatches: number | null,
): Promise<boolean> {
  const stop = new AbortController();
  let batches = 0;
  const progress = (news: Progress): void => {
    if (news.kind === 'batch') batches += 1;
    if (batches === stopAfterBatches) stop.abort();
    if (news.kind === 'retry') setImmediate(() => world.clock.advance(news.delayMs));
  };
  const parts = await world.start(plan, random, progress);
  try {
    await supervise(parts, RETRY, stop.signal);
    return true;
  } catch (error) {
    // An outage while it is being stopped ends it as well.
    const isStopped = stop.signal.aborted && isPipelineError(error, 'E_WAREHOUSE_WRITE');
    if (!plan.isDead && !isStopped) throw error;
    return false;
  } finally {
    for (const part of [parts.source, ...parts.stages, ...parts.sinks])
      await part[Symbol.asyncDispose]();
  }
}
