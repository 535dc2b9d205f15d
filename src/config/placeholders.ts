/** `{name}` in templates of the pipeline file. */
import { nearest } from './did-you-mean.ts';
import type { Finding, Node, Path } from './node-tree.ts';
import { textOf } from './node-tree.ts';

/** Placeholders that the template knows nothing of; they would otherwise stand in every name as they are. */
export function placeholderFindings(
  node: Node | undefined,
  path: Path,
  known: readonly string[],
): readonly Finding[] {
  const text = textOf(node);
  if (text === null || node?.kind !== 'scalar') return [];
  const isLiteral = node.reference === undefined;
  const names = [...text.matchAll(/\{([^{}]*)\}/gu)].map((match) => match[1] ?? '');
  return names
    .filter((name) => !known.includes(name))
    .map((name) => ({
      code: 'E_CONFIG_VALUE',
      path,
      span: node.span,
      message: isLiteral
        ? `{${name}} is not a placeholder here`
        : 'a placeholder is not known here',
      suggestion: nearest(name, known.map(String)),
      allowed: known.map((word) => `{${word}}`),
    }));
}
