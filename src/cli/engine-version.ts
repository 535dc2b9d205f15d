import { version } from '@duckdb/node-api';

/** The version of the engine in this process, such as `v1.5.6`. Loads it. */
export function engineVersion(): string {
  return version();
}
