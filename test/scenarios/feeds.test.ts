import { describe, expect, test } from 'vitest';
import { create, line, remove, update, wrapped } from './envelopes.ts';
import { mirrorOf, pipelineCase, ranCase } from './pipeline-case.ts';

const FIELDS = { id: 'int64', v: 'string' };

describe('the form of an envelope', () => {
  const forms = {
    bare: (text: string): string => text,
    'schema and payload': (text: string): string => wrapped(FIELDS, text),
    'a payload whose schema is null': (text: string): string => `{"schema":null,"payload":${text}}`,
  };

  test.each(Object.entries(forms))('%s', async (_, form) => {
    await using made = await ranCase(mirrorOf(), [
      form(create({ id: 1, v: 'a' })),
      form(create({ id: 2, v: 'b' })),
      form(update({ id: 1, v: 'a' }, { id: 1, v: 'a2' })),
      form(remove({ id: 2, v: 'b' })),
    ]);
    expect(await made.rows('shop.t')).toEqual([{ id: '1', v: 'a2' }]);
  });

  test('both forms in one feed, whichever comes first', async () => {
    await using made = await ranCase(mirrorOf(), [
      create({ id: 1, v: 'a' }),
      wrapped(FIELDS, create({ id: 2, v: 'b' })),
      ...Array.from({ length: 30 }, (_, i) => create({ id: i + 3, v: 'x' })),
      wrapped(FIELDS, update({ id: 1 }, { id: 1, v: 'a2' })),
    ]);
    const rows = await made.rows('shop.t');
    expect(rows).toHaveLength(32);
    expect(rows.slice(0, 2)).toEqual([
      { id: '1', v: 'a2' },
      { id: '2', v: 'b' },
    ]);
  });

  test('a feed that is bare for its first thousand lines may go on wrapped', async () => {
    const lines = Array.from({ length: 1000 }, (_, i) => create({ id: i, v: 'a' }));
    await using made = await ranCase(mirrorOf(), [
      ...lines,
      wrapped(FIELDS, create({ id: 1000, v: 'b' })),
    ]);
    expect((await made.rows('shop.t')).at(-1)).toEqual({ id: '1000', v: 'b' });
    expect(await made.deadLetters()).toEqual([]);
  });

  test('the order of fields does not matter', async () => {
    const text =
      '{"op":"c","source":{"table":"t","db":"shop"},"after":{"v":"a","id":1},"before":null}';
    await using made = await ranCase(mirrorOf(), [text]);
    expect(await made.rows('shop.t')).toEqual([{ id: '1', v: 'a' }]);
  });

  test('fields that nobody knows are passed over', async () => {
    const text = `{"op":"c","after":{"id":1,"v":"a","extra":{"op":"d"}},"transaction":{"id":"7"},"x":[1,{"y":null}],"source":{"db":"shop","table":"t","snapshot":"last","sequence":[null,"5"]}}`;
    await using made = await ranCase(mirrorOf(), [text]);
    expect(await made.rows('shop.t')).toEqual([{ id: '1', v: 'a' }]);
    expect(made.outcome.counters.changes).toBe(1);
  });
});

