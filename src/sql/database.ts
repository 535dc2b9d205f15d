import { mkdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { DuckDBInstance, type DuckDBConnection, type DuckDBValue } from '@duckdb/node-api';
import { PipelineError } from '../model/errors.ts';
import type { Sql } from './sql.ts';

export interface DatabaseOptions {
  /** Where the engine spills what does not fit in memory; made when absent. */
  readonly spillDir?: string;
  readonly memoryLimitBytes?: number;
  readonly threads?: number;
}

/** One value of a result: numbers up to 2^53 as number, wider ones as bigint, other types as their text. */
export type Cell = string | number | bigint | boolean | null;
export type Row = Record<string, Cell>;

/** More than eight readers of one feed mostly wait for each other. */
export const THREADS = Math.min(availableParallelism(), 8);

const COLUMN_BYTES = 1.5e6;

const SESSION = "SET TimeZone = 'UTC'; SET preserve_insertion_order = true";

/**
 * One in-process engine with one connection. Statements run one after another in the order of the calls.
 *
 * @throws E_MEMORY when memory and spill space are both used up; other engine errors pass as they are
 */
export class Database implements AsyncDisposable {
  readonly #instance: DuckDBInstance;
  readonly #connection: DuckDBConnection;
  readonly #trunk: Database | null;
  #tail: Promise<unknown> = Promise.resolve();
  #closed = false;
  #names = 0;
  #memoryBytes = Infinity;

  private constructor(
    instance: DuckDBInstance,
    connection: DuckDBConnection,
    trunk: Database | null = null,
  ) {
    this.#instance = instance;
    this.#connection = connection;
    this.#trunk = trunk;
  }

  static async open(options: DatabaseOptions = {}): Promise<Database> {
    const settings: Record<string, string> = {
      autoinstall_known_extensions: 'false',
      threads: String(options.threads ?? THREADS),
    };
    if (options.memoryLimitBytes !== undefined)
      settings['memory_limit'] = `${Math.round(options.memoryLimitBytes / 1e6)}MB`;
    if (options.spillDir !== undefined) {
      await mkdir(options.spillDir, { recursive: true });
      settings['temp_directory'] = options.spillDir;
    }
    const instance = await DuckDBInstance.create(':memory:', settings);
    const connection = await instance.connect();
    await connection.run(SESSION);
    const database = new Database(instance, connection);
    database.#memoryBytes = options.memoryLimitBytes ?? Infinity;
    return database;
  }

  /**
   * A second connection to the same tables, whose statements run beside those of the first. Its caller disposes of it
   * before the database.
   */
  async branch(): Promise<Database> {
    const connection = await this.#instance.connect();
    await connection.run(SESSION);
    return new Database(this.#instance, connection, this);
  }

  /** The raw connection, where nothing else uses this database meanwhile. */
  get connection(): DuckDBConnection {
    return this.#connection;
  }

  /** Work on the raw connection, for bulk appends and for format writers, with no statement of others in between. */
  async alone<T>(work: (connection: DuckDBConnection) => Promise<T>): Promise<T> {
    return await this.#enqueue(() => work(this.#connection));
  }

  /** Makes room for relations of so many columns: vectors of all of them are held at once, for each thread and level. */
  async allowColumns(columns: number): Promise<void> {
    const bytes = columns * COLUMN_BYTES;
    if (bytes <= this.#memoryBytes) return;
    this.#memoryBytes = bytes;
    await this.#connection.run(`SET memory_limit = '${Math.round(bytes / 1e6)}MB'`);
  }

  /** A name for a table that no other call of this database gets. */
  name(prefix: string): string {
    if (this.#trunk !== null) return this.#trunk.name(prefix);
    this.#names += 1;
    return `${prefix}_${this.#names}`;
  }

  /** Runs one or more statements; returns the number of rows that the last one changed. */
  async run(statement: Sql): Promise<number> {
    return await this.#enqueue(
      async () => (await this.#connection.run(statement.text)).rowsChanged,
    );
  }

  async rows<R extends Row = Row>(query: Sql): Promise<R[]> {
    return await this.#enqueue(async () => {
      const reader = await this.#connection.runAndReadAll(query.text);
      const names = reader.columnNames();
      return reader.getRows().map((row) => {
        const object: Row = {};
        for (const [i, name] of names.entries()) object[name] = cell(row[i] as DuckDBValue);
        return object as R;
      });
    });
  }

  /** The first row of a query that always has one. */
  async one<R extends Row = Row>(query: Sql): Promise<R> {
    const [row] = await this.rows<R>(query);
    if (row === undefined)
      throw new PipelineError('E_BUG', 'a query that always has a row had none');
    return row;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#tail.catch(() => undefined);
    this.#connection.closeSync();
    if (this.#trunk === null) this.#instance.closeSync();
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#tail.then(work, work);
    this.#tail = next.catch(() => undefined);
    return next.catch((error: unknown) => {
      throw translated(error);
    });
  }
}

function cell(value: DuckDBValue): Cell {
  if (
    value === null ||
    typeof value === 'string' ||
    typeof value === 'number' ||
    typeof value === 'boolean'
  )
    return value;
  if (typeof value === 'bigint') {
    return value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : value;
  }
  return String(value);
}

// The engine tells these two apart from other failures only by the head of its message.
function translated(error: unknown): unknown {
  const text = error instanceof Error ? error.message : String(error);
  if (/^Out of Memory Error|No space left on device|max_temp_directory_size/i.test(text)) {
    return new PipelineError('E_MEMORY', 'the engine has no memory or spill space left', {
      cause: error,
    });
  }
  return error;
}
