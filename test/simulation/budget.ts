/**
 * How long a simulation goes on and which chances it takes. `SIMULATION_SEED` repeats a run, `SIMULATION_SECONDS`
 * makes it as long as wanted.
 */
import { rng, type Rng } from '../kit/rng.ts';

export interface Budget {
  readonly seed: number;
  /** Chance for plan number `plan`: the same whatever plans went before. */
  random(plan: number): Rng;
  /** Whether plan number `plan` is still to be run. */
  isOpen(plan: number): boolean;
}

/** @param plans how many without `SIMULATION_SECONDS`; `SIMULATION_PLAN` runs those up to it */
export function budget(name: string, plans: number): Budget {
  const seed = Number(process.env['SIMULATION_SEED'] ?? Date.now() % 1_000_000);
  const seconds = process.env['SIMULATION_SECONDS'];
  const endMs = seconds === undefined ? null : Date.now() + Number(seconds) * 1000;
  const only = process.env['SIMULATION_PLAN'];
  console.log(`${name}: SIMULATION_SEED=${seed}${only === undefined ? '' : `, plan ${only} only`}`);
  return {
    seed,
    random: (plan) => rng(Math.imul(seed, 0x9e3779b1) + plan),
    isOpen: (plan) => {
      if (only !== undefined) return plan <= Number(only);
      return endMs === null ? plan < plans : Date.now() < endMs;
    },
  };
}
