import type { SourceView } from '../model/change.ts';
import type { CleansingSpec } from '../model/spec.ts';
import { join, sql, type Sql } from '../sql/sql.ts';

/** Trims and turns null tokens into nulls, in both images; does nothing that is not asked for. */
export function cleanse(view: SourceView, spec: CleansingSpec): SourceView {
  if (!spec.trim && spec.null_tokens.length === 0) return view;
  const clean = (text: Sql): Sql => {
    const trimmed = spec.trim ? sql`trim(${text}, ${' \t\n\r\f\v'})` : text;
    if (spec.null_tokens.length === 0) return trimmed;
    return sql`CASE WHEN ${trimmed} IN (${join(spec.null_tokens)}) THEN NULL ELSE ${trimmed} END`;
  };
  return {
    ...view,
    columns: view.columns.map((column) => ({
      ...column,
      after: clean(column.after),
      before: clean(column.before),
    })),
  };
}
