import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { prepareDemo, type DemoQuery } from '../../demo/demo.ts';
import type { PipelineSpec } from '../../model/spec.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { printObject } from '../print-rows.ts';
import { proveTables, type Proof } from '../prove.ts';
import { readRows, tableOf } from '../query/print-result.ts';
import { runQuery } from '../query/run-query.ts';
import { formatRun, type RunReport } from '../run-report.ts';
import { feedState, lastCheckpoint, waitingLetters } from '../state.ts';
import type { Terminal } from '../terminal.ts';
import { openWarehouse, type Warehouse } from '../warehouse.ts';
import { bytes, callName, count, indented, number, shellWord, shownPath } from '../words.ts';
import { loadNoticed, runLoaded } from './run.ts';

type Letters = Awaited<ReturnType<typeof waitingLetters>>;

interface Outcome {
  readonly path: string;
  readonly run: RunReport;
  readonly proofs: readonly Proof[];
  readonly letters: Letters;
  readonly warehouse: Warehouse;
  /** Commands to try. */
  readonly next: readonly string[];
}

/** `lakeward demo`: a real feed, mirrored, proven and asked, in one go. */
export async function demoCommand(dir: string, terminal: Terminal): Promise<ExitCode> {
  const isAgain = existsSync(join(dir, 'pipeline.yaml'));
  const { pipelinePath, feedPath, queries } = await prepareDemo(dir);
  const path = shownPath(pipelinePath);
  const loaded = await loadNoticed(path, terminal);
  const { paint } = terminal;
  const tell = async (text: string): Promise<void> => {
    if (terminal.output === 'table') await terminal.write(`${text}\n`);
  };
  const size = (await feedState(loaded.spec, null)).files.reduce(
    (sum, file) => sum + file.bytes,
    0,
  );
  const verb = isAgain ? 'found' : 'wrote';
  await tell(
    `${paint.green('✔')} ${verb} ${path} and a recorded feed, ${shownPath(feedPath)} (${bytes(size)})`,
  );
  const { report: run, signal } = await runLoaded(path, loaded, terminal);
  await tell(await formatRun({ ...run, next: null }, paint));
  if (signal !== null) return EXIT.interrupted;
  const warehouse = await openWarehouse({ path });
  const proofs = await proveAll(loaded.spec, warehouse, terminal);
  for (const proof of proofs) await tell(proofText(proof, paint));
  const letters = await waitingLetters(loaded.spec);
  const next = nextCommands(path, shortest(queries.slice(1)), letters[0]?.id);
  await tellAnswer({ path, run, proofs, letters, warehouse, next }, queries[0], terminal);
  return proofs.every(({ equal }) => equal) ? EXIT.ok : EXIT.different;
}

async function tellAnswer(
  outcome: Outcome,
  query: DemoQuery | undefined,
  terminal: Terminal,
): Promise<void> {
  const { path, run, proofs, letters, warehouse, next } = outcome;
  const { paint } = terminal;
  const at = 'current';
  if (terminal.output !== 'table') {
    const rows = query === undefined ? [] : await runQuery(query.sql, { warehouse, at }, readRows);
    const reconcile = proofs.map(({ table, equal, report }) => ({
      table,
      equal,
      rows: report?.rows ?? null,
    }));
    const dead = letters.map(({ id, code, message, file, line }) => ({
      id,
      code,
      message,
      file,
      line,
    }));
    await printObject(
      terminal,
      { pipeline: path, run, reconcile, query: { ...query, rows }, dead_letters: dead, next },
      () => '',
    );
    return;
  }
  const parts: string[] = [];
  if (query !== undefined) {
    const { text } = await runQuery(query.sql, { warehouse, at }, (result) =>
      tableOf(result, paint),
    );
    parts.push(`${paint.bold(capital(query.title))}\n${indented(text)}`);
  }
  const [letter] = letters;
  if (letter !== undefined) {
    const waits =
      letters.length === 1 ? 'One dead letter waits' : `${letters.length} dead letters wait`;
    parts.push(
      `${paint.yellow(waits)}: ${letter.code} at ${letter.file}:${letter.line}\n  ${letter.message}`,
    );
  }
  parts.push(`${paint.bold('Try next')}\n${indented(next.join('\n'))}`);
  await terminal.write(parts.map((part) => `\n${part}\n`).join(''));
}

async function proveAll(
  spec: PipelineSpec,
  warehouse: Warehouse,
  terminal: Terminal,
): Promise<readonly Proof[]> {
  const last = await lastCheckpoint(spec);
  const proofs: Proof[] = [];
  if (last === null) return proofs;
  for await (const proof of proveTables(spec, last, { warehouse, names: [], terminal }))
    proofs.push(proof);
  return proofs;
}

function proofText({ table, equal, report }: Proof, paint: Terminal['paint']): string {
  const rows = report?.rows ?? { expected: 0, actual: 0 };
  if (equal)
    return `${paint.green('✔')} ${table} equals its feed, which was folded a second time, by other code: ${count(rows.actual, 'row')}`;
  return `${paint.red('✘')} ${table} DIFFERS from its feed: ${count(rows.expected, 'row')} expected, ${number(rows.actual)} found`;
}

function nextCommands(
  path: string,
  query: DemoQuery | undefined,
  letterId: string | undefined,
): readonly string[] {
  const [call, file] = [callName(), shellWord(path)];
  return [
    ...(query === undefined ? [] : [`${call} query "${query.sql}" ${file}`]),
    `${call} catalog snapshots earthquake ${file}`,
    letterId === undefined ? `${call} run ${file}` : `${call} dlq show ${letterId} ${file}`,
  ];
}

const shortest = (queries: readonly DemoQuery[]): DemoQuery | undefined =>
  queries.toSorted((a, b) => a.sql.length - b.sql.length)[0];

const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
