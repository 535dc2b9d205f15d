import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SourceView, TargetView } from '../../src/model/change.ts';
import type { SchemaMapping } from '../../src/model/spec.ts';
import { EventSink } from '../../src/sinks/event-bus/sink.ts';
import { IcebergSink } from '../../src/sinks/iceberg/sink.ts';
import { Database } from '../../src/sql/database.ts';
import { mapSchema, mirror } from '../../src/stages/schema-mapping.ts';
import { lakeEyes } from '../kit/lake-eyes.ts';
import { MemorySink, MemoryTarget } from '../kit/memory-sink.ts';
import { MemoryEventLog, MemoryEvents } from '../kit/memory-events.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { expectedOf } from '../simulation/script.ts';
import { describeSink } from './describe-sink.ts';

const TARGET = { namespace: 'shop', table: 'a' };
const plain = (view: SourceView): TargetView => mirror(view, TARGET);
const MAPPING: SchemaMapping = {
  source_table: 'shop.a',
  target_object_type_rid: 'ri.type.A',
  primary_key_field: 'id',
  rid_template: '{pk}',
  field_mappings: [{ source_column: 'v', target_property: 'v', nullable: true }],
};

describeSink('memory', async () => {
  const db = await Database.open({ threads: 1 });
  const target = new MemoryTarget();
  return {
    db,
    target: plain,
    open: () => new MemorySink({ db, target }),
    visible: async () => Object.fromEntries(target.tables.get('shop.a')?.rows ?? []),
    marks: async () => target.tables.get('shop.a')?.marks.map((mark) => mark.id) ?? [],
    expected: (lines) => expectedOf(lines).tables['shop.a'] ?? {},
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
});

describeSink('events in memory', async () => {
  const db = await Database.open({ threads: 1 });
  const log = new MemoryEventLog();
  return {
    db,
    target: plain,
    open: () => new MemoryEvents(db, log),
    visible: async () => log.all(),
    marks: async () => [...log.published.keys()],
    expected: (lines) => expectedOf(lines).events.map((text, i) => ({ number: i + 1, text })),
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
});

describeSink('Iceberg', async () => {
  const [db, dir] = [await Database.open({ threads: 1 }), await tempDir({ inMemory: true })];
  const warehouse = join(dir.path, 'warehouse');
  const eyes = lakeEyes(db, warehouse);
  return {
    db,
    target: plain,
    open: () =>
      new IcebergSink({
        db,
        warehouse,
        pipelineId: 'p',
        clock: systemClock,
        describePosition: (position) => position,
      }),
    visible: async () =>
      Object.fromEntries(
        (await eyes.rows('shop', 'a')).map((row) => [row['id'], [row['id'], row['v']]]),
      ),
    marks: () => eyes.marks('shop', 'a', 'p'),
    expected: (lines) => expectedOf(lines).tables['shop.a'] ?? {},
    // Where the table's own folder or its metadata is not there, the table is gone, which is no outage.
    breaks: {
      'the folder of its data': () => blocked(join(warehouse, 'shop', 'a', 'data')),
    },
    [Symbol.asyncDispose]: async () => {
      await db[Symbol.asyncDispose]();
      await dir[Symbol.asyncDispose]();
    },
  };
});

describeSink('the event log', async () => {
  const [db, dir] = [await Database.open({ threads: 1 }), await tempDir({ inMemory: true })];
  const path = join(dir.path, 'events');
  const files = async (): Promise<readonly string[]> =>
    (await readdir(path).catch(() => [])).filter((name) => name.endsWith('.ndjson')).toSorted();
  return {
    db,
    target: (view) => mapSchema(view, MAPPING, TARGET, true),
    open: () =>
      new EventSink({
        db,
        pipelineId: 'p',
        path,
        pendingDir: join(path, '.pending'),
        listeners: [],
      }),
    visible: async () => {
      const texts = await Promise.all(
        (await files()).map((name) => readFile(join(path, name), 'utf8')),
      );
      const events = texts
        .flatMap((text) => text.split('\n').filter((line) => line !== ''))
        .map((line) => JSON.parse(line) as LoggedEvent);
      return events.map(
        ({ id, data }) => `${id} ${data.source_table} ${data.operation} ${data.instance_rid}`,
      );
    },
    marks: async () => (await files()).map((name) => Number.parseInt(name, 10)),
    expected: (lines) => expectedOf(lines).events.map((text, i) => `p-${i + 1} ${text}`),
    breaks: {
      'the folder of the log': () => blocked(path),
      'the folder of what is pending': () => blocked(join(path, '.pending')),
    },
    [Symbol.asyncDispose]: async () => {
      await db[Symbol.asyncDispose]();
      await dir[Symbol.asyncDispose]();
    },
  };
});

interface LoggedEvent {
  readonly id: string;
  readonly data: {
    readonly source_table: string;
    readonly operation: string;
    readonly instance_rid: string;
  };
}

/** A file where a folder was: refuses every write, also to root. */
async function blocked(folder: string): Promise<() => Promise<void>> {
  await rename(folder, `${folder}-away`);
  await writeFile(folder, '');
  return async () => {
    await rename(`${folder}-away`, `${folder}-back`);
    await rename(folder, `${folder}-block`);
    await rename(`${folder}-back`, folder);
  };
}
