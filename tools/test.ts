/**
 * `npm test`: every tier, then what was skipped and how to get it, and as the last line `N passed, N failed`.
 * Arguments go to vitest (`npm test -- --project unit`). With LAKEWARD_REQUIRE_SERVICES=1 a skipped test counts as
 * failed. Runs under whatever Node started it.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestCounts } from './vitest-count-reporter.ts';

const root = join(import.meta.dirname, '..');
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const reporter = join(import.meta.dirname, 'vitest-count-reporter.ts');

async function runTests(args: readonly string[]): Promise<TestCounts> {
  const folder = mkdtempSync(join(tmpdir(), 'lakeward-test-'));
  const file = join(folder, 'counts.json');
  const reporters = ['--reporter=default', `--reporter=${reporter}`];
  const child = spawn(process.execPath, [vitest, 'run', ...reporters, ...args], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, LAKEWARD_TEST_COUNTS: file },
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  const counts = countsIn(file);
  rmSync(folder, { recursive: true, force: true });
  if (counts === null) return { passed: 0, failed: 1, skipped: [] };
  // An exit code without a failed test: vitest itself has a complaint, which stands above.
  return code === 0 || counts.failed > 0 ? counts : { ...counts, failed: 1 };
}

function countsIn(file: string): TestCounts | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as TestCounts;
  } catch {
    return null; // vitest ended before the end of its run
  }
}

function report({ passed, failed, skipped }: TestCounts): number {
  const isStrict = process.env['LAKEWARD_REQUIRE_SERVICES'] === '1';
  if (skipped.length > 0) {
    const judged = isStrict ? ', which counts as failed (LAKEWARD_REQUIRE_SERVICES=1)' : '';
    console.log(`${skipped.length} skipped${judged}:`);
    for (const [reason, count] of countEach(skipped)) console.log(`  ${count} × ${reason}`);
  }
  const failures = failed + (isStrict ? skipped.length : 0);
  const isEmpty = passed + failures + skipped.length === 0;
  if (isEmpty) console.log('No test ran, which counts as one failure.');
  const total = isEmpty ? 1 : failures;
  console.log(`${passed} passed, ${total} failed`);
  return total === 0 ? 0 : 1;
}

function countEach(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

process.exitCode = report(await runTests(process.argv.slice(2)));
