import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PipelineError } from '../model/errors.ts';
import type { Database } from '../sql/database.ts';
import { id, sql } from '../sql/sql.ts';

// The operating system's lock does not tell two users within one process apart.
const held = new Set<string>();

/**
 * Makes this process the only one that works on a state folder, until it ends, however it ends: the operating system
 * holds the lock of the engine's file, so a killed process leaves none behind.
 *
 * @throws E_PIPELINE_LOCKED, E_STATE_WRITE
 */
export async function lockState(
  db: Database,
  stateDir: string,
  pipelineId: string,
): Promise<() => Promise<void>> {
  await mkdir(stateDir, { recursive: true }).catch((error: unknown) => {
    throw new PipelineError('E_STATE_WRITE', `cannot make the state folder ${stateDir}`, {
      cause: error,
    });
  });
  const name = db.name('lock');
  if (held.has(stateDir)) {
    throw new PipelineError(
      'E_PIPELINE_LOCKED',
      `pipeline ${pipelineId} is run by this process already`,
      { subject: { pipeline: pipelineId } },
    );
  }
  held.add(stateDir);
  try {
    await db.run(sql`ATTACH ${join(stateDir, 'lock.duckdb')} AS ${id(name)}`);
  } catch (error) {
    held.delete(stateDir);
    const text = error instanceof Error ? error.message : '';
    const subject = { pipeline: pipelineId };
    if (!text.includes('lock'))
      throw new PipelineError('E_STATE_WRITE', `cannot write to the state folder ${stateDir}`, {
        subject,
        cause: error,
      });
    const pid = /PID (\d+)/.exec(text)?.[1];
    throw new PipelineError(
      'E_PIPELINE_LOCKED',
      `pipeline ${pipelineId} is run by another process${pid === undefined ? '' : ` (PID ${pid})`}`,
      { subject, cause: error },
    );
  }
  return async () => {
    held.delete(stateDir);
    await db.run(sql`DETACH ${id(name)}`);
  };
}
