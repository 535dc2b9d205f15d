import { defineConfig } from 'vitest/config';

const project = (name: string, include: string[], timeoutMs = 20_000, isParallel = true) => ({
  test: {
    name,
    include,
    environment: 'node' as const,
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs,
    fileParallelism: isParallel,
    // Vitest starts projects of unlike parallelism together only if told that they are groups, one after the other.
    sequence: { groupOrder: isParallel ? 0 : 1 },
    // Loading modules anew for each file costs a tenth of the fast tiers' time; only files that start servers need it.
    isolate: !isParallel,
    passWithNoTests: true,
  },
});

/** The tiers (CONTRIBUTING.md, Tests). `npm run check` runs the first three, `npm test` all. */
export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      project('unit', ['src/**/*.test.ts', 'test/*.test.ts', 'test/kit/**/*.test.ts']),
      project('contracts', ['test/contracts/**/*.test.ts']),
      project('scenarios', ['test/scenarios/**/*.test.ts'], 60_000),
      project('simulation', ['test/simulation/**/*.test.ts'], 600_000),
      project('integration', ['test/integration/**/*.it.test.ts'], 300_000, false),
      project('e2e', ['test/e2e/**/*.test.ts'], 300_000, false),
    ],
  },
});
