import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, relative, resolve, sep } from 'node:path';
import { PipelineError } from '../../model/errors.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import type { FeedSample } from '../init/feed-sample.ts';
import { pipelineText, PLACEHOLDER } from '../init/pipeline-text.ts';
import { printObject } from '../print-rows.ts';
import type { Terminal } from '../terminal.ts';
import { DEFAULT_PIPELINE } from '../tree/does.ts';
import { callName, count, indented, shellWord, shownPath } from '../words.ts';

/** `lakeward init`: a first pipeline file. Never writes over one. */
export async function initCommand(
  dir: string,
  { from }: { readonly from?: string },
  terminal: Terminal,
): Promise<ExitCode> {
  const folder = resolve(dir);
  const path = join(folder, DEFAULT_PIPELINE);
  const sample = from === undefined ? null : await look(from);
  if (sample?.tables.length === 0) {
    throw new PipelineError(
      'E_LINE_JSON',
      `${from} holds no Debezium envelopes in its first ${count(sample.lines, 'line')}`,
    );
  }
  const feed = from === undefined ? './feed/*.jsonl' : relativePath(folder, from);
  const pipelineId = identifier(basename(folder));
  await create(path, pipelineText({ pipelineId, feed, tables: sample?.tables ?? [PLACEHOLDER] }));
  const shown = shownPath(path);
  const tables = (sample?.tables ?? []).map(({ name, key, columns, changes }) => ({
    table: name,
    primary_key: key,
    columns: columns.length,
    changes,
  }));
  const next = [
    `${callName()} validate ${shellWord(shown)}`,
    `${callName()} run ${shellWord(shown)}`,
  ];
  await printObject(terminal, { file: shown, pipeline_id: pipelineId, tables, next }, () => {
    const { paint } = terminal;
    const seen = tables.map(
      (t) =>
        `${t.table}: ${count(t.columns, 'column')}, key ${t.primary_key.join(', ')} (check it)`,
    );
    const todo =
      sample === null
        ? ['It shows one table as an example: name your feed and your tables in it, then']
        : ['Check the keys and types, then'];
    return [
      `${paint.green('✔')} wrote ${shown}`,
      ...seen.map((line) => `  ${line}`),
      ...todo,
      indented(next.join('\n')),
    ].join('\n');
  });
  return EXIT.ok;
}

async function look(from: string): Promise<FeedSample> {
  const [{ sampleFeed }, { Database }] = await Promise.all([
    import('../init/feed-sample.ts'),
    import('../../sql/database.ts'),
  ]);
  const dir = await mkdtemp(join(tmpdir(), 'lakeward-init-'));
  try {
    await using db = await Database.open();
    return await sampleFeed(resolve(from), identifier(basename(from).replace(/\..*$/u, '')), {
      db,
      dir,
    });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function create(path: string, text: string): Promise<void> {
  try {
    await mkdir(resolve(path, '..'), { recursive: true });
    await writeFile(path, text, { flag: 'wx' });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const subject = { file: path };
    if (code === 'EEXIST')
      throw new PipelineError(
        'E_CONFIG_FILE',
        `${shownPath(path)} is there already, and stays as it is: name another folder`,
        { subject },
      );
    throw new PipelineError('E_STATE_WRITE', `cannot write ${path}`, { subject, cause });
  }
}

function relativePath(folder: string, from: string): string {
  const path = relative(folder, resolve(from)).split(sep).join('/');
  return path.startsWith('..') ? path : `./${path}`;
}

/** Letters, digits and dashes of a folder's name. */
function identifier(name: string): string {
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/gu, '-')
    .replaceAll(/^-+|-+$/gu, '');
  return /^[a-z0-9]/u.test(plain) ? plain : 'my-pipeline';
}
