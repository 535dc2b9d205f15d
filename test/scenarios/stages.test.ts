import { describe, expect, test } from 'vitest';
import { create, line, remove, update, type SourceBlock } from './envelopes.ts';
import { mirrorOf, pipelineCase, ranCase, type PipelineKeys } from './pipeline-case.ts';

const at = (table: string): SourceBlock => ({ db: 'shop', table });

/** Tables `shop.<name> (id long, v string, n long)`. */
const tablesOf = (...names: readonly string[]): PipelineKeys => ({
  source: {
    tables: names.map((name) => ({
      table: `shop.${name}`,
      primary_key: ['id'],
      columns: { id: 'long', v: 'string', n: 'long' },
    })),
  },
});

const mapped = (rest: PipelineKeys = {}): PipelineKeys => ({
  schema_mapping: {
    'shop.t': {
      target_object_type_rid: 'ri.type.T',
      primary_key_field: 'id',
      field_mappings: { v: {}, n: {} },
    },
  },
  ...rest,
});

describe('cleansing', () => {
  const withCleansing = (cleansing: PipelineKeys): PipelineKeys =>
    mirrorOf({}, { processing: { cleansing } });
  const only = async (pipeline: PipelineKeys, v: unknown): Promise<string | null | undefined> => {
    await using made = await ranCase(pipeline, [create({ id: 1, v })]);
    return (await made.rows('shop.t'))[0]?.['v'];
  };

  test.each([' a ', 'N/A', '', '-', 'null'])('nothing is done to %j unasked', async (v) => {
    expect(await only(mirrorOf(), v)).toBe(v);
  });

  test('trim cuts blanks at both ends and none within', async () => {
    expect(await only(withCleansing({ trim: true }), ' \t a b \r\n')).toBe('a b');
  });

  test('null tokens are null, exactly as written', async () => {
    const pipeline = withCleansing({ null_tokens: ['N/A', '-', ''] });
    expect(await only(pipeline, 'N/A')).toBeNull();
    expect(await only(pipeline, '')).toBeNull();
    expect(await only(pipeline, 'n/a')).toBe('n/a');
    expect(await only(pipeline, ' N/A')).toBe(' N/A');
  });

  test('null tokens are looked for after trimming', async () => {
    expect(await only(withCleansing({ trim: true, null_tokens: ['N/A'] }), ' N/A ')).toBeNull();
  });

  test('a trimmed text is a number where it holds exactly one', async () => {
    const columns = { id: 'long', v: 'long' };
    const pipeline = mirrorOf({ columns }, { processing: { cleansing: { trim: true } } });
    expect(await only(pipeline, ' 42 ')).toBe('42');
  });

  test('an untrimmed text is none', async () => {
    const columns = { id: 'long', v: 'long' };
    await using made = await ranCase(mirrorOf({ columns }), [create({ id: 1, v: ' 42 ' })]);
    expect((await made.deadLetters()).map(({ code }) => code)).toEqual(['E_VALUE_INTEGER']);
  });

  test('a default takes the place of a null token', async () => {
    const processing = {
      cleansing: { null_tokens: ['-'] },
      schema_mapping: {
        'shop.t': {
          target_object_type_rid: 'ri.type.T',
          primary_key_field: 'id',
          field_mappings: { v: { default_value: 'none' } },
        },
      },
    };
    await using made = await ranCase(mirrorOf({}, { processing }), [create({ id: 1, v: '-' })]);
    expect(await made.rows('shop.t')).toEqual([{ rid: 'ri.T.main.1', v: 'none' }]);
  });

  test('keys are cleansed, too, so that both spellings are one row', async () => {
    const columns = { id: 'string', v: 'string' };
    const pipeline = mirrorOf({ columns }, { processing: { cleansing: { trim: true } } });
    await using made = await ranCase(pipeline, [
      create({ id: 'a ', v: '1' }),
      update({ id: 'a ' }, { id: ' a', v: '2' }),
      remove({ id: 'a' }),
      create({ id: '\ta', v: '3' }),
    ]);
    expect(await made.rows('shop.t')).toEqual([{ id: 'a', v: '3' }]);
  });

  test('a key that is a null token is missing', async () => {
    const columns = { id: 'string', v: 'string' };
    const pipeline = mirrorOf({ columns }, { processing: { cleansing: { null_tokens: ['-'] } } });
    await using made = await ranCase(pipeline, [create({ id: '-', v: '1' })]);
    expect((await made.deadLetters()).map(({ code }) => code)).toEqual(['E_KEY_MISSING']);
  });
});

