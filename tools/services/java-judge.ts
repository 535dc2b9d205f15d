/** Compiles the small Java programs of `test/kit/judges/java` against the jars of the part that they drive. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  fingerprint,
  flinkLibDir,
  isStamped,
  javaJudgesDir,
  servicesDir,
  sparkJarsDir,
  stamp,
} from './layout.ts';
import { javacOf } from './toolchain.ts';

export type JavaJudge = 'flink' | 'spark';

const MAIN: Readonly<Record<JavaJudge, string>> = { flink: 'FlinkJudge', spark: 'SparkJudge' };
const SHARED = ['Json', 'JudgeLoop', 'Cells'];

const classesDir = (judge: JavaJudge): string => join(servicesDir, 'judges', judge);
const jarsOf = (judge: JavaJudge): string =>
  join(judge === 'flink' ? flinkLibDir : sparkJarsDir, '*');

export const mainClassOf = (judge: JavaJudge): string => MAIN[judge];
export const classPathOf = (judge: JavaJudge): string => `${classesDir(judge)}:${jarsOf(judge)}`;

/** Does nothing when the classes of these very sources are there. */
export function compileJudge(judge: JavaJudge, javaHome: string): void {
  const sources = [...SHARED, MAIN[judge]].map((name) => join(javaJudgesDir, `${name}.java`));
  const recipe = fingerprint(...sources.map((source) => readFileSync(source, 'utf8')));
  const classes = classesDir(judge);
  if (isStamped(classes, recipe)) return;
  mkdirSync(classes, { recursive: true });
  const options = ['-nowarn', '-encoding', 'UTF-8', '-cp', jarsOf(judge), '-d', classes];
  const done = spawnSync(javacOf(javaHome), [...options, ...sources], { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`javac: ${done.stderr || String(done.error)}`);
  stamp(classes, recipe);
}