describe('operations', () => {
  test('c and r are creates, also of a key that exists', async () => {
    await using made = await ranCase(mirrorOf(), [
      create({ id: 1, v: 'a' }),
      line('r', { after: { id: 2, v: 'b' } }),
      line('r', { before: null, after: { id: 1, v: 'a2' } }),
      create({ id: 2, v: 'b2' }),
    ]);
    expect(await made.rows('shop.t')).toEqual([
      { id: '1', v: 'a2' },
      { id: '2', v: 'b2' },
    ]);
  });

  test('a delete that carries its key only deletes', async () => {
    await using made = await ranCase(mirrorOf(), [create({ id: 1, v: 'a' }), remove({ id: 1 })]);
    expect(await made.rows('shop.t')).toEqual([]);
  });

  test('an update whose before carries the key only moves the row when the key changes', async () => {
    await using made = await ranCase(mirrorOf(), [
      create({ id: 1, v: 'a' }),
      update({ id: 1 }, { id: 2, v: 'a' }),
    ]);
    expect(await made.rows('shop.t')).toEqual([{ id: '2', v: 'a' }]);
  });

  test('an update of a key that was never seen is a row', async () => {
    await using made = await ranCase(mirrorOf(), [line('u', { after: { id: 1, v: 'a' } })]);
    expect(await made.rows('shop.t')).toEqual([{ id: '1', v: 'a' }]);
  });

  test('a delete of an unknown key deletes nothing', async () => {
    await using made = await ranCase(mirrorOf(), [create({ id: 1, v: 'a' }), remove({ id: 9 })]);
    expect(await made.rows('shop.t')).toEqual([{ id: '1', v: 'a' }]);
  });

  test('a column that after lacks is null', async () => {
    await using made = await ranCase(mirrorOf(), [
      create({ id: 1, v: 'a' }),
      update({ id: 1, v: 'a' }, { id: 1 }),
    ]);
    expect(await made.rows('shop.t')).toEqual([{ id: '1', v: null }]);
  });

  test('delete and create of one key in one checkpoint leave the new row', async () => {
    await using made = await ranCase(mirrorOf(), [
      create({ id: 1, v: 'a' }),
      remove({ id: 1 }),
      '',
      create({ id: 1, v: 'b' }),
    ]);
    expect(await made.rows('shop.t')).toEqual([{ id: '1', v: 'b' }]);
  });

  test('keys that swap within one checkpoint keep their own rows', async () => {
    await using made = await ranCase(mirrorOf(), [
      create({ id: 1, v: 'a' }),
      create({ id: 2, v: 'b' }),
      update({ id: 1, v: 'a' }, { id: 3, v: 'a' }),
      update({ id: 2, v: 'b' }, { id: 1, v: 'b' }),
      update({ id: 3, v: 'a' }, { id: 2, v: 'a' }),
    ]);
    expect(await made.rows('shop.t')).toEqual([
      { id: '1', v: 'b' },
      { id: '2', v: 'a' },
    ]);
  });
});

describe('records beside changes are counted and skipped', () => {
  const RECORDS: Readonly<Record<string, string>> = {
    'a heartbeat': '{"ts_ms":1700000000000}',
    'a wrapped heartbeat':
      '{"schema":{"type":"struct","fields":[]},"payload":{"ts_ms":1700000000000}}',
    'a schema-change record': `{"source":{"db":"shop","table":"t"},"ts_ms":1,"databaseName":"shop","ddl":"ALTER TABLE t ADD w int","tableChanges":[]}`,
    'a transaction record': `{"status":"BEGIN","id":"571","ts_ms":1,"event_count":null,"data_collections":null}`,
    'a message of the log': `{"op":"m","ts_ms":1,"source":{"db":"shop","table":"","schema":""},"message":{"prefix":"p","content":"AQ=="}}`,
  };

  test.each(Object.entries(RECORDS))('%s', async (_, text) => {
    await using made = await ranCase(mirrorOf(), [
      create({ id: 1, v: 'a' }),
      text,
      create({ id: 2, v: 'b' }),
    ]);
    expect(made.outcome.counters).toMatchObject({ changes: 2, messages: 1, deadLetters: 0 });
    expect(await made.rows('shop.t')).toHaveLength(2);
  });

  test.each([
    ['empty', ''],
    ['blank', ' \t'],
    ['null', 'null'],
    ['a null payload', '{"schema":null,"payload":null}'],
  ])('a tombstone: %s', async (_, text) => {
    await using made = await ranCase(mirrorOf(), [
      create({ id: 1, v: 'a' }),
      remove({ id: 1, v: 'a' }),
      text,
      create({ id: 2, v: 'b' }),
    ]);
    expect(await made.rows('shop.t')).toEqual([{ id: '2', v: 'b' }]);
    expect(await made.deadLetters()).toEqual([]);
  });
});

