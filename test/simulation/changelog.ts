/** Changelogs by chance, as lines of a feed, and the naive fold of them: rows and events, told apart from the engine. */
import { KINDS, type ColumnKind, type KindValue } from '../kit/column-kinds.ts';
import { rng, type Rng } from '../kit/rng.ts';

export interface Step {
  readonly what: 'upsert' | 'create' | 'delete' | 'move' | 'again' | 'noise' | 'bad' | 'truncate';
  /** Which of the keys; `other` is where a move goes, or how far back a line is that comes again. */
  readonly key: number;
  readonly other: number;
  /** Seed of the values. */
  readonly value: number;
  readonly before: 'full' | 'key' | 'none';
  /** Milliseconds after the step before. */
  readonly laterMs: number;
}

export interface ChangelogPlan {
  readonly seed: number;
  /** Indices into {@link KINDS}. */
  readonly kinds: readonly number[];
  readonly keyKinds: readonly number[];
  readonly connector: 'mysql' | 'postgresql' | 'oracle';
  readonly isWrapped: boolean;
  readonly steps: readonly Step[];
}

export interface ChangelogColumn {
  readonly name: string;
  readonly kind: ColumnKind;
  readonly isKey: boolean;
}

/** Values by column; null is null. */
export type ValueRow = readonly (KindValue | null)[];

interface Change {
  readonly op: 'c' | 'r' | 'u' | 'd' | 't';
  readonly before: ValueRow | null;
  /** What the before image holds. */
  readonly shown: 'full' | 'key' | 'none';
  readonly after: ValueRow | null;
  /** Place in the source's log; two lines of one place are one change. */
  readonly seq: number;
  readonly tsMs: number;
}

export interface Changelog {
  readonly columns: readonly ChangelogColumn[];
  readonly lines: readonly string[];
  readonly changes: readonly Change[];
  readonly badLines: number;
}

const ODD_NAMES = [
  'plain',
  'two words',
  'quo"te',
  "it's",
  'smile 😀',
  'select',
  'drop table t; --',
  'Größe',
  'a.b',
];
const KEYS = 4;

export function makeChangelog(plan: ChangelogPlan): Changelog {
  const columns = columnsOf(plan);
  const keys = keysOf(plan, columns);
  const writer = new LineWriter(plan, columns);
  const rows = new Map<number, ValueRow>();
  const changes: Change[] = [];
  const lines: string[] = [];
  const changeLines: { readonly line: string; readonly change: Change }[] = [];
  let badLines = 0;
  let tsMs = 1_700_000_000_000;
  for (const [i, step] of plan.steps.entries()) {
    tsMs += step.laterMs;
    const again = changeLines.at(-1 - step.other);
    if (step.what === 'again' && again !== undefined) {
      lines.push(again.line);
      changes.push(again.change);
      continue;
    }
    if (step.what === 'noise') {
      lines.push(writer.noise(step.value));
      continue;
    }
    const change = changeOf(step, { keys, rows, columns, seq: i + 1, tsMs });
    if (step.what === 'bad') {
      badLines += 1;
      lines.push(writer.line(change).slice(0, -2 - (step.value % 9)));
      continue;
    }
    applyToSource(rows, keys, change);
    lines.push(writer.line(change));
    changes.push(change);
    changeLines.push({ line: lines.at(-1) ?? '', change });
  }
  return { columns, lines, changes, badLines };
}

function columnsOf(plan: ChangelogPlan): readonly ChangelogColumn[] {
  const usable = KINDS.filter((kind) => !plan.isWrapped || kind.connect !== undefined);
  const keyable = usable.filter((kind) => kind.isKey);
  const pick = (kinds: readonly ColumnKind[], index: number): ColumnKind =>
    kinds[index % kinds.length] as ColumnKind;
  return [
    ...plan.keyKinds.map((index, i) => ({
      name: `key ${i}`,
      kind: pick(keyable, index),
      isKey: true,
    })),
    ...plan.kinds.map((index, i) => ({
      name: ODD_NAMES[i] ?? `column_${i}`,
      kind: pick(usable, index),
      isKey: false,
    })),
  ];
}

