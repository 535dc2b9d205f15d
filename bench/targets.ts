/** The figures that the product promises, against what was measured. */
import type { ContestantName } from './contestants.ts';
import type { Measurement } from './measure.ts';

/** One size of the feed: the medians of each contestant that ran. */
export interface SizeFigures {
  readonly rows: number;
  readonly medians: Readonly<Partial<Record<ContestantName, Measurement>>>;
  /** Null: not measured. */
  readonly startToReadingMs: number | null;
}

export interface Verdict {
  readonly target: string;
  readonly measured: number;
  readonly limit: number;
  readonly unit: string;
  readonly isMet: boolean;
}

const GIB = 1024 ** 3;
const MILLION = 1_000_000;

/** Only what could be measured has a verdict. */
export function verdicts(sizes: readonly SizeFigures[]): readonly Verdict[] {
  return [...sizes.flatMap(ofOneSize), ...ofTwoSizes(sizes)];
}

function ofOneSize({ rows, medians, startToReadingMs }: SizeFigures): readonly Verdict[] {
  const { script, flink, events } = medians;
  const one = medians['one-checkpoint'];
  const many = medians['64mb-checkpoints'];
  const at = `, ${rows / MILLION}M`;
  return [
    ratioAtMost(`wall, one checkpoint ÷ script${at}`, one?.wallMs, script?.wallMs, 2),
    ratioAtMost(`wall, 64 MB checkpoints ÷ script${at}`, many?.wallMs, script?.wallMs, 3),
    ratioAtMost(`wall, events on ÷ off${at}`, events?.wallMs, one?.wallMs, 1.7),
    ratioAtLeast(
      `wall, Flink ÷ one checkpoint${at}`,
      flink?.wallMs,
      one?.wallMs,
      rows > MILLION ? 6 : 9,
    ),
    ...[one, many, events].map((each, i) =>
      atMost(
        `peak memory, ${['one checkpoint', '64 MB checkpoints', 'events'][i]}${at}`,
        gib(each),
        1,
        'GiB',
      ),
    ),
    atMost(`start to first row read${at}`, startToReadingMs ?? undefined, 400, 'ms'),
  ].filter((verdict) => verdict !== null);
}

function ofTwoSizes(sizes: readonly SizeFigures[]): readonly Verdict[] {
  const of = (rows: number): Measurement | undefined =>
    sizes.find((size) => size.rows === rows)?.medians['one-checkpoint'];
  const [small, large] = [of(MILLION), of(10 * MILLION)];
  return [
    ratioAtMost('wall, one checkpoint, 10M ÷ 1M', large?.wallMs, small?.wallMs, 11),
    ratioAtMost('peak memory, one checkpoint, 10M ÷ 1M', large?.peakBytes, small?.peakBytes, 1),
  ].filter((verdict) => verdict !== null);
}

const gib = (measured: Measurement | undefined): number | undefined =>
  measured === undefined ? undefined : measured.peakBytes / GIB;

function atMost(
  target: string,
  measured: number | undefined,
  limit: number,
  unit: string,
): Verdict | null {
  return measured === undefined
    ? null
    : { target, measured, limit, unit: `≤ ${unit}`, isMet: measured <= limit };
}

function ratioAtMost(target: string, over?: number, under?: number, limit = 1): Verdict | null {
  return over === undefined || under === undefined
    ? null
    : atMost(target, over / under, limit, '×');
}

function ratioAtLeast(target: string, over?: number, under?: number, limit = 1): Verdict | null {
  if (over === undefined || under === undefined) return null;
  return { target, measured: over / under, limit, unit: '≥ ×', isMet: over / under >= limit };
}
