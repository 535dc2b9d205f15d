import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { raw } from '../../src/sql/sql.ts';
import { Database } from '../../src/sql/database.ts';
import { tempDir, type TempDir } from '../kit/temp-dir.ts';
import type { Rng } from '../kit/rng.ts';
import { budget } from './budget.ts';
import { live } from './lives.ts';
import { MUTANTS } from './mutants.ts';
import { randomScript } from './script.ts';
import { smallWorld, type SmallWorldOptions } from './small-world.ts';

const PLANS = 2000;
/** As many as a mutant may live through. */
const MUTANT_PLANS = 400;
/** Points of a life, about. */
const POINTS = 50;

/** Engines that work at the same time. */
const STREAMS = 2;

let engines: readonly Database[];
let folder: TempDir;

beforeAll(async () => {
  engines = await Promise.all(Array.from({ length: STREAMS }, () => Database.open({ threads: 1 })));
  // Statements over a few rows: planning them is what costs.
  for (const db of engines) await db.run(raw('PRAGMA disable_optimizer'));
  folder = await tempDir({ inMemory: true });
});

afterAll(async () => {
  for (const db of engines) await db[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

interface Plan {
  readonly db: Database;
  readonly name: string;
  readonly random: Rng;
  readonly mutate?: SmallWorldOptions['mutate'];
}

async function runPlan({ db, name, random, mutate }: Plan): Promise<void> {
  const lines = randomScript(random, random.between(3, 7));
  const world = smallWorld({
    db,
    lines,
    folder: `${folder.path}/${name}`,
    ...(mutate === undefined ? {} : { mutate }),
  });
  await live(world, { random, points: POINTS });
  await world.check();
  await world.checkLeftovers();
}

test('whenever the process dies, what is visible in the end is as if it never had', async () => {
  const { seed, random, next } = budget('crash plans', PLANS);
  let passed = 0;
  const stream = async (db: Database): Promise<void> => {
    for (let plan = next(); plan !== null; plan = next()) {
      await runPlan({ db, name: `plan-${plan}`, random: random(plan) }).catch((error: unknown) => {
        throw new Error(`SIMULATION_SEED=${seed} SIMULATION_PLAN=${plan} fails`, { cause: error });
      });
      passed += 1;
    }
  };
  await Promise.all(engines.map(stream));
  console.log(`crash plans: ${passed} passed`);
  expect(passed).toBeGreaterThan(0);
});

describe('of checkpoints in a wrong order,', () => {
  const { random } = budget('mutants', MUTANT_PLANS);
  for (const [name, mutate] of Object.entries(MUTANTS)) {
    test(`${name} is found out`, async () => {
      const [db] = engines as readonly [Database];
      let killed: unknown = null;
      let plan = 0;
      for (; killed === null && plan < MUTANT_PLANS; plan += 1) {
        killed = await runPlan({ db, name: `${name}-${plan}`, random: random(plan), mutate }).then(
          () => null,
          (error: unknown) => error,
        );
      }
      console.log(`${name}: found out by plan ${plan}: ${String(killed).split('\n')[0]}`);
      expect(killed).not.toBeNull();
    });
  }
});
