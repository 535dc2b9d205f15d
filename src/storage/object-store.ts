/**
 * Where table files live. Paths are locations as table metadata spells them (`file:/warehouse/db/t/metadata/v1…`).
 *
 * Every write is whole and durable when its promise resolves: a reader sees all of the bytes or no file.
 */
export interface ObjectStore {
  /** The bytes of a file, or null where there is none. */
  read(path: string): Promise<Uint8Array | null>;
  /** Creates or replaces a file. @throws E_WAREHOUSE_WRITE */
  write(path: string, bytes: Uint8Array): Promise<void>;
  /**
   * Creates a file that must not exist yet. Of any number of racing callers, in any number of processes, one wins.
   * @throws AlreadyExistsError for all others, with nothing left behind; E_WAREHOUSE_WRITE
   */
  createExclusive(path: string, bytes: Uint8Array): Promise<void>;
  /** What lies directly in a folder, by name. Empty where there is no such folder. */
  list(folder: string): Promise<readonly StoreEntry[]>;
  /** Removes a file; nothing happens where there is none. @throws E_WAREHOUSE_WRITE */
  remove(path: string): Promise<void>;
}

export interface StoreEntry {
  readonly name: string;
  readonly isFolder: boolean;
}

/** Another writer created the file first. */
export class AlreadyExistsError extends Error {
  readonly path: string;
  constructor(path: string) {
    super(`${path} exists already`);
    this.name = 'AlreadyExistsError';
    this.path = path;
  }
}
