import type { Image } from '../../codecs/debezium-line.ts';

interface Seen {
  /** Images of new rows. */
  readonly rows: readonly Image[];
  /** Images of deleted rows. */
  readonly removed: readonly Image[];
}

/** What most likely is a table's key. A guess, except where deletes carry the key alone. */
export function guessKey(
  table: string,
  columns: readonly string[],
  { rows, removed }: Seen,
): { readonly key: readonly string[]; readonly reason: string } {
  const whole = Math.max(...rows.map((row) => row.size), 0);
  const bare = removed.find((image) => image.size > 0 && image.size < whole);
  if (bare !== undefined) return { key: [...bare.keys()], reason: 'what deletes carry' };
  const named = likelyNames(table).map((name) =>
    columns.find((column) => column.toLowerCase() === name),
  );
  const byName = named.find((column) => column !== undefined && isNeverNull(column, rows));
  if (byName !== undefined) return { key: [byName], reason: 'a guess by its name' };
  const unique = columns.find(
    (column) => rows.length > 1 && isNeverNull(column, rows) && isUnique(column, rows),
  );
  if (unique !== undefined) return { key: [unique], reason: 'a guess: no two rows share a value' };
  return { key: columns.slice(0, 1), reason: 'a mere guess: the first column' };
}

/** `shop.orders` → id, orders_id, order_id, … */
function likelyNames(table: string): readonly string[] {
  const plain = (table.split('.').at(-1) ?? table).toLowerCase();
  const singular = plain.replace(/ies$/u, 'y').replace(/s$/u, '');
  const stems = [...new Set([plain, singular])];
  return [
    'id',
    ...stems.flatMap((stem) => [`${stem}_id`, `${stem}id`]),
    'uuid',
    'guid',
    'pk',
    'key',
    'code',
  ];
}

const isNeverNull = (column: string, rows: readonly Image[]): boolean =>
  rows.every((row) => (row.get(column) ?? null) !== null);

const isUnique = (column: string, rows: readonly Image[]): boolean =>
  new Set(rows.map((row) => row.get(column))).size === rows.length;
