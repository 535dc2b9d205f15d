/** Copies jars from the Maven repository that this machine's Maven is configured for. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { downloadsDir } from './layout.ts';
import type { Shell } from './shell.ts';

/** `group:artifact:version` → the folder it goes to. */
export type JarPlan = ReadonlyArray<{ readonly jar: string; readonly folder: string }>;

// Two Mavens on one local repository may spoil each other's downloads.
let queue: Promise<void> = Promise.resolve();

export function copyJars(name: string, maven: string, plan: JarPlan, shell: Shell): Promise<void> {
  const turn = queue.then(async () => {
    const project = join(downloadsDir, `${name}-jars`);
    mkdirSync(project, { recursive: true });
    const pom = join(project, 'pom.xml');
    writeFileSync(pom, pomOf(name, plan));
    await shell.run(maven, ['-q', '-B', '-ntp', '-f', pom, 'dependency:copy']);
  });
  queue = turn.catch(() => undefined); // the next in the queue does not care how this one ended
  return turn;
}

function pomOf(name: string, plan: JarPlan): string {
  const items = plan.map(({ jar, folder }) => {
    const [group, artifact, version] = jar.split(':');
    return `<artifactItem><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version><outputDirectory>${folder}</outputDirectory></artifactItem>`;
  });
  return `<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>lakeward.services</groupId>
  <artifactId>${name}</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <build>
    <plugins>
      <plugin>
        <artifactId>maven-dependency-plugin</artifactId>
        <configuration>
          <artifactItems>
            ${items.join('\n            ')}
          </artifactItems>
        </configuration>
      </plugin>
    </plugins>
  </build>
</project>
`;
}
