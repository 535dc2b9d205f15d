import { PipelineError } from '../../model/errors.ts';
import type { Position } from '../../model/change.ts';
import type { Column } from '../../model/types.ts';
import type { Fingerprint } from './files.ts';

/** How far a file has been read: its first `byte` bytes (uncompressed), which hold `line` line ends. */
export interface FileProgress {
  readonly fingerprint: Fingerprint;
  readonly byte: number;
  /** Null: nobody needed to count them yet. */
  readonly line: number | null;
  /** Size of the file itself when it was read to its end; null: it was not. */
  readonly fileBytes: number | null;
}

/** All that a feed needs to go on: files by name, and the columns of tables as known so far. */
export interface FeedPosition {
  readonly files: Readonly<Record<string, FileProgress>>;
  readonly current: {
    readonly file: string;
    readonly line: number | null;
    readonly byte: number;
  } | null;
  readonly columns: Readonly<Record<string, readonly Column[]>>;
}

const VERSION = 1;

const START: FeedPosition = { files: {}, current: null, columns: {} };

export function formatPosition(position: FeedPosition): Position {
  return JSON.stringify({ version: VERSION, ...position });
}

/** @throws E_STATE_VERSION for a position of a newer version, E_STATE_DAMAGED for one that is none */
export function parsePosition(text: Position | null): FeedPosition {
  if (text === null) return START;
  let value: { version?: number } & Partial<FeedPosition>;
  try {
    value = JSON.parse(text) as typeof value;
  } catch (error) {
    throw new PipelineError('E_STATE_DAMAGED', 'the saved position cannot be read', {
      cause: error,
    });
  }
  if (value.version !== VERSION) {
    throw new PipelineError(
      'E_STATE_VERSION',
      `the saved position has version ${value.version}, this is version ${VERSION}`,
    );
  }
  return { files: value.files ?? {}, current: value.current ?? null, columns: value.columns ?? {} };
}
