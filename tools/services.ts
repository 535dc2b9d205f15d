/**
 * `npm run services`: installs the foreign readers and writers of the tests into `.services/`, from the package
 * registries that pip, Maven and apt-get of this machine are configured for. What is installed already is left alone.
 *
 *   npm run services                 install everything
 *   npm run services -- flink spark  install these parts
 *   npm run services -- list         what there is, and whether it is installed
 *   npm run services -- stop         end the servers that were left running
 *   npm run services -- clean        stop, and remove `.services/`
 */
import { rmSync } from 'node:fs';
import { flinkPart } from './services/flink.ts';
import { partDir, servicesDir, stamp } from './services/layout.ts';
import type { Part } from './services/part.ts';
import { pythonPart } from './services/python.ts';
import { openShell } from './services/shell.ts';
import { sparkPart } from './services/spark.ts';
import { stopServers } from './services/stop.ts';
import { provideTools, type Toolchain } from './services/toolchain.ts';
import { isInstalled, recipeOf } from './services/versions.ts';

const PARTS: readonly Part[] = [pythonPart, flinkPart, sparkPart];

const seconds = (since: number): string => `${((Date.now() - since) / 1000).toFixed(1)} s`;

async function install(wanted: readonly Part[]): Promise<boolean> {
  const start = Date.now();
  const missing = wanted.filter((part) => !isInstalled(part.name));
  for (const part of wanted) if (!missing.includes(part)) console.log(`[${part.name}] installed`);
  const tools = await provideTools([...new Set(missing.flatMap((part) => part.tools))]);
  const results = await Promise.all(missing.map((part) => installPart(part, tools)));
  const failed = missing.filter((_, i) => !results[i]);
  console.log(
    failed.length === 0
      ? `All parts are installed (${seconds(start)}).`
      : `Not installed: ${failed.map((part) => part.name).join(', ')} (${seconds(start)}). Their tests are skipped.`,
  );
  return failed.length === 0;
}

async function installPart(part: Part, tools: Toolchain): Promise<boolean> {
  const start = Date.now();
  const shell = openShell(part.name);
  try {
    rmSync(partDir(part.name), { recursive: true, force: true });
    await part.install(tools, shell);
    stamp(partDir(part.name), recipeOf(part.name));
    shell.say(`installed in ${seconds(start)}`);
    return true;
  } catch (error) {
    shell.say(`FAILED: ${(error as Error).message}`);
    return false;
  }
}

function list(): void {
  for (const part of PARTS) {
    const state = isInstalled(part.name) ? 'installed' : 'absent';
    console.log(`${part.name.padEnd(8)} ${state.padEnd(10)} ${part.what}`);
  }
}

function partsNamed(names: readonly string[]): readonly Part[] {
  if (names.length === 0) return PARTS;
  return names.map((name) => {
    const part = PARTS.find((p) => p.name === name);
    if (part !== undefined) return part;
    const known = [...PARTS.map((p) => p.name), 'list', 'stop', 'clean'].join(', ');
    throw new Error(`There is no part or command "${name}". Known: ${known}.`);
  });
}

async function main(args: readonly string[]): Promise<void> {
  const [command] = args;
  if (command === 'list') return list();
  if (command === 'stop') return stopServers();
  if (command === 'clean') {
    await stopServers();
    rmSync(servicesDir, { recursive: true, force: true });
    return;
  }
  const complete = await install(partsNamed(args));
  // Without the variable a machine that cannot have a part still gets the rest, and its tests say what they miss.
  if (!complete && process.env['LAKEWARD_REQUIRE_SERVICES'] === '1') process.exitCode = 1;
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 2;
}