function keysOf(plan: ChangelogPlan, columns: readonly ChangelogColumn[]): readonly ValueRow[] {
  const random = rng(plan.seed);
  const found = new Map<string, ValueRow>();
  // A boolean key has but two values, so not every plan finds all its keys.
  for (let tries = 0; tries < 20 && found.size < KEYS; tries += 1) {
    const values = columns.map(({ kind, isKey }) => (isKey ? kind.value(random) : null));
    found.set(keyText(columns, values), values);
  }
  return [...found.values()];
}

function keyText(columns: readonly ChangelogColumn[], row: ValueRow): string {
  return JSON.stringify(columns.flatMap(({ isKey }, i) => (isKey ? [row[i]?.canonical] : [])));
}

interface SourceState {
  readonly keys: readonly ValueRow[];
  readonly rows: Map<number, ValueRow>;
  readonly columns: readonly ChangelogColumn[];
  readonly seq: number;
  readonly tsMs: number;
}

function changeOf(step: Step, { keys, rows, columns, seq, tsMs }: SourceState): Change {
  const at = step.key % keys.length;
  const old = rows.get(at) ?? null;
  const random = rng(step.value);
  const common = { seq, tsMs };
  if (step.what === 'truncate')
    return { op: 't', before: null, shown: 'none', after: null, ...common };
  if (step.what === 'delete') {
    return {
      op: 'd',
      before: old ?? keys[at] ?? null,
      shown: old === null || step.before === 'none' ? 'key' : step.before,
      after: null,
      ...common,
    };
  }
  if (step.what === 'create')
    return {
      op: random.chance(0.3) ? 'r' : 'c',
      before: null,
      shown: 'none',
      after: newRow(columns, keys[at], old, random),
      ...common,
    };
  const to = (at + 1 + (step.other % Math.max(keys.length - 1, 1))) % keys.length;
  if (step.what === 'move' && old !== null && to !== at) {
    const shown = step.before === 'none' ? 'key' : step.before;
    return {
      op: 'u',
      before: old,
      shown,
      after: newRow(columns, keys[to], old, random),
      ...common,
    };
  }
  if (old === null && random.chance(0.8))
    return {
      op: 'c',
      before: null,
      shown: 'none',
      after: newRow(columns, keys[at], old, random),
      ...common,
    };
  const shown = old === null ? 'none' : step.before;
  return { op: 'u', before: old, shown, after: newRow(columns, keys[at], old, random), ...common };
}

function newRow(
  columns: readonly ChangelogColumn[],
  key: ValueRow | undefined,
  old: ValueRow | null,
  random: Rng,
): ValueRow {
  return columns.map(({ kind, isKey }, i) => {
    if (isKey) return key?.[i] ?? null;
    if (old !== null && random.chance(0.5)) return old[i] ?? null;
    return random.chance(0.2) ? null : kind.value(random);
  });
}

function applyToSource(
  rows: Map<number, ValueRow>,
  keys: readonly ValueRow[],
  change: Change,
): void {
  const at = (row: ValueRow | null): number =>
    keys.findIndex((key) => key.every((value, i) => value === null || value === row?.[i]));
  if (change.op === 't') rows.clear();
  if (change.before !== null && change.shown !== 'none') rows.delete(at(change.before));
  if (change.after !== null) rows.set(at(change.after), change.after);
}

/** Makes envelopes, with the marks that a connector leaves in them. */
class LineWriter {
  readonly #plan: ChangelogPlan;
  readonly #columns: readonly ChangelogColumn[];
  readonly #schema: string;

