/**
 * How long a simulation goes on and which chances it takes. `SIMULATION_SEED` repeats a run, together with
 * `SIMULATION_PLAN` one plan of it; `SIMULATION_SECONDS` makes it as long as wanted.
 */
import { rng, type Rng } from '../kit/rng.ts';

export interface Budget {
  readonly seed: number;
  /** Chance for a plan: the same whatever plans went before. */
  readonly random: (plan: number) => Rng;
  /** Number of the next plan to run; null: the budget is used up. */
  readonly next: () => number | null;
}

/** @param plans how many without `SIMULATION_SECONDS` */
export function budget(name: string, plans: number): Budget {
  const seed = Number(process.env['SIMULATION_SEED'] ?? Date.now() % 1_000_000);
  const seconds = process.env['SIMULATION_SECONDS'];
  const endMs = seconds === undefined ? null : Date.now() + Number(seconds) * 1000;
  const only = process.env['SIMULATION_PLAN'];
  console.log(`${name}: SIMULATION_SEED=${seed}${only === undefined ? '' : `, plan ${only} only`}`);
  let plan = only === undefined ? 0 : Number(only);
  const isOpen = (): boolean => {
    if (only !== undefined) return plan === Number(only);
    return endMs === null ? plan < plans : Date.now() < endMs;
  };
  return {
    seed,
    random: (number) => rng(Math.imul(seed, 0x9e3779b1) + number),
    next: () => (isOpen() ? plan++ : null),
  };
}