describe('filter', () => {
  const filtered = (filter: unknown = "v <> 'draft'"): PipelineKeys => ({
    ...tablesOf('t'),
    processing: { filter },
  });
  const row = (id: number, v: string, n = 0): Record<string, unknown> => ({ id, v, n });

  test('keeps what it holds for', async () => {
    await using made = await ranCase(filtered(), [create(row(1, 'open')), create(row(2, 'draft'))]);
    expect((await made.rows('shop.t')).map(({ id }) => id)).toEqual(['1']);
  });

  test('an update that leaves it is a delete', async () => {
    await using made = await ranCase(filtered(), [
      create(row(1, 'open')),
      update(row(1, 'open'), row(1, 'draft')),
    ]);
    expect(await made.rows('shop.t')).toEqual([]);
  });

  test('an update that leaves it is a delete also of a row of an earlier checkpoint', async () => {
    await using made = await ranCase(filtered(), [create(row(1, 'open'))]);
    await made.append('a.jsonl', [update(row(1, 'open'), row(1, 'draft'))]);
    await made.run();
    expect(await made.rows('shop.t')).toEqual([]);
    expect((await made.snapshots('shop.t')).map(({ operation }) => operation)).toEqual([
      'append',
      'delete',
    ]);
  });

  test.each([
    ['whose before is the key only', update({ id: 1 }, row(1, 'draft'))],
    ['without before', line('u', { after: row(1, 'draft') })],
  ])('an update %s that leaves it is a delete', async (_, text) => {
    await using made = await ranCase(filtered(), [create(row(1, 'open')), text]);
    expect(await made.rows('shop.t')).toEqual([]);
  });

  test('an update that enters it is a create', async () => {
    await using made = await ranCase(filtered(), [
      create(row(1, 'draft')),
      update(row(1, 'draft'), row(1, 'open')),
    ]);
    expect((await made.rows('shop.t')).map(({ v }) => v)).toEqual(['open']);
  });

  test('an update that moves the key and leaves it deletes the old row', async () => {
    await using made = await ranCase(filtered(), [
      create(row(1, 'open')),
      update(row(1, 'open'), row(2, 'draft')),
    ]);
    expect(await made.rows('shop.t')).toEqual([]);
  });

  test('an update that moves the key into it is a row under the new key only', async () => {
    await using made = await ranCase(filtered(), [
      create(row(1, 'draft')),
      update(row(1, 'draft'), row(2, 'open')),
    ]);
    expect((await made.rows('shop.t')).map(({ id }) => id)).toEqual(['2']);
  });

  test('a delete of a row that lies outside deletes nothing', async () => {
    await using made = await ranCase(filtered(), [create(row(1, 'open')), remove(row(2, 'draft'))]);
    expect(await made.rows('shop.t')).toHaveLength(1);
  });

  test('a create outside it of a key that exists takes the row away', async () => {
    await using made = await ranCase(filtered(), [
      create(row(1, 'open')),
      line('r', { after: row(1, 'draft') }),
    ]);
    expect(await made.rows('shop.t')).toEqual([]);
  });

  test('what is neither true nor false is kept out', async () => {
    await using made = await ranCase(filtered(), [create({ id: 1, v: null, n: 1 })]);
    expect(made.outcome.error).toBeNull();
    expect(await made.rows('shop.t')).toEqual([]);
    expect(await made.snapshots('shop.t')).toEqual([]);
  });

  test('sees typed columns', async () => {
    await using made = await ranCase(filtered('n > 9'), [
      create(row(1, 'a', 10)),
      create(row(2, 'b', 9)),
    ]);
    expect((await made.rows('shop.t')).map(({ id }) => id)).toEqual(['1']);
  });

  test('by table or pattern', async () => {
    const pipeline = {
      ...tablesOf('a', 'b'),
      processing: { filter: { 'shop.a': 'n > 0', '*.b': 'n < 0' } },
    };
    const both = [1, -1].flatMap((n, i) => [
      create(row(i, 'x', n), at('a')),
      create(row(i, 'x', n), at('b')),
    ]);
    await using made = await ranCase(pipeline, both);
    expect((await made.rows('shop.a')).map(({ n }) => n)).toEqual(['1']);
    expect((await made.rows('shop.b')).map(({ n }) => n)).toEqual(['-1']);
  });

  test('a column that it names may be one that the mapping does not take', async () => {
    const schema_mapping = {
      'shop.t': {
        target_object_type_rid: 'ri.type.T',
        primary_key_field: 'id',
        field_mappings: { v: {} },
      },
    };
    const pipeline = { ...tablesOf('t'), processing: { schema_mapping, filter: 'n > 0' } };
    await using made = await ranCase(pipeline, [create(row(1, 'a', 1)), create(row(2, 'b', 0))]);
    expect(await made.rows('shop.t')).toEqual([{ rid: 'ri.T.main.1', v: 'a' }]);
  });

  test('a bad value in a row outside is no dead letter of the filter', async () => {
    await using made = await ranCase(filtered('n > 0'), [create({ id: 1, v: 'a', n: 'x' })]);
    expect((await made.deadLetters()).map(({ code }) => code)).toEqual(['E_VALUE_INTEGER']);
  });

  test.each([
    ['not SQL', 'v <>', 'E_CONFIG_SQL'],
    ['a column that is not there', 'w = 1', 'E_COLUMN_UNKNOWN'],
    ['more than one statement', '1); DROP TABLE x; SELECT (1', 'E_CONFIG_SQL'],
  ])('%s stops before anything is written', async (_, filter, code) => {
    await using made = await pipelineCase(filtered(filter)).catch((error: unknown) =>
      Promise.reject(error as Error),
    );
    await made.feed('a.jsonl', [create(row(1, 'a'))]);
    const { error } = await made.run();
    expect(error).toMatchObject({ code, kind: 'config' });
    expect(await made.tables()).toEqual([]);
  });
});

