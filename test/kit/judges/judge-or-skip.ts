/**
 * How a test gets a judge. The first test of a file that asks for one starts it, later ones get the same, and all
 * end with the file.
 */
import { afterAll, type TestContext } from 'vitest';
import type { PartName } from '../../../tools/services/layout.ts';
import { isInstalled } from '../../../tools/services/versions.ts';
import { startDuckdbJudge, type DuckdbJudge } from './duckdb-judge.ts';
import { startFlinkJudge, type FlinkJudge } from './flink-judge.ts';
import { startPyicebergJudge, type PyicebergJudge } from './pyiceberg-judge.ts';
import { startSparkJudge, type SparkJudge } from './spark-judge.ts';

interface Judges {
  readonly duckdb: DuckdbJudge;
  readonly pyiceberg: PyicebergJudge;
  readonly flink: FlinkJudge;
  readonly spark: SparkJudge;
}
export type JudgeName = keyof Judges;

const STARTS: { readonly [Name in JudgeName]: () => Promise<Judges[Name]> } = {
  duckdb: startDuckdbJudge,
  pyiceberg: startPyicebergJudge,
  flink: startFlinkJudge,
  spark: startSparkJudge,
};
const PARTS: Readonly<Record<JudgeName, PartName>> = {
  duckdb: 'python',
  pyiceberg: 'python',
  flink: 'flink',
  spark: 'spark',
};

const started: { -readonly [Name in JudgeName]?: Promise<Judges[Name]> } = {};

afterAll(async () => {
  // A judge that did not start has been reported by the test that asked for it.
  await Promise.allSettled(
    Object.values(started).map(async (judge) => (await judge)[Symbol.asyncDispose]()),
  );
});

/**
 * The judge, or the end of this test: skipped with the command that gets the judge; failed where
 * LAKEWARD_REQUIRE_SERVICES=1 says that every judge must be there.
 */
export async function judgeOrSkip<Name extends JudgeName>(
  name: Name,
  context: TestContext,
): Promise<Judges[Name]> {
  const part = PARTS[name];
  if (!isInstalled(part)) {
    const missing = `${name} is not installed; get it with: npm run services -- ${part}`;
    if (process.env['LAKEWARD_REQUIRE_SERVICES'] === '1') throw new Error(missing);
    context.skip(missing);
  }
  const judge: Promise<Judges[Name]> = started[name] ?? STARTS[name]();
  Object.assign(started, { [name]: judge });
  return judge;
}
