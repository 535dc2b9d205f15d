import { expect, test } from 'vitest';
import { id, join, sql } from '../../src/sql/sql.ts';
import { Database } from '../../src/sql/database.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { budget } from './budget.ts';
import { live } from './lives.ts';
import { realWorld } from './real-world.ts';
import { randomScript } from './script.ts';

const PLANS = 120;
/** Points of a life, about. */
const POINTS = 70;

test('whenever the process dies, tables, events and dead letters on disk are in the end as if it never had', async () => {
  const { seed, random, next } = budget('crash plans on disk', PLANS);
  await using db = await Database.open({ threads: 1 });
  await using dir = await tempDir({ inMemory: true });
  let passed = 0;
  for (let plan = next(); plan !== null; plan = next()) {
    const chances = random(plan);
    const lines = randomScript(chances, chances.between(4, 10));
    const folder = `${dir.path}/plan-${plan}`;
    try {
      const world = await realWorld({ db, lines, folder, files: chances.between(1, 3) });
      await live(world, { random: chances, points: POINTS, bury: () => dropTables(db) });
      await world.check();
      await world.checkLeftovers();
    } catch (error) {
      throw new Error(`SIMULATION_SEED=${seed} SIMULATION_PLAN=${plan} fails`, { cause: error });
    }
    passed += 1;
  }
  console.log(`crash plans on disk: ${passed} passed`);
  expect(passed).toBeGreaterThan(0);
});

/** What a dead process held in memory is gone. */
async function dropTables(db: Database): Promise<void> {
  const tables = await db.rows(sql`SELECT table_name AS name FROM duckdb_tables()`);
  if (tables.length > 0)
    await db.run(
      join(
        tables.map((table) => sql`DROP TABLE ${id(String(table['name']))}`),
        '; ',
      ),
    );
}
