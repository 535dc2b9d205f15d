/** Feeds by chance, and what has to come of them: told apart from the engine, line by line. */
import type { Rng } from '../kit/rng.ts';
import type { ScriptedChange, ScriptedLine } from '../kit/scripted-source.ts';

const KEYS = ['k1', 'k2', 'k3'];

/** Creates, updates, deletes, changes of keys, lines that come again and lines that are bad. */
export function randomScript(random: Rng, length: number): readonly ScriptedLine[] {
  const tables = random.chance(0.3) ? ['shop.a', 'shop.b'] : ['shop.a'];
  const rows = new Map<string, string>();
  const lines: ScriptedLine[] = [];
  for (let seq = 1; lines.length < length; seq += 1) {
    if (random.chance(0.1)) lines.push({ bad: 'E_LINE_JSON' });
    const again = lines.at(-random.between(1, 3));
    if (random.chance(0.2) && again !== undefined) lines.push(again);
    const table = random.pick(tables);
    lines.push(change(random, table, rows, seq));
  }
  return lines;
}

function change(
  random: Rng,
  table: string,
  rows: Map<string, string>,
  seq: number,
): ScriptedChange {
  const id = random.pick(KEYS);
  const at = `${table} ${id}`;
  const old = rows.get(at);
  const before = old === undefined ? null : { id, v: old };
  if (before === null) {
    rows.set(at, `v${seq}`);
    return { table, op: 'c', before, after: { id, v: `v${seq}` }, seq };
  }
  if (random.chance(0.3)) {
    rows.delete(at);
    return { table, op: 'd', before, after: null, seq };
  }
  const free = KEYS.filter((key) => !rows.has(`${table} ${key}`));
  const next = random.chance(0.3) && free.length > 0 ? random.pick(free) : id;
  rows.delete(at);
  rows.set(`${table} ${next}`, `v${seq}`);
  return { table, op: 'u', before, after: { id: next, v: `v${seq}` }, seq };
}

export interface Expected {
  /** Rows of each table that has any, by key. */
  readonly tables: Record<string, Record<string, readonly (string | null)[]>>;
  /** Texts of the events, in order. */
  readonly events: readonly string[];
  /** Numbers of the bad lines, from 1. */
  readonly bad: readonly number[];
}

/** The naive fold. */
export function expectedOf(lines: readonly ScriptedLine[]): Expected {
  const tables: Record<string, Record<string, readonly (string | null)[]>> = {};
  const events: string[] = [];
  const bad: number[] = [];
  const last = new Map<string, number>();
  for (const [i, line] of lines.entries()) {
    if ('bad' in line) {
      bad.push(i + 1);
      continue;
    }
    const { table, op, seq } = line;
    const [before, after] = [line.before?.['id'], line.after?.['id']];
    if (seq <= (last.get(table) ?? 0)) continue;
    last.set(table, seq);
    const rows = (tables[table] ??= {});
    if (before !== undefined && before !== after) {
      delete rows[before ?? ''];
      events.push(`${table} delete ${before}`);
    }
    if (after === undefined) continue;
    rows[after ?? ''] = [after, line.after?.['v'] ?? null];
    events.push(`${table} ${op === 'u' && before === after ? 'update' : 'create'} ${after}`);
  }
  return {
    tables: Object.fromEntries(
      Object.entries(tables).filter(([, rows]) => Object.keys(rows).length > 0),
    ),
    events,
    bad,
  };
}
