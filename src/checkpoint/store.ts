import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurably } from '../lib/durable-file.ts';
import { PipelineError } from '../model/errors.ts';
import type { Checkpoint, CheckpointStore } from '../model/checkpoint-store.ts';

const VERSION = 1;
const KEPT = 3;

/**
 * Checkpoints as files of a folder: `<id, 12 digits>.json`, a line with version and checksum, then the checkpoint. A
 * file appears whole, by rename.
 */
export class FolderCheckpointStore implements CheckpointStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async latest(): Promise<Checkpoint | null> {
    const names = await this.#names();
    const last = names.at(-1);
    return last === undefined
      ? null
      : parseCheckpoint(await readFile(join(this.#folder, last), 'utf8'), last);
  }

  async save(checkpoint: Checkpoint): Promise<void> {
    try {
      await mkdir(this.#folder, { recursive: true });
      const name = `${String(checkpoint.mark.id).padStart(12, '0')}.json`;
      await writeDurably(this.#folder, name, formatCheckpoint(checkpoint));
      for (const old of (await this.#names()).slice(0, -KEPT))
        await rm(join(this.#folder, old), { force: true });
    } catch (error) {
      throw new PipelineError(
        'E_STATE_WRITE',
        `cannot write to ${this.#folder}: ${(error as NodeJS.ErrnoException).code ?? 'failed'}`,
        { cause: error },
      );
    }
  }

  async #names(): Promise<readonly string[]> {
    const names = await readdir(this.#folder).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw new PipelineError('E_STATE_DAMAGED', `cannot read ${this.#folder}`, { cause: error });
    });
    return names.filter((name) => /^\d{12}\.json$/.test(name)).sort();
  }
}

export function formatCheckpoint(checkpoint: Checkpoint): string {
  const body = JSON.stringify(checkpoint);
  return `${JSON.stringify({ version: VERSION, sha256: checksum(body) })}\n${body}\n`;
}

/** @throws E_STATE_VERSION, E_STATE_DAMAGED */
export function parseCheckpoint(text: string, name: string): Checkpoint {
  const [head = '', body = ''] = text.split('\n');
  let header: { version?: number; sha256?: string };
  try {
    header = JSON.parse(head) as typeof header;
  } catch (error) {
    throw new PipelineError('E_STATE_DAMAGED', `checkpoint ${name} cannot be read`, {
      cause: error,
    });
  }
  if ((header.version ?? 0) > VERSION) {
    throw new PipelineError(
      'E_STATE_VERSION',
      `checkpoint ${name} has version ${header.version}; this Lakeward reads up to version ${VERSION}`,
    );
  }
  if (header.sha256 !== checksum(body))
    throw new PipelineError('E_STATE_DAMAGED', `checkpoint ${name} does not match its checksum`);
  return JSON.parse(body) as Checkpoint;
}

const checksum = (body: string): string => createHash('sha256').update(body).digest('hex');
