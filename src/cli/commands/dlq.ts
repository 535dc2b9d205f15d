import { createInterface } from 'node:readline/promises';
import { PipelineError } from '../../model/errors.ts';
import type { PipelineSpec } from '../../model/spec.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { usage } from '../fail.ts';
import { printObject, printRows, type RowColumn } from '../print-rows.ts';
import { waitingLetters } from '../state.ts';
import type { Terminal } from '../terminal.ts';
import { DEFAULT_PIPELINE } from '../tree/does.ts';
import { count } from '../words.ts';
import { loadNoticed } from './run.ts';

type Letter = Awaited<ReturnType<typeof waitingLetters>>[number];
type LetterReport = ReturnType<typeof reportOf>;

const ID = /^[0-9a-f]{8,64}$/u;

const COLUMNS: readonly RowColumn<LetterReport>[] = [
  { title: 'ID', text: (letter) => letter.id },
  { title: 'CODE', text: (letter) => letter.code },
  { title: 'TABLE', text: (letter) => letter.table },
  { title: 'KEY', text: (letter) => letter.key },
  { title: 'PLACE', text: (letter) => `${letter.file}:${letter.line}` },
  { title: 'MESSAGE', text: (letter) => letter.message },
];

export async function listCommand(path: string, terminal: Terminal): Promise<ExitCode> {
  const letters = await waitingLetters(await specOf(path));
  await printRows(terminal, letters.map(reportOf), COLUMNS, 'no dead letters wait');
  return EXIT.ok;
}

export async function showCommand(
  letterId: string,
  path: string,
  terminal: Terminal,
): Promise<ExitCode> {
  const letters = await waitingLetters(await specOf(path));
  const letter = letters.find(({ id }) => id === letterId);
  if (letter === undefined)
    throw new PipelineError('E_NOT_FOUND', `no dead letter has the id ${letterId}`);
  if (terminal.output === 'table') {
    const { errorPaint: paint } = terminal;
    const { code, file, line, byte, table, key, message } = reportOf(letter);
    terminal.say(`${paint.bold(code)}  ${message}`);
    terminal.say(
      paint.dim(
        `${file}:${line} (byte ${byte}), table ${table ?? 'unknown'}, key ${key ?? 'unknown'}`,
      ),
    );
    await terminal.write(letter.bytes);
    if (terminal.isLive) terminal.say('');
    return EXIT.ok;
  }
  await printObject(
    terminal,
    { ...reportOf(letter), bytes_base64: Buffer.from(letter.bytes).toString('base64') },
    () => '',
  );
  return EXIT.ok;
}

export async function replayCommand(
  words: readonly string[],
  options: { readonly all?: boolean },
  terminal: Terminal,
): Promise<ExitCode> {
  const { ids, path } = chosen(words, options.all === true);
  const { spec } = await loadNoticed(path, terminal);
  const { replayDeadLetters } = await import('../../app.ts');
  const { applied, superseded, failed } = await replayDeadLetters(spec, ids);
  await printObject(
    terminal,
    { applied, superseded, failed },
    () =>
      `${count(applied, 'dead letter')} applied, ${superseded} superseded by a later change, ${failed} still failing`,
  );
  return EXIT.ok;
}

export async function discardCommand(
  words: readonly string[],
  options: { readonly all?: boolean; readonly yes?: boolean },
  terminal: Terminal,
): Promise<ExitCode> {
  const { ids, path } = chosen(words, options.all === true);
  const { spec } = await loadNoticed(path, terminal);
  const doomed = (await waitingLetters(spec)).filter(({ id }) => ids === null || ids.includes(id));
  if (options.yes !== true && !(await confirmed(doomed, spec, terminal))) {
    terminal.say('nothing was discarded');
    return EXIT.failed;
  }
  const { discardDeadLetters } = await import('../../app.ts');
  const { discarded } = await discardDeadLetters(spec, ids);
  await printObject(terminal, { discarded }, () => `${count(discarded, 'dead letter')} discarded`);
  return EXIT.ok;
}

async function confirmed(
  doomed: readonly Letter[],
  spec: PipelineSpec,
  terminal: Terminal,
): Promise<boolean> {
  if (!terminal.canAsk)
    throw usage('dlq discard forgets records for good: say --yes, since nobody can be asked here');
  const tables = [...new Set(doomed.map(({ table }) => table ?? 'an unknown table'))].join(', ');
  terminal.warn(
    `This forgets ${count(doomed.length, 'record')} of ${tables || spec.pipeline_id} for good; their bytes will be gone.`,
  );
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(?:es)?$/iu.test((await lines.question('Discard? [y/N] ')).trim());
  } finally {
    lines.close();
  }
}

/** Which letters, and of which pipeline; null: all of them. @throws E_USAGE */
function chosen(
  words: readonly string[],
  isAll: boolean,
): { readonly ids: readonly string[] | null; readonly path: string } {
  const ids = words.filter((word) => ID.test(word));
  const paths = words.filter((word) => !ID.test(word));
  if (paths.length > 1)
    throw usage(
      `${paths.join(' and ')}: ids have eight hexadecimal digits, and there is one pipeline file`,
    );
  if (isAll && ids.length > 0) throw usage('either ids or --all');
  if (!isAll && ids.length === 0) throw usage('name the dead letters by their ids, or say --all');
  return { ids: isAll ? null : ids, path: paths[0] ?? DEFAULT_PIPELINE };
}

function reportOf({ id, code, message, table, key, file, line, byte, checkpoint }: Letter) {
  return { id, code, message, table, key, file, line, byte, checkpoint };
}

async function specOf(path: string): Promise<PipelineSpec> {
  const { loadPipeline } = await import('../../config/load.ts');
  return (await loadPipeline(path)).spec;
}
