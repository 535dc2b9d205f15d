/** What this machine needs for any pipeline. */
import { availableParallelism, totalmem } from 'node:os';
import { bytes, count } from '../words.ts';
import { failed, ok, warning, type Check } from './check.ts';

const NODE_MIN = [20, 19] as const;
const MEMORY_MIN_BYTES = 1.5e9;

export async function* checkMachine(): AsyncGenerator<Check> {
  yield checkNode(process.versions.node);
  yield await checkEngine();
  const memory = totalmem();
  const has = `${count(availableParallelism(), 'core')}, ${bytes(memory)} of memory`;
  yield memory >= MEMORY_MIN_BYTES
    ? ok('machine', has)
    : warning(
        'machine',
        has,
        'A run takes up to 1 GB: give it more memory, or set checkpoint.max_bytes lower.',
      );
}

function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isNew = major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1]);
  return isNew
    ? ok('node', `Node.js ${version}`)
    : failed('node', `Node.js ${version}`, `Install Node.js ${NODE_MIN.join('.')} or later.`);
}

async function checkEngine(): Promise<Check> {
  try {
    const [{ Database }, { engineVersion }, { sql }] = await Promise.all([
      import('../../sql/database.ts'),
      import('../engine-version.ts'),
      import('../../sql/sql.ts'),
    ]);
    await using db = await Database.open();
    await db.one(sql`SELECT ${1} AS one`);
    return ok('engine', `DuckDB ${engineVersion()}`);
  } catch (error) {
    const message = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    return failed(
      'engine',
      `the engine does not load: ${message}`,
      `Install again on this machine (${process.platform}-${process.arch}): npm ci`,
    );
  }
}
