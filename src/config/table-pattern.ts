/** Table names (`db.table`, `schema.table`) and the patterns with `*` that stand for several of them. */

export function isPattern(table: string): boolean {
  return table.includes('*');
}

/**
 * Why a text cannot name a table; null when it can. Without a dot it stands for rows that carry no `source` block,
 * which is clear only where the file has no other table.
 */
export function tableNameProblem(table: string, onlyTable: string | null): string | null {
  if (isPattern(table) || isDotted(table) || table === onlyTable) return null;
  return 'a table is named "db.table", or "schema.table" where the envelope names a schema';
}

export const isDotted = (table: string): boolean => /^[^.]+\..*[^.]$/su.test(table);

/** Why a text cannot name a target table, `t` or `ns.t`; null when it can. A name becomes a folder. */
export function targetNameProblem(target: string): string | null {
  const parts = target.split('.');
  if (parts.length > 2) return 'a target table is "table" or "namespace.table"';
  if (parts.some((part) => part.trim() === '')) return 'a part of the target table’s name is empty';
  return parts.some((part) => /[/\\\p{Cc}]/u.test(part))
    ? 'a target table’s name cannot hold slashes or control characters'
    : null;
}
