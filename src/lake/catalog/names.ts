import { PipelineError } from '../../model/errors.ts';
import { tableText, type TableRef } from './catalog.ts';

/*
 * Paths in table metadata are not escaped, and readers take some characters for syntax: `#` and `?` end a path for
 * readers that parse it as a URI, Flink takes `%` for a format, `* ? [ ] { }` are patterns for readers that expand globs, `\` is a separator or an escape, and a colon in a
 * name makes a scheme of it for Hadoop. Spaces, quotes and all of Unicode are read as they are.
 */
const SPECIAL = /[#?*[\]{}\\\p{Cc}]/u;

/** @throws E_CONFIG_UNSUPPORTED */
export function checkLocation(location: string): void {
  const special = SPECIAL.exec(location);
  if (special === null && location.isWellFormed() && !location.endsWith('/')) return;
  throw new PipelineError(
    'E_CONFIG_UNSUPPORTED',
    `The warehouse path ${JSON.stringify(location)} holds ${JSON.stringify(special?.[0] ?? 'a trailing slash')}, which not every reader of tables understands; choose another folder`,
  );
}

/** @throws E_CONFIG_UNSUPPORTED for a namespace or table name that cannot be a folder every reader finds */
export function checkName(name: string, ref: TableRef): void {
  const bad =
    name === '' ||
    name.startsWith('.') ||
    /[/:%]/.test(name) ||
    SPECIAL.test(name) ||
    !name.isWellFormed();
  if (!bad && Buffer.byteLength(name) <= 255) return;
  throw new PipelineError(
    'E_CONFIG_UNSUPPORTED',
    `${JSON.stringify(tableText(ref))} cannot name a table: a name is not empty, has at most 255 bytes, does not begin with a dot, and holds none of / : % \\ # ? * [ ] { } and no control character`,
    { subject: { table: tableText(ref) } },
  );
}
