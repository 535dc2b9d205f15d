/** Flink is not served as a distribution: its own jars lie in a Python package, the connectors on Maven. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { classPathOf } from './java-judge.ts';
import { flinkConfDir, flinkLibDir, flinkOptDir, partDir } from './layout.ts';
import { copyJars } from './maven.ts';
import type { Part } from './part.ts';
import { fetchSdist, unpack } from './sdist.ts';
import { need } from './toolchain.ts';
import {
  FLINK_CONFIG,
  FLINK_LIB_JARS,
  FLINK_MEMBERS,
  FLINK_OPT_JARS,
  FLINK_PACKAGE,
} from './versions.ts';

export const flinkPart: Part = {
  name: 'flink',
  what: 'Flink 1.20 with Iceberg, for SQL in one process',
  tools: ['python', 'java', 'maven'],
  install: async (tools, shell) => {
    const java = need(tools, 'java');
    const maven = need(tools, 'maven');
    shell.say(`fetch ${FLINK_PACKAGE} (232 MB)`);
    const archive = await fetchSdist(FLINK_PACKAGE, need(tools, 'python'), shell);
    await unpack(archive, partDir('flink'), { patterns: FLINK_MEMBERS, strip: 2 }, shell);
    shell.say('fetch the Iceberg and Hadoop jars (100 MB)');
    const plan = [
      ...FLINK_LIB_JARS.map((jar) => ({ jar, folder: flinkLibDir })),
      ...FLINK_OPT_JARS.map((jar) => ({ jar, folder: flinkOptDir })),
    ];
    await copyJars('flink', maven, plan, shell);
    mkdirSync(flinkConfDir, { recursive: true });
    for (const [file, text] of Object.entries(FLINK_CONFIG)) {
      writeFileSync(join(flinkConfDir, file), text);
    }
    classPathOf('flink', java); // compiles it now, so that the first test need not
  },
};
