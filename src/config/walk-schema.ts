/** Reads a zod schema as data: which keys there are, what a value is expected to be. For messages, docs and editors. */
import type { z } from 'zod';
import type { Node, Path } from './node-tree.ts';
import { childOf } from './node-tree.ts';
import type { Hint } from './hints.ts';
import { hints } from './hints.ts';

export type Schema = z.core.$ZodType;
type Def = z.core.$ZodTypes['_zod']['def'];

export const defOf = (schema: Schema): Def => (schema as z.core.$ZodTypes)._zod.def;

/** Without the wrappers for optional values and defaults. */
export function bare(schema: Schema): Schema {
  const def = defOf(schema);
  switch (def.type) {
    case 'optional':
    case 'default':
    case 'prefault':
    case 'nullable':
      return bare(def.innerType);
    default:
      return schema;
  }
}

/** The hint of a key; hints of an outer wrapper win. */
export function hintOf(schema: Schema): Hint {
  const own = hints.get(schema) ?? {};
  const def = defOf(schema);
  switch (def.type) {
    case 'optional':
    case 'default':
    case 'prefault':
    case 'nullable':
      return { ...hintOf(def.innerType), ...own };
    default:
      return own;
  }
}

export function isOptional(schema: Schema): boolean {
  return schema !== bare(schema);
}

type Kind = Node['kind'];

function kindsOf(schema: Schema): readonly Kind[] {
  const def = defOf(bare(schema));
  switch (def.type) {
    case 'object':
    case 'record':
      return ['map'];
    case 'array':
      return ['list'];
    case 'unknown':
      return ['map', 'list', 'scalar'];
    case 'union':
      return def.options.flatMap(kindsOf);
    default:
      return ['scalar'];
  }
}

/** The alternatives of a schema that a value of this kind can be meant for; one, unless there are several scalars. */
export function alternatives(schema: Schema, kind: Kind): readonly Schema[] {
  const inner = bare(schema);
  const def = defOf(inner);
  if (def.type === 'union') return def.options.flatMap((option) => alternatives(option, kind));
  return kindsOf(inner).includes(kind) ? [inner] : [];
}

/** The schema of one key or item; undefined for an unknown key. */
export function childSchema(schema: Schema, node: Node, step: string | number): Schema | undefined {
  const [inner] = alternatives(schema, node.kind);
  if (inner === undefined) return undefined;
  const def = defOf(inner);
  if (def.type === 'array') return def.element;
  if (def.type === 'record') return def.valueType;
  if (def.type !== 'object') return undefined;
  return Object.hasOwn(def.shape, step) ? def.shape[step] : undefined;
}

/** The schema at a path of the tree; undefined below an unknown key. */
export function schemaAt(root: Schema, tree: Node, path: Path): Schema | undefined {
  let schema: Schema | undefined = root;
  let node: Node | undefined = tree;
  for (const step of path) {
    if (schema === undefined || node === undefined) return undefined;
    schema = childSchema(schema, node, step);
    node = childOf(node, step);
  }
  return schema;
}

/** The keys of an object; empty for anything else. */
export function keysOf(schema: Schema | undefined): readonly (readonly [string, Schema])[] {
  if (schema === undefined) return [];
  const [inner] = alternatives(schema, 'map');
  const def = inner === undefined ? undefined : defOf(inner);
  return def?.type === 'object' ? Object.entries(def.shape) : [];
}

/** The words of an enum; empty for anything else. */
export function wordsOf(schema: Schema): readonly string[] {
  const def = defOf(bare(schema));
  return def.type === 'enum' ? Object.values(def.entries).map(String) : [];
}

/** The bounds of a number, a text's length or a list's length; undefined where there is none. */
function boundsOf(schema: Schema): {
  readonly least: number | undefined;
  readonly most: number | undefined;
} {
  let least: number | undefined;
  let most: number | undefined;
  for (const check of defOf(schema).checks ?? []) {
    const def = (check as z.core.$ZodChecks)._zod.def;
    if (def.check === 'greater_than') least = Math.max(least ?? -Infinity, Number(def.value));
    if (def.check === 'less_than') most = Math.min(most ?? Infinity, Number(def.value));
    if (def.check === 'min_length') least = Math.max(least ?? 0, def.minimum);
  }
  return { least, most };
}

function numberExpects(schema: Schema): string {
  const { least, most } = boundsOf(schema);
  const def = defOf(schema) as { readonly format?: string };
  const kind = def.format === 'safeint' ? 'a whole number' : 'a number';
  if (least === undefined) return kind;
  return most === undefined ? `${kind}, ${least} or more` : `${kind} from ${least} to ${most}`;
}

/** What a value should be, in words: "a whole number from 1 to 65535". */
export function expects(schema: Schema): string {
  const hinted = hintOf(schema).expects;
  if (hinted !== undefined) return hinted;
  const inner = bare(schema);
  const def = defOf(inner);
  switch (def.type) {
    case 'string':
      return boundsOf(inner).least === undefined ? 'text' : 'a text that is not empty';
    case 'number':
      return numberExpects(inner);
    case 'boolean':
      return 'true or false';
    case 'enum':
      return `one of ${wordsOf(inner).join(', ')}`;
    case 'literal':
      return def.values.map(String).join(' or ');
    case 'array':
      return boundsOf(inner).least === undefined ? 'a list' : 'a list of at least one';
    case 'object':
    case 'record':
      return 'a map';
    case 'union':
      return def.options.map((option) => expects(option)).join(', or ');
    default:
      return 'a value';
  }
}

/** True for a key whose values are never shown: marked so, or one whose name tells. */
export function looksSecret(key: string): boolean {
  return /pass|pwd|secret|token|credential|private|api_?-?key|access_?-?key|signing|key_?-?material|^auth/iu.test(
    key,
  );
}
