/** An object given to the library → the same tree that a file yields, without positions. */
import type { Finding, Node, Path } from './node-tree.ts';

const NESTING_MAX = 64;

export function readObject(value: unknown): {
  readonly tree: Node;
  readonly findings: readonly Finding[];
} {
  const findings: Finding[] = [];
  const visit = (at: unknown, path: Path): Node => {
    if (path.length <= NESTING_MAX) {
      if (Array.isArray(at))
        return { kind: 'list', items: at.map((item, index) => visit(item, [...path, index])) };
      if (isPlainObject(at)) {
        const entries = Object.entries(at).filter(([key, child]) => {
          if (key === '__proto__')
            findings.push(fault(path, 'the name __proto__ is not supported'));
          return key !== '__proto__' && child !== undefined;
        });
        return {
          kind: 'map',
          entries: entries.map(([key, child]) => ({ key, node: visit(child, [...path, key]) })),
        };
      }
      if (at === null || ['string', 'number', 'boolean'].includes(typeof at))
        return {
          kind: 'scalar',
          value: at as string | number | boolean | null,
          literal: String(at),
        };
      // Digits beyond 2^53: fine as a default value, which is text.
      if (typeof at === 'bigint') return { kind: 'scalar', value: String(at), literal: String(at) };
    }
    findings.push(
      fault(path, 'expected plain data: texts, numbers, true, false, lists and objects'),
    );
    return { kind: 'scalar', value: null, literal: 'null', unresolved: true };
  };
  return { tree: visit(value, []), findings };
}

const fault = (path: Path, message: string): Finding => ({ code: 'E_CONFIG_VALUE', path, message });

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