describe('which table a line belongs to', () => {
  const key = { primary_key: ['id'], columns: { id: 'long', v: 'string' } };
  const at = (db: string, table: string, schema?: string): Record<string, string> => ({
    db,
    ...(schema === undefined ? {} : { schema }),
    table,
  });

  test('without a source block, to the one table', async () => {
    await using made = await ranCase(mirrorOf(), [create({ id: 1, v: 'a' }, null)]);
    expect(await made.rows('shop.t')).toHaveLength(1);
  });

  test('without a source block and with two tables, nobody knows', async () => {
    const tables = [
      { table: 'shop.a', ...key },
      { table: 'shop.b', ...key },
    ];
    await using made = await ranCase({ source: { tables } }, [
      create({ id: 1, v: 'a' }, null),
      create({ id: 2, v: 'b' }, at('shop', 'b')),
    ]);
    expect((await made.deadLetters()).map(({ code, line: n }) => [code, n])).toEqual([
      ['E_ENVELOPE_TABLE', 1],
    ]);
    expect(await made.rows('shop.b')).toHaveLength(1);
  });

  test('a source with a schema is schema.table, whatever its database', async () => {
    const tables = [{ table: 'public.orders', ...key }];
    await using made = await ranCase({ source: { tables } }, [
      create({ id: 1, v: 'a' }, { connector: 'postgresql', ...at('shop', 'orders', 'public') }),
    ]);
    expect(await made.tables()).toEqual(['public.orders']);
    expect(await made.rows('public.orders')).toEqual([{ id: '1', v: 'a' }]);
  });

  test('a table called db.table is not one called schema.table', async () => {
    const tables = [{ table: 'shop.orders', ...key }];
    await using made = await ranCase({ source: { tables } }, [
      create({ id: 1, v: 'a' }, { connector: 'postgresql', ...at('shop', 'orders', 'public') }),
      create({ id: 2, v: 'b' }, { connector: 'mysql', ...at('shop', 'orders') }),
    ]);
    expect(await made.rows('shop.orders')).toEqual([{ id: '2', v: 'b' }]);
    expect(made.outcome.counters.unmapped).toBe(1);
  });

  test('several tables of one feed go each to their own', async () => {
    const tables = ['a', 'b'].map((name) => ({ table: `shop.${name}`, ...key }));
    await using made = await ranCase({ source: { tables } }, [
      create({ id: 1, v: 'a' }, at('shop', 'a')),
      create({ id: 1, v: 'b' }, at('shop', 'b')),
      update({ id: 1, v: 'a' }, { id: 1, v: 'a2' }, at('shop', 'a')),
    ]);
    expect(await made.rows('shop.a')).toEqual([{ id: '1', v: 'a2' }]);
    expect(await made.rows('shop.b')).toEqual([{ id: '1', v: 'b' }]);
  });

  test('tables of one name in two databases stay apart', async () => {
    const tables = [{ table: '*.t', ...key }];
    await using made = await ranCase({ source: { tables } }, [
      create({ id: 1, v: 'a' }, at('one', 't')),
      create({ id: 1, v: 'b' }, at('two', 't')),
    ]);
    expect(await made.tables()).toEqual(['one.t', 'two.t']);
  });

  test('a pattern takes what fits, and the rest is skipped and counted', async () => {
    const tables = [{ table: 'shop.orders_*', ...key }];
    await using made = await ranCase({ source: { tables } }, [
      create({ id: 1, v: 'a' }, at('shop', 'orders_2023')),
      create({ id: 2, v: 'b' }, at('shop', 'orders_2024')),
      create({ id: 3, v: 'c' }, at('shop', 'orders')),
      create({ id: 4, v: 'd' }, at('shopx', 'orders_2024')),
    ]);
    expect(await made.tables()).toEqual(['shop.orders_2023', 'shop.orders_2024']);
    expect(made.outcome.counters).toMatchObject({ changes: 2, unmapped: 2, deadLetters: 0 });
  });

  test('a pattern’s dot is a dot', async () => {
    const tables = [{ table: 'shop.*', ...key }];
    await using made = await ranCase({ source: { tables } }, [
      create({ id: 1, v: 'a' }, at('shopx', 't')),
    ]);
    expect(made.outcome.counters.unmapped).toBe(1);
  });

  test('a table that the pipeline does not name is skipped and counted', async () => {
    await using made = await ranCase(mirrorOf(), [
      create({ id: 1, v: 'a' }),
      create({ other: [1] }, at('shop', 'u')),
    ]);
    expect(await made.tables()).toEqual(['shop.t']);
    expect(made.outcome.counters).toMatchObject({ changes: 1, unmapped: 1, deadLetters: 0 });
  });

  test('a table with neither key nor mapping is refused with the line to add', async () => {
    const attempt = pipelineCase({
      source: { tables: [{ table: 'shop.t', columns: { id: 'long' } }] },
    });
    await expect(attempt).rejects.toMatchObject({
      code: 'E_TABLE_NO_KEY',
      message: expect.stringContaining('primary_key') as string,
    });
  });

  test('a table of the feed without a key is refused before anything is written', async () => {
    await using made = await ranCase({}, [create({ id: 1, v: 'a' })]);
    expect(made.outcome.error).toMatchObject({
      code: 'E_TABLE_NO_KEY',
      message: expect.stringContaining('primary_key: [id]') as string,
    });
    expect(await made.tables()).toEqual([]);
  });

  test('the sink’s namespace overrides the database', async () => {
    const sink = { sink: { iceberg: { namespace: 'lake' } } };
    await using made = await ranCase(mirrorOf({}, sink), [create({ id: 1, v: 'a' })]);
    expect(await made.tables()).toEqual(['lake.t']);
  });

  test('a key of several columns tells rows apart, whatever stands between its parts', async () => {
    const table = { primary_key: ['a', 'b'], columns: { a: 'string', b: 'string', v: 'string' } };
    await using made = await ranCase(mirrorOf(table), [
      create({ a: 'x,y', b: 'z', v: '1' }),
      create({ a: 'x', b: 'y,z', v: '2' }),
      update({ a: 'x,y', b: 'z' }, { a: 'x,y', b: 'z', v: '3' }),
      remove({ a: 'x', b: 'y,z' }),
    ]);
    expect(await made.rows('shop.t')).toEqual([{ a: 'x,y', b: 'z', v: '3' }]);
  });
});

