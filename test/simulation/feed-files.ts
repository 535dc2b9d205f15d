import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

export interface FeedCuts {
  /** Where one run ends and the next begins, as shares of the lines. */
  readonly phases: readonly number[];
  readonly filesPerPhase: number;
  readonly isGzip: boolean;
  /** The last file of a phase grows in the next one. */
  readonly isGrowing: boolean;
  /** Bytes of a phase that come with the next one only: a line is torn. */
  readonly tornBytes: number;
}

/** What each phase adds to the feed, to be written before its run. */
export function feedPhases(
  lines: readonly string[],
  cuts: FeedCuts,
  folder: string,
): readonly (() => Promise<void>)[] {
  const bounds = [
    0,
    ...cuts.phases.map((share) => Math.floor(share * lines.length)).toSorted((a, b) => a - b),
    lines.length,
  ];
  const phases = bounds.slice(1).map((end, i) => lines.slice(bounds[i], end));
  const grows = cuts.isGrowing && !cuts.isGzip;
  const torn = grows ? cuts.tornBytes : 0;
  let file = 0;
  let carry = Buffer.alloc(0);
  const path = (): string =>
    join(folder, `part-${String(file).padStart(3, '0')}.ndjson${cuts.isGzip ? '.gz' : ''}`);
  return phases.map((phase, at) => async () => {
    const perFile = Math.max(1, Math.ceil(phase.length / cuts.filesPerPhase));
    const isLast = at === phases.length - 1;
    for (let from = 0; from === 0 || from < phase.length; from += perFile) {
      const isFirst = from === 0;
      if (!isFirst || (at > 0 && !grows)) file += 1;
      const text = phase.slice(from, from + perFile).map((line) => `${line}\n`);
      const bytes = Buffer.concat([isFirst ? carry : Buffer.alloc(0), Buffer.from(text.join(''))]);
      const isEnd = from + perFile >= phase.length;
      const kept = isEnd && !isLast ? Math.max(0, bytes.length - torn) : bytes.length;
      if (isEnd) carry = bytes.subarray(kept);
      if (cuts.isGzip) await writeFile(path(), gzipSync(bytes));
      else await appendFile(path(), bytes.subarray(0, kept));
    }
  });
}
