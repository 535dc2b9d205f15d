/**
 * A pipeline file, or an object given to the library, as one tree. It keeps what a plain JavaScript object loses and
 * the checks need: where a value stands, the order of names that look like numbers, and a number's digits as written.
 */
import type { ErrorCode } from '../model/errors.ts';

/** Offsets in the text of the file, end exclusive. Absent for objects of the library. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface ScalarNode {
  readonly kind: 'scalar';
  readonly span?: Span | undefined;
  readonly value: string | number | boolean | null;
  /** A plain scalar as the file has it (`1.10`), so that a default keeps its digits. */
  readonly literal: string;
  /** The text before `${…}` was filled in. Messages print this and never the value. */
  readonly reference?: string | undefined;
  /** A `${…}` that could not be filled in has been reported already: nothing else is checked here. */
  readonly unresolved?: boolean | undefined;
}

export interface MapEntry {
  readonly key: string;
  readonly keySpan?: Span | undefined;
  readonly node: Node;
}

export interface MapNode {
  readonly kind: 'map';
  readonly span?: Span | undefined;
  readonly entries: readonly MapEntry[];
}

export interface ListNode {
  readonly kind: 'list';
  readonly span?: Span | undefined;
  readonly items: readonly Node[];
}

export type Node = ScalarNode | MapNode | ListNode;

export type Path = readonly (string | number)[];

/** Something wrong, before it is turned into a `Problem` with line, column and frame. */
export interface Finding {
  readonly code: ErrorCode;
  readonly path: Path;
  readonly span?: Span | undefined;
  readonly message: string;
  /** The nearest name that would be right. */
  readonly suggestion?: string | undefined;
  /** All that would be right, where that is a short list. */
  readonly allowed?: readonly string[] | undefined;
}

const IDENTIFIER = /^[\p{L}_][\p{L}\p{N}_-]*$/u;

/** `source.tables[0].columns["unit price"]`; empty for the file as a whole. */
export function pathText(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (!IDENTIFIER.test(step)) text += `[${JSON.stringify(step)}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text;
}

export function entryOf(node: Node | undefined, key: string): MapEntry | undefined {
  return node?.kind === 'map' ? node.entries.find((entry) => entry.key === key) : undefined;
}

export function childOf(node: Node | undefined, step: string | number): Node | undefined {
  if (typeof step === 'string') return entryOf(node, step)?.node;
  return node?.kind === 'list' ? node.items[step] : undefined;
}

export function nodeAt(root: Node, path: Path): Node | undefined {
  let node: Node | undefined = root;
  for (const step of path) node = childOf(node, step);
  return node;
}

/** The key at `path` where it has one, else the value: the place to point at when something is missing inside. */
export function spanOfKey(root: Node, path: Path): Span | undefined {
  const last = path.at(-1);
  if (last === undefined) return undefined;
  const parent = nodeAt(root, path.slice(0, -1));
  if (typeof last === 'string') return entryOf(parent, last)?.keySpan;
  return childOf(parent, last)?.span;
}

export function entriesOf(node: Node | undefined): readonly MapEntry[] {
  return node?.kind === 'map' ? node.entries : [];
}

export function itemsOf(node: Node | undefined): readonly Node[] {
  return node?.kind === 'list' ? node.items : [];
}

/** The text of a scalar that holds text; null for anything else, and for a reference that could not be filled in. */
export function textOf(node: Node | undefined): string | null {
  if (node?.kind !== 'scalar' || node.unresolved === true) return null;
  return typeof node.value === 'string' ? node.value : null;
}

/** A value as a message may show it: quoted as written, references unresolved. */
export function shown(node: Node | undefined): string {
  if (node?.kind !== 'scalar') return 'the value';
  if (node.reference !== undefined)
    return `the value of ${node.reference.replaceAll(/:-[^}]*\}/gu, ':-…}')}`;
  if (typeof node.value !== 'string') return node.literal;
  const { value } = node;
  return JSON.stringify(value.length > SHOWN_MAX ? `${value.slice(0, SHOWN_MAX)}…` : value);
}

const SHOWN_MAX = 80;

/** The plain value for the schema's parser. Names are own properties, whatever they are called. */
export function plainOf(node: Node): unknown {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map(plainOf);
  return Object.fromEntries(node.entries.map((entry) => [entry.key, plainOf(entry.node)]));
}
