/** Compiles the small Java programs of `test/kit/judges/java` against the jars of the part that they drive. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fingerprint, flinkLibDir, javaJudgesDir, servicesDir, sparkJarsDir } from './layout.ts';
import { javacOf } from './toolchain.ts';

export type JavaJudge = 'flink' | 'spark';

const MAIN: Readonly<Record<JavaJudge, string>> = { flink: 'FlinkJudge', spark: 'SparkJudge' };
const JARS: Readonly<Record<JavaJudge, string>> = { flink: flinkLibDir, spark: sparkJarsDir };
const SHARED = ['Json', 'JudgeLoop', 'Cells'];

export const mainClassOf = (judge: JavaJudge): string => MAIN[judge];

/**
 * The class path that runs the judge, compiled if these very sources were not yet. The folder of the classes carries
 * the fingerprint of the sources and appears whole, so that two test runs may do this at the same time.
 */
export function classPathOf(judge: JavaJudge, javaHome: string): string {
  const sources = [...SHARED, MAIN[judge]].map((name) => join(javaJudgesDir, `${name}.java`));
  const print = fingerprint(...sources.map((source) => readFileSync(source, 'utf8')));
  const classes = join(servicesDir, 'judges', `${judge}-${print}`);
  const jars = join(JARS[judge], '*');
  if (!existsSync(classes)) compile(sources, jars, classes, javaHome);
  return [classes, jars].join(delimiter);
}

function compile(
  sources: readonly string[],
  jars: string,
  classes: string,
  javaHome: string,
): void {
  const fresh = `${classes}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  const options = ['-nowarn', '-encoding', 'UTF-8', '-cp', jars, '-d', fresh];
  const done = spawnSync(javacOf(javaHome), [...options, ...sources], { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`javac: ${done.stderr || String(done.error)}`);
  try {
    renameSync(fresh, classes);
  } catch (error) {
    // Somebody else was quicker; what lies there was made of the same sources.
    if (!existsSync(classes)) throw error;
    rmSync(fresh, { recursive: true });
  }
}