  constructor(plan: ChangelogPlan, columns: readonly ChangelogColumn[]) {
    this.#plan = plan;
    this.#columns = columns;
    const fields = columns.map(({ name, kind, isKey }) => ({
      field: name,
      optional: !isKey,
      ...kind.connect,
    }));
    this.#schema = JSON.stringify({
      type: 'struct',
      fields: ['before', 'after'].map((field) => ({
        field,
        type: 'struct',
        optional: true,
        fields,
      })),
    });
  }

  line({ op, before, shown, after, seq, tsMs }: Change): string {
    const beforeText =
      before === null || shown === 'none' ? null : this.#image(before, shown === 'key', false);
    const payload = `{"before":${beforeText},"after":${after === null ? null : this.#image(after, false, seq % 2 === 0)},"source":${this.#source(seq, tsMs)},"op":"${op}","ts_ms":${tsMs + 5}}`;
    return this.#plan.isWrapped ? `{"schema":${this.#schema},"payload":${payload}}` : payload;
  }

  noise(choice: number): string {
    const message = `{"op":"m","ts_ms":1,"source":{"connector":"${this.#plan.connector}"},"message":{"prefix":"x"}}`;
    return ['', '  ', 'null', message][choice % 4] ?? '';
  }

  /** @param omitsNulls a null column is left out */
  #image(row: ValueRow, keyOnly: boolean, omitsNulls: boolean): string {
    const fields = this.#columns.flatMap(({ name, isKey }, i) => {
      const value = row[i] ?? null;
      if ((keyOnly && !isKey) || (omitsNulls && value === null)) return [];
      return [`${JSON.stringify(name)}:${value?.json ?? 'null'}`];
    });
    return `{${fields.join(',')}}`;
  }

  // Positions that sort wrongly as text or lose digits as doubles, and rows that share one.
  #source(seq: number, tsMs: number): string {
    const { connector } = this.#plan;
    const common = `"connector":"${connector}","ts_ms":${tsMs},"db":"shop","table":"t"`;
    if (connector === 'mysql') {
      const file = `binlog.${String(9 + Math.floor(seq / 12)).padStart(6, '0')}`;
      return `{${common},"file":"${file}","pos":${(seq % 12) * 2 - (seq % 2)},"row":${seq % 2},"server_id":7}`;
    }
    if (connector === 'postgresql')
      return `{${common},"schema":"shop","lsn":${2n ** 53n + BigInt(seq)}}`;
    return `{${common},"scn":"${seq}"}`;
  }
}

export interface FoldedEvent {
  readonly operation: 'create' | 'update' | 'delete';
  readonly key: string;
  /** Canonical texts by column. */
  readonly properties: Readonly<Record<string, string | null>>;
  readonly after: Readonly<Record<string, string | null>> | null;
}

export interface Folded {
  /** Canonical texts in the order of the columns, by key. */
  readonly rows: ReadonlyMap<string, readonly (string | null)[]>;
  readonly events: readonly FoldedEvent[];
}

/** The naive fold. A key's last place is kept for the key that a row leaves as well. */
export function foldChangelog(
  { columns, changes }: Changelog,
  connector: ChangelogPlan['connector'],
): Folded {
  const rows = new Map<string, readonly (string | null)[]>();
  const events: FoldedEvent[] = [];
  const last = new Map<string, number>();
  const texts = (row: ValueRow): readonly (string | null)[] =>
    row.map((value) => value?.canonical ?? null);
  const properties = (
    row: ValueRow,
    isWanted: (i: number) => boolean,
  ): Record<string, string | null> =>
    Object.fromEntries(
      columns.flatMap(({ name, isKey }, i) =>
        isKey || !isWanted(i) ? [] : [[name, row[i]?.canonical ?? null]],
      ),
    );
  for (const { op, before, shown, after, seq, tsMs } of changes) {
    if (op === 't') {
      rows.clear();
      continue;
    }
    const oldKey = before === null || shown === 'none' ? null : keyText(columns, before);
    const newKey = after === null ? null : keyText(columns, after);
    const key = newKey ?? oldKey ?? '';
    const seen = last.get(key);
    // Without an order in the log the clock decides, and a change of the same instant is none that was seen.
    if (seen !== undefined && (connector === 'oracle' ? tsMs < seen : seq <= seen)) continue;
    const isMove = op === 'u' && oldKey !== null && oldKey !== newKey;
    for (const touched of isMove ? [key, oldKey] : [key])
      last.set(
        touched,
        Math.max(last.get(touched) ?? -Infinity, connector === 'oracle' ? tsMs : seq),
      );
    const isDelete = after === null || isMove;
    if (isDelete) {
      rows.delete(oldKey ?? '');
      events.push({ operation: 'delete', key: oldKey ?? '', properties: {}, after: null });
    }
    if (after === null) continue;
    rows.set(key, texts(after));
    const whole = properties(after, () => true);
    if (op !== 'u' || isMove)
      events.push({ operation: 'create', key, properties: whole, after: whole });
    else {
      const changed = properties(
        after,
        (i) => shown !== 'full' || before?.[i]?.canonical !== after[i]?.canonical,
      );
      if (Object.keys(changed).length > 0)
        events.push({ operation: 'update', key, properties: changed, after: whole });
    }
  }
  return { rows, events };
}