describe('routes', () => {
  const row = (id: number, v: string): Record<string, unknown> => ({ id, v, n: 0 });

  test('many tables by pattern to one', async () => {
    const routes = [{ source_table: 'shop.orders_*', target_table: 'all.orders' }];
    await using made = await ranCase(
      { ...tablesOf('orders_1', 'orders_2'), processing: { routes } },
      [create(row(1, 'a'), at('orders_1')), create(row(2, 'b'), at('orders_2'))],
    );
    expect(await made.tables()).toEqual(['all.orders']);
    expect((await made.rows('all.orders')).map(({ v }) => v)).toEqual(['a', 'b']);
    expect(await made.snapshots('all.orders')).toHaveLength(1);
  });

  test('many to one apply in feed order where they share a key', async () => {
    const routes = [{ source_table: 'shop.*', target_table: 'one' }];
    await using made = await ranCase({ ...tablesOf('a', 'b'), processing: { routes } }, [
      create(row(1, 'first'), at('b')),
      create(row(1, 'second'), at('a')),
      update(row(1, 'first'), row(1, 'third'), at('b')),
    ]);
    expect((await made.rows('shop.one')).map(({ v }) => v)).toEqual(['third']);
  });

  test('{db} and {table} are filled in', async () => {
    const routes = [{ source_table: 'shop.*', target_table: '{db}_lake.{table}_copy' }];
    await using made = await ranCase({ ...tablesOf('a'), processing: { routes } }, [
      create(row(1, 'a'), at('a')),
    ]);
    expect(await made.tables()).toEqual(['shop_lake.a_copy']);
  });

  test('by a predicate, and what takes none goes where it would without routes', async () => {
    const routes = [{ source_table: 'shop.t', when: "v = 'eu'", target_table: 'eu.t' }];
    await using made = await ranCase({ ...tablesOf('t'), processing: { routes } }, [
      create(row(1, 'eu')),
      create(row(2, 'us')),
      create({ id: 3, v: null, n: 0 }),
    ]);
    expect((await made.rows('eu.t')).map(({ id }) => id)).toEqual(['1']);
    expect((await made.rows('shop.t')).map(({ id }) => id)).toEqual(['2', '3']);
  });

  test('a row takes every route whose predicate it fulfils', async () => {
    const routes = [
      { source_table: 'shop.t', when: 'n >= 0', target_table: 'all' },
      { source_table: 'shop.t', when: 'n > 5', target_table: 'big' },
    ];
    await using made = await ranCase({ ...tablesOf('t'), processing: { routes } }, [
      create({ id: 1, v: 'a', n: 1 }),
      create({ id: 2, v: 'b', n: 9 }),
    ]);
    expect((await made.rows('shop.all')).map(({ id }) => id)).toEqual(['1', '2']);
    expect((await made.rows('shop.big')).map(({ id }) => id)).toEqual(['2']);
  });

  test('an update that changes its route leaves one table and enters the other', async () => {
    const routes = [{ source_table: 'shop.t', when: "v = 'eu'", target_table: 'eu.t' }];
    await using made = await ranCase({ ...tablesOf('t'), processing: { routes } }, [
      create(row(1, 'eu')),
      create(row(2, 'us')),
    ]);
    await made.append('a.jsonl', [
      update(row(1, 'eu'), row(1, 'us')),
      update(row(2, 'us'), row(2, 'eu')),
    ]);
    await made.run();
    expect((await made.rows('eu.t')).map(({ id }) => id)).toEqual(['2']);
    expect((await made.rows('shop.t')).map(({ id }) => id)).toEqual(['1']);
  });

  test('a delete goes to every table that the row may be in', async () => {
    const routes = [{ source_table: 'shop.t', when: "v = 'eu'", target_table: 'eu.t' }];
    await using made = await ranCase({ ...tablesOf('t'), processing: { routes } }, [
      create(row(1, 'eu')),
      create(row(2, 'us')),
      remove({ id: 1 }),
      remove({ id: 2 }),
    ]);
    expect(await made.rows('eu.t')).toEqual([]);
    expect(await made.rows('shop.t')).toEqual([]);
  });

  test('tables whose columns do not agree cannot share a target', async () => {
    const routes = [{ source_table: 'shop.*', target_table: 'one' }];
    const source = {
      tables: [
        { table: 'shop.a', primary_key: ['id'], columns: { id: 'long', v: 'string' } },
        { table: 'shop.b', primary_key: ['id'], columns: { id: 'long', v: 'long' } },
      ],
    };
    const attempt = async (): Promise<unknown> => {
      await using made = await ranCase({ source, processing: { routes } }, [
        create({ id: 1, v: 'x' }, at('a')),
        create({ id: 2, v: 1 }, at('b')),
      ]);
      expect(await made.tables()).toEqual([]);
      throw made.outcome.error ?? new Error('it was not refused');
    };
    await expect(attempt()).rejects.toMatchObject({ code: 'E_TARGET_MISMATCH', kind: 'config' });
  });
});

