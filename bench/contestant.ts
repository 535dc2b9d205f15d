import type { Contents } from './contents.ts';
import type { Measurement } from './measure.ts';

/** One of those that are compared. A run starts from nothing; its table can be read until the next one. */
export interface Contestant {
  readonly name: string;
  run(): Promise<Measurement>;
  contents(): Promise<Contents>;
}
