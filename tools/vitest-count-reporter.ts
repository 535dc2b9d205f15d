/** Writes what a run of vitest came to, for `tools/test.ts`, into the file that LAKEWARD_TEST_COUNTS names. */
import { writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

export interface TestCounts {
  readonly passed: number;
  /** Tests, and files that could not be loaded, and errors outside of tests. */
  readonly failed: number;
  /** Why each test was skipped, which names the way to get what it misses. */
  readonly skipped: readonly string[];
}

const NO_REASON = 'no reason given';

function countsOf(modules: readonly TestModule[], strayErrors: number): TestCounts {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const results = tests.map((test) => test.result());
  const broken = modules.filter((module) => module.errors().length > 0).length;
  return {
    passed: results.filter((result) => result.state === 'passed').length,
    failed: results.filter((result) => result.state === 'failed').length + broken + strayErrors,
    skipped: results
      .filter((result) => result.state === 'skipped')
      .map((result) => ('note' in result ? result.note : undefined) ?? NO_REASON),
  };
}

// vitest takes a reporter only as the default export of its module.
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const file = process.env['LAKEWARD_TEST_COUNTS'];
    if (file !== undefined) writeFileSync(file, JSON.stringify(countsOf(modules, errors.length)));
  }
}