describe('stages together', () => {
  test('a mapped, filtered table of an update that leaves has its delete event', async () => {
    const pipeline = {
      ...tablesOf('t'),
      processing: mapped({ filter: 'n > 0' }),
      sink: { event_bus_enabled: true },
    };
    await using made = await ranCase(pipeline, [
      create({ id: 1, v: 'a', n: 1 }),
      create({ id: 2, v: 'b', n: 0 }),
      update({ id: 1, v: 'a', n: 1 }, { id: 1, v: 'a', n: 0 }),
      update({ id: 2, v: 'b', n: 0 }, { id: 2, v: 'b', n: 5 }),
      remove({ id: 9, v: 'z', n: 0 }),
    ]);
    expect(
      (await made.events()).map(({ data }) => [data['operation'], data['instance_rid']]),
    ).toEqual([
      ['create', 'ri.T.main.1'],
      ['delete', 'ri.T.main.1'],
      ['create', 'ri.T.main.2'],
      ['delete', 'ri.T.main.9'],
    ]);
  });

  test('an update within the filter is an update', async () => {
    const pipeline = {
      ...tablesOf('t'),
      processing: mapped({ filter: 'n > 0' }),
      sink: { event_bus_enabled: true },
    };
    await using made = await ranCase(pipeline, [
      create({ id: 1, v: 'a', n: 1 }),
      update({ id: 1, v: 'a', n: 1 }, { id: 1, v: 'b', n: 1 }),
    ]);
    expect(
      (await made.events()).map(({ data }) => [data['operation'], data['properties']]),
    ).toEqual([
      ['create', { v: 'a', n: 1 }],
      ['update', { v: 'b' }],
    ]);
  });
});
