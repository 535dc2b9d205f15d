/**
 * The tools that the parts need from the machine: Python ≥ 3.10 with venv, a Java 17 JDK, Maven. What is there is
 * used; what is missing is installed with apt-get where that is possible (root on Debian), else named.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openShell, outputOf } from './shell.ts';

export type ToolName = 'python' | 'java' | 'maven';

interface Tool {
  /** The command, or for Java the home folder; null when the machine has none that fits. */
  readonly find: () => Promise<string | null>;
  readonly what: string;
  readonly debianPackage: string;
}

const TOOLS: Readonly<Record<ToolName, Tool>> = {
  python: {
    find: findPython,
    what: 'Python 3.10 or newer with venv',
    debianPackage: 'python3-venv',
  },
  java: { find: findJavaHome, what: 'a Java 17 JDK', debianPackage: 'openjdk-17-jdk-headless' },
  maven: { find: findMaven, what: 'Maven 3', debianPackage: 'maven' },
};

async function findPython(): Promise<string | null> {
  const probe = 'import ensurepip, sys, venv; assert sys.version_info >= (3, 10)';
  for (const command of ['python3', '/usr/bin/python3']) {
    if ((await outputOf(command, ['-c', probe])) !== null) return command;
  }
  return null;
}

async function findMaven(): Promise<string | null> {
  return (await outputOf('mvn', ['-v'])) === null ? null : 'mvn';
}

async function findJavaHome(): Promise<string | null> {
  for (const home of await javaHomes()) {
    const version = await outputOf(join(home, 'bin', 'javac'), ['-version']);
    if (version !== null && /\bjavac 17\b/.test(version)) return home;
  }
  return null;
}

async function javaHomes(): Promise<string[]> {
  const settings = (await outputOf('java', ['-XshowSettings:properties', '-version'])) ?? '';
  const onPath = /java\.home = (.+)/.exec(settings)?.[1];
  const jvms = '/usr/lib/jvm';
  return [
    process.env['LAKEWARD_JAVA_HOME'],
    process.env['JAVA_HOME'],
    onPath,
    ...foldersOf(jvms).map((name) => join(jvms, name)),
  ].filter((home) => home !== undefined);
}

function foldersOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // not Debian's layout: only the named homes count
  }
}

export type Toolchain = Readonly<Partial<Record<ToolName, string>>>;

/** Finds the tools, installs what is missing if this machine lets us, and answers what is there in the end. */
export async function provideTools(names: readonly ToolName[]): Promise<Toolchain> {
  const found = await findTools(names);
  const missing = names.filter((name) => found[name] === undefined);
  if (missing.length === 0 || !(await canInstall())) return found;
  const shell = openShell('machine');
  const packages = missing.map((name) => TOOLS[name].debianPackage);
  shell.say(`apt-get install ${packages.join(' ')}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  try {
    await shell.run('apt-get', ['update'], { env });
    const install = ['install', '-y', '--no-install-recommends', ...packages];
    await shell.run('apt-get', install, { env });
  } catch (error) {
    shell.say((error as Error).message);
  }
  return findTools(names);
}

async function findTools(names: readonly ToolName[]): Promise<Toolchain> {
  const entries = await Promise.all(
    names.map(async (name) => [name, (await TOOLS[name].find()) ?? undefined] as const),
  );
  return Object.fromEntries(entries.filter(([, at]) => at !== undefined));
}

async function canInstall(): Promise<boolean> {
  return process.getuid?.() === 0 && (await outputOf('apt-get', ['--version'])) !== null;
}

/** @throws when the tool is not on the machine, saying what to install. */
export function need(tools: Toolchain, name: ToolName): string {
  const at = tools[name];
  if (at !== undefined) return at;
  const { what, debianPackage } = TOOLS[name];
  throw new Error(`${what} is missing; on Debian: apt-get install ${debianPackage}`);
}

/** For whoever starts a JVM after the installation. @throws as {@link need} */
export async function javaHome(): Promise<string> {
  return need(await findTools(['java']), 'java');
}

export const javaOf = (home: string): string => join(home, 'bin', 'java');
export const javacOf = (home: string): string => join(home, 'bin', 'javac');