describe('where the feed lies', () => {
  const one = (n: number): string => create({ id: n, v: String(n) });
  const ids = async (made: Awaited<ReturnType<typeof pipelineCase>>): Promise<unknown> =>
    (await made.rows('shop.t')).map((row) => row['id']);

  test('a file, named relative to the pipeline file', async () => {
    await using made = await pipelineCase(mirrorOf({}, { source: { path: './feed/only.jsonl' } }));
    await made.feed('only.jsonl', [one(1)]);
    await made.feed('other.jsonl', [one(2)]);
    await made.run();
    expect(await ids(made)).toEqual(['1']);
  });

  test('a folder, with the folders in it, without hidden files', async () => {
    await using made = await pipelineCase(mirrorOf());
    await made.feed('b.jsonl', [one(1)]);
    await made.feed('deeper/a.jsonl', [one(2)]);
    await made.feed('.hidden.jsonl', [one(3)]);
    await made.run();
    expect(await ids(made)).toEqual(['1', '2']);
  });

  test('a pattern', async () => {
    await using made = await pipelineCase(mirrorOf({}, { source: { path: './feed/*.json' } }));
    await made.feed('a.json', [one(1)]);
    await made.feed('b.txt', [one(2)]);
    await made.run();
    expect(await ids(made)).toEqual(['1']);
  });

  test('files are read by name, not by age', async () => {
    await using made = await pipelineCase(mirrorOf());
    await made.feed('10.jsonl', [update({ id: 1 }, { id: 1, v: 'first' })]);
    await made.feed('2.jsonl', [update({ id: 1 }, { id: 1, v: 'second' })]);
    await made.feed('1.jsonl', [create({ id: 1, v: 'zero' })]);
    await made.run();
    expect(await made.rows('shop.t')).toEqual([{ id: '1', v: 'second' }]);
  });

  test('a feed that is not there is a mistake of the configuration', async () => {
    await using made = await pipelineCase(mirrorOf({}, { source: { path: './nothing' } }));
    const { error } = await made.run();
    expect(error).toMatchObject({ code: 'E_SOURCE_PATH', kind: 'config' });
  });

  test('a folder name with spaces, quotes and percent signs', async () => {
    await using made = await pipelineCase(
      mirrorOf({}, { source: { path: "./feed/it's 100% a feed" } }),
    );
    await made.feed("it's 100% a feed/a.jsonl", [one(1)]);
    await made.run();
    expect(await ids(made)).toEqual(['1']);
  });
});

describe('the pipeline file', () => {
  test('a pipeline in YAML runs with paths relative to its file', async () => {
    await using made = await pipelineCase(`
pipeline_id: yaml
source:
  source_type: debezium_json
  path: ./feed
  tables: [{table: shop.t, primary_key: [id], columns: {id: long, v: string}}]
`);
    await made.feed('a.jsonl', [create({ id: 1, v: 'a' })]);
    const outcome = await made.run();
    expect(outcome.error).toBeNull();
    expect(await made.rows('shop.t')).toEqual([{ id: '1', v: 'a' }]);
  });

  test('keys that this source does not need are accepted and named once', async () => {
    await using made = await pipelineCase({
      ...mirrorOf({}, { source: { hostname: 'db', port: 3306, username: 'u', database: 'shop' } }),
      checkpoint: { state_backend: 'rocksdb', max_concurrent: 1 },
    });
    await made.feed('a.jsonl', [create({ id: 1, v: 'a' })]);
    expect((await made.run()).error).toBeNull();
    const named = made.notices.flatMap((notice) => notice.paths);
    expect(named.filter((path) => path === 'source.hostname')).toHaveLength(1);
    expect(named.filter((path) => path === 'checkpoint.state_backend')).toHaveLength(1);
  });
});
