import type { BatchResult } from './batch-work.ts';

/** What became of everything that was read; all but `bytes` add up to the lines that hold more than blanks. */
export interface Counters {
  changes: number;
  duplicates: number;
  deadLetters: number;
  skipped: number;
  unmapped: number;
  tombstones: number;
  messages: number;
  bytes: number;
}

export function newCounters(): Counters {
  return {
    changes: 0,
    duplicates: 0,
    deadLetters: 0,
    skipped: 0,
    unmapped: 0,
    tombstones: 0,
    messages: 0,
    bytes: 0,
  };
}

export function addCounts(total: Counters, result: BatchResult): void {
  total.changes += result.changes.reduce((sum, changes) => sum + changes.rows, 0);
  total.duplicates += result.duplicates;
  total.deadLetters += result.deadLetters;
  total.skipped += result.skipped;
  total.unmapped += result.counts.unmapped + result.foreign;
  total.tombstones += result.counts.tombstones;
  total.messages += result.counts.messages;
  total.bytes += result.counts.bytes;
}
