import { PipelineError } from '../../model/errors.ts';
import { formatReconcile } from '../../reconcile/format-reconcile.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { jsonText } from '../json-text.ts';
import { proveTables, type Proof } from '../prove.ts';
import { lastCheckpoint } from '../state.ts';
import type { Terminal } from '../terminal.ts';
import { openWarehouse } from '../warehouse.ts';
import { loadNoticed } from './run.ts';

/** `lakeward reconcile`: each table against its feed. */
export async function reconcileCommand(
  path: string,
  names: readonly string[],
  terminal: Terminal,
): Promise<ExitCode> {
  const { spec } = await loadNoticed(path, terminal);
  const last = await lastCheckpoint(spec);
  if (last === null) {
    throw new PipelineError(
      'E_NOT_FOUND',
      `pipeline ${spec.pipeline_id} has no checkpoint yet, so there is nothing to prove: lakeward run ${path}`,
    );
  }
  const proofs: Proof[] = [];
  for await (const proof of proveTables(spec, last, {
    warehouse: await openWarehouse({ path }),
    names,
    terminal,
  })) {
    proofs.push(proof);
    if (terminal.output === 'table') await terminal.write(`${proofText(proof)}\n`);
  }
  const reports = proofs.map(({ table, equal, report }) => report ?? { table, equal, rows: null });
  if (terminal.output === 'json') await terminal.write(`${jsonText(reports, { indent: 2 })}\n`);
  else if (terminal.output !== 'table')
    await terminal.write(reports.map((report) => `${jsonText(report)}\n`).join(''));
  return proofs.every(({ equal }) => equal) ? EXIT.ok : EXIT.different;
}

function proofText({ table, equal, isOnLake, report }: Proof): string {
  if (report === null) return `${table}: not on the lake, since the feed has no change of it yet`;
  if (isOnLake) return formatReconcile(report);
  return equal
    ? `${table}: not on the lake, since the feed leaves no row of it`
    : `${table}: MISSING on the lake\n${formatReconcile(report)}`;
}
