import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { classPathOf, mainClassOf, type JavaJudge } from '../../../tools/services/java-judge.ts';
import { flinkConfDir } from '../../../tools/services/layout.ts';
import { javaHome, javaOf } from '../../../tools/services/toolchain.ts';
import { FLINK_FLAGS, SPARK_FLAGS } from './java-flags.ts';
import { startJudge, type JudgeProcess } from './judge-process.ts';
import { rowsOf, type Rows, type WireRows } from './wire.ts';

const FLAGS: Readonly<Record<JavaJudge, readonly string[]>> = {
  flink: [`-Dlog4j.configurationFile=${join(flinkConfDir, 'log4j2.properties')}`, ...FLINK_FLAGS],
  spark: SPARK_FLAGS,
};

// Short lives: the second compiler never earns back what it costs.
const JVM = ['-Xmx1200m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

/** Starts the program of `java/` that drives this engine. Its temporary files go with it. */
export async function startJavaJudge(name: JavaJudge): Promise<JudgeProcess> {
  const home = await javaHome();
  const folder = await mkdtemp(join(tmpdir(), `judge-${name}-`));
  const judge = await startJudge({
    name,
    command: javaOf(home),
    args: [
      ...JVM,
      `-Djava.io.tmpdir=${folder}`,
      ...FLAGS[name],
      '-cp',
      classPathOf(name, home),
      mainClassOf(name),
    ],
  });
  return {
    ...judge,
    [Symbol.asyncDispose]: async () => {
      await judge[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The rows of each statement of a request. */
export async function rowsOfEach(
  judge: JudgeProcess,
  request: Readonly<Record<string, unknown>> & { readonly statements: readonly string[] },
): Promise<Rows[]> {
  return ((await judge.request(request)) as WireRows[]).map(rowsOf);
}
