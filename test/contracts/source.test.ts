import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { systemClock } from '../../src/lib/clock.ts';
import { DebeziumFiles } from '../../src/sources/debezium-files/source.ts';
import { chooseTables } from '../../src/sources/debezium-files/tables.ts';
import { Database } from '../../src/sql/database.ts';
import { envelopeText } from '../kit/envelope-text.ts';
import { ScriptedFeed, ScriptedSource } from '../kit/scripted-source.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { TABLE } from './describe-sink.ts';
import { describeSource, FEED, type SourceSubject } from './describe-source.ts';

describeSource('a script', async () => {
  const db = await Database.open({ threads: 1 });
  const feed = new ScriptedFeed(FEED, { 'shop.a': TABLE });
  return {
    db,
    open: () => new ScriptedSource({ feed, batchLines: () => 4 }),
    place: (line) => `script:${line + 1}`,
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
});

interface FilesForm {
  readonly files: number;
  readonly isWrapped?: boolean;
  readonly isGzip?: boolean;
  readonly isOpenAtEnd?: boolean;
  readonly segmentBytes: number;
  readonly inPlaceBytes?: number;
}

const FORMS: Readonly<Record<string, FilesForm>> = {
  'a file of bare envelopes': { files: 1, segmentBytes: 600 },
  'a file of envelopes with their schema': { files: 1, isWrapped: true, segmentBytes: 2000 },
  'a file without a line end at its end': { files: 1, isOpenAtEnd: true, segmentBytes: 600 },
  'a folder of files that are read where they lie': {
    files: 3,
    segmentBytes: 1000,
    inPlaceBytes: 1000,
  },
  'a folder of files, many to a batch': { files: 6, segmentBytes: 800, inPlaceBytes: 800 },
  'a compressed file': { files: 1, isGzip: true, segmentBytes: 600 },
  'a folder of compressed files': { files: 2, isGzip: true, segmentBytes: 500 },
};

for (const [name, form] of Object.entries(FORMS)) describeSource(name, () => filesOf(form));

async function filesOf(form: FilesForm): Promise<SourceSubject> {
  const [db, dir] = [await Database.open({ threads: 1 }), await tempDir({ inMemory: true })];
  const feed = join(dir.path, 'feed');
  await mkdir(feed);
  const perFile = Math.ceil(FEED.length / form.files);
  const nameOf = (file: number): string =>
    `part-${String(file).padStart(3, '0')}.ndjson${form.isGzip === true ? '.gz' : ''}`;
  for (let file = 0; file < form.files; file += 1) {
    const lines = FEED.slice(file * perFile, (file + 1) * perFile).map((line) =>
      envelopeText(line, form.isWrapped === true ? SCHEMA : undefined),
    );
    const text = `${lines.join('\n')}${form.isOpenAtEnd === true ? '' : '\n'}`;
    await writeFile(join(feed, nameOf(file)), form.isGzip === true ? gzipSync(text) : text);
  }
  const choice = chooseTables({
    tables: [
      {
        table: 'shop.a',
        primary_key: ['id'],
        ...(form.isWrapped === true
          ? {}
          : { columns: { id: { type: 'string' }, v: { type: 'string' } } }),
      },
    ],
    mapping: null,
    mapped: [],
  });
  return {
    db,
    place: (line) => `${nameOf(Math.floor(line / perFile))}:${(line % perFile) + 1}`,
    open: () =>
      new DebeziumFiles({
        db,
        clock: systemClock,
        path: feed,
        isWatching: false,
        choice,
        needsBefore: false,
        wantsPlaces: true,
        hasOneTarget: true,
        spoolDir: join(dir.path, 'spool'),
        segmentBytes: form.segmentBytes,
        inPlaceBytes: form.inPlaceBytes ?? 0,
        maxLineBytes: 1 << 20,
        maxNesting: 100,
      }),
    [Symbol.asyncDispose]: async () => {
      await db[Symbol.asyncDispose]();
      await dir[Symbol.asyncDispose]();
    },
  };
}

const ROW = ['id', 'v'].map((field) => ({ field, type: 'string', optional: field !== 'id' }));
const SCHEMA = {
  type: 'struct',
  fields: ['before', 'after'].map((field) => ({
    field,
    type: 'struct',
    optional: true,
    fields: ROW,
  })),
};
