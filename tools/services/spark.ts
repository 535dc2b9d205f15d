import { classPathOf } from './java-judge.ts';
import { partDir, sparkJarsDir } from './layout.ts';
import { copyJars } from './maven.ts';
import type { Part } from './part.ts';
import { fetchSdist, unpack } from './sdist.ts';
import { need } from './toolchain.ts';
import { SPARK_JARS, SPARK_MEMBERS, SPARK_PACKAGE } from './versions.ts';

export const sparkPart: Part = {
  name: 'spark',
  what: 'Spark 4.1 with Iceberg, for SQL in one process',
  tools: ['python', 'java', 'maven'],
  install: async (tools, shell) => {
    const java = need(tools, 'java');
    const maven = need(tools, 'maven');
    shell.say(`fetch ${SPARK_PACKAGE} (456 MB)`);
    const archive = await fetchSdist(SPARK_PACKAGE, need(tools, 'python'), shell);
    await unpack(archive, partDir('spark'), { patterns: SPARK_MEMBERS, strip: 2 }, shell);
    const plan = SPARK_JARS.map((jar) => ({ jar, folder: sparkJarsDir }));
    await copyJars('spark', maven, plan, shell);
    classPathOf('spark', java); // compiles it now, so that the first test need not
  },
};
