/** All checks over one tree; they run together, so that the user sees every problem at once. */
import type { PipelineSpec } from '../model/spec.ts';
import { flowFindings } from './check-flow.ts';
import { mappingFindings } from './check-mapping.ts';
import { shapeFindings } from './check-shape.ts';
import { supportFindings } from './check-support.ts';
import { tableFindings } from './check-tables.ts';
import type { Finding, Node } from './node-tree.ts';
import { plainOf } from './node-tree.ts';
import type { Notice } from './notices.ts';
import { noticesOf } from './notices.ts';
import type { Lookup } from './prepare.ts';
import { prepare } from './prepare.ts';
import { resolveSpec } from './resolve.ts';
import { pipelineSchema } from './schema.ts';

export type Checked =
  | { readonly spec: PipelineSpec; readonly notices: readonly Notice[] }
  | { readonly findings: readonly Finding[] };

export function checkTree(read: Node, baseDir: string, lookup: Lookup): Checked {
  const { tree, findings: references } = prepare(withoutFreeKeys(read), pipelineSchema, lookup);
  // Compiling the parser would take longer than the one file that it is for.
  const parsed = pipelineSchema.safeParse(plainOf(tree), { jitless: true });
  const findings = [
    ...references,
    ...(parsed.success ? [] : shapeFindings(parsed.error.issues, tree, pipelineSchema)),
    ...supportFindings(tree, baseDir),
    ...tableFindings(tree),
    ...mappingFindings(tree),
    ...flowFindings(tree),
  ];
  if (findings.length > 0 || !parsed.success) return { findings };
  return {
    spec: resolveSpec(parsed.data, tree, baseDir),
    notices: noticesOf(tree, pipelineSchema, parsed.data.source.source_type),
  };
}

/** `x-…` at the top is the user's own. */
function withoutFreeKeys(tree: Node): Node {
  if (tree.kind !== 'map') return tree;
  return { ...tree, entries: tree.entries.filter(({ key }) => !key.startsWith('x-')) };
}
