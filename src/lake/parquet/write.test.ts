import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { id, join, raw, sql, type Sql } from '../../sql/sql.ts';
import type { DataFile } from '../iceberg/data-file.ts';
import type { ParquetColumn } from './column.ts';
import { writeParquet, type ParquetFile } from './write.ts';

let folder: string;
let connection: DuckDBConnection;
let files = 0;
beforeAll(async () => {
  folder = await mkdtemp(joinPath(tmpdir(), "parquet ü%20'-"));
  connection = await (await DuckDBInstance.create(':memory:', { threads: '2' })).connect();
});
afterAll(async () => {
  connection.closeSync();
  await rm(folder, { recursive: true });
});

const column = (fieldId: number, name: string, type: string, required = false): ParquetColumn => ({
  name,
  fieldId,
  type,
  required,
});

const query = async (text: Sql): Promise<Record<string, unknown>[]> =>
  (await connection.runAndReadAll(text.text)).getRowObjectsJson();

function write(
  select: Sql,
  columns: readonly ParquetColumn[],
  more: Partial<ParquetFile> = {},
): Promise<DataFile | null> {
  const path = `file:${folder}/data/${++files}.parquet`;
  return writeParquet(connection, { select, columns, path, kind: 'data', ...more });
}

async function written(
  select: Sql,
  columns: readonly ParquetColumn[],
  more: Partial<ParquetFile> = {},
): Promise<DataFile> {
  const file = await write(select, columns, more);
  if (file === null) throw new Error('no file');
  return file;
}

const hex = (bytes: Uint8Array | undefined): string | undefined =>
  bytes === undefined ? undefined : Buffer.from(bytes).toString('hex');

/** Lower and upper bound of the one column of one SQL type, in hex. */
async function boundsOf(
  type: string,
  sqlType: string,
  values: readonly string[],
): Promise<(string | undefined)[]> {
  const rows = join(values.map((value) => raw(`(CAST(${value} AS ${sqlType}))`)));
  const file = await written(sql`SELECT v FROM (VALUES ${rows}) AS t(v)`, [column(7, 'v', type)]);
  return [hex(file.metrics.lowerBounds?.get(7)), hex(file.metrics.upperBounds?.get(7))];
}

describe('bounds are taken from the rows', () => {
  test.each([
    ['boolean', 'BOOLEAN', ['true', 'NULL', 'false'], '00', '01'],
    ['int', 'INTEGER', ['-2', '2147483647'], 'feffffff', 'ffffff7f'],
    [
      'long',
      'BIGINT',
      ['9007199254740993', '-9223372036854775808'],
      '0000000000000080',
      '0100000000002000',
    ],
    ['float', 'FLOAT', ["'nan'", '0.0', "'-0.0'"], '00000080', '00000000'],
    ['double', 'DOUBLE', ["'nan'", "'inf'", "'-inf'"], '000000000000f0ff', '000000000000f07f'],
    ['double', 'DOUBLE', ["'nan'", 'NULL'], undefined, undefined],
    ['decimal(9, 2)', 'DECIMAL(9,2)', ['-0.01', '14.20'], 'ff', '058c'],
    ['decimal(18, 0)', 'DECIMAL(18,0)', ['-129', '128'], 'ff7f', '0080'],
    [
      'decimal(38, 10)',
      'DECIMAL(38,10)',
      ["'9999999999999999999999999999.9999999999'"],
      '4b3b4ca85a86c47a098a223fffffffff',
      '4b3b4ca85a86c47a098a223fffffffff',
    ],
    ['date', 'DATE', ["'1969-12-31'", "'2017-11-16'"], 'ffffffff', '4e440000'],
    ['date', 'DATE', ["'infinity'", "'1970-01-02'"], '01000000', undefined],
    ['time', 'TIME', ["'00:00:00.000001'", "'23:59:59'"], '0100000000000000', 'c01dc81d14000000'],
    [
      'timestamp',
      'TIMESTAMP',
      ["'1970-01-01 00:00:00.000002'", "'infinity'"],
      '0200000000000000',
      undefined,
    ],
    [
      'timestamptz',
      'TIMESTAMPTZ',
      ["'1969-12-31 23:59:59.999999+00'"],
      'ffffffffffffffff',
      'ffffffffffffffff',
    ],
    ['string', 'VARCHAR', ["''", "repeat('ä', 17)"], '', 'c3a4'.repeat(15) + 'c3a5'],
    ['string', 'VARCHAR', ["'\u{ffff}'", "'\u{10000}'"], 'efbfbf', 'f0908080'],
    ['binary', 'BLOB', ["'\\x00'", "'\\xff'"], '00', 'ff'],
    ['binary', 'BLOB', ["repeat('\\xff'::BLOB, 17)"], 'ff'.repeat(16), undefined],
    ['fixed[2]', 'BLOB', ["'ab'", "'ba'"], '6162', '6261'],
    ['uuid', 'UUID', ["'f79c3e09-677c-4bbd-a479-3f349cb785e7'"], undefined, undefined],
    ['string', 'VARCHAR', ['NULL'], undefined, undefined],
  ])('%s %s of %j', async (type, sqlType, values, lower, upper) => {
    expect(await boundsOf(type, sqlType, values)).toEqual([lower, upper]);
  });
});

test('counts say how many values, nulls and NaNs a column has, and how many bytes it took', async () => {
  const select = sql`SELECT * FROM (VALUES (1, CAST('nan' AS DOUBLE)), (NULL, NULL), (3, 1.5)) AS t(a, b)`;
  const { metrics, ...file } = await written(select, [
    column(1, 'a', 'int'),
    column(2, 'b', 'double'),
  ]);
  expect(file).toMatchObject({
    recordCount: 3,
    content: 'data',
    format: 'PARQUET',
    splitOffsets: [4],
  });
  expect(metrics.valueCounts).toEqual(
    new Map([
      [1, 3],
      [2, 3],
    ]),
  );
  expect(metrics.nullValueCounts).toEqual(
    new Map([
      [1, 1],
      [2, 1],
    ]),
  );
  expect(metrics.nanValueCounts).toEqual(new Map([[2, 1]]));
  expect([...(metrics.columnSizes ?? new Map()).values()].every((bytes) => bytes > 0)).toBe(true);
});

test('every column carries its field id, whatever its name is', async () => {
  const names = ['a b', 'it\'s "quoted"', '😀', 'a.b', 'SELECT', 'x"; DROP TABLE y; --', '%s', ''];
  const columns = names.slice(0, -1).map((name, i) => column(i + 10, name, 'int'));
  const select = sql`SELECT ${join(columns.map((c) => sql`${c.fieldId} AS ${id(c.name)}`))}`;
  const file = await written(select, columns);
  const schema = await query(
    sql`SELECT name, field_id FROM parquet_schema(${file.path.replace('file:', '')}) OFFSET 1`,
  );
  expect(schema).toEqual(columns.map((c) => ({ name: c.name, field_id: String(c.fieldId) })));
  expect(file.metrics.columnSizes?.size).toBe(columns.length);
});

test('values come back exactly, in the types that readers expect', async () => {
  const columns = [
    column(1, 'tz', 'timestamptz'),
    column(2, 'ts', 'timestamp'),
    column(3, 'tm', 'time'),
    column(4, 'u', 'uuid'),
    column(5, 'd', 'decimal(20, 3)'),
  ];
  const select = sql`SELECT TIMESTAMPTZ '2024-01-01 00:00:00.000001+00' AS tz, TIMESTAMP '0001-01-01 00:00:00' AS ts,
    TIME '23:59:59.999999' AS tm, CAST('ffffffff-0000-0000-0000-000000000000' AS UUID) AS u,
    CAST('-12345678901234567.891' AS DECIMAL(20,3)) AS d`;
  const path = (await written(select, columns)).path.replace('file:', '');
  expect(await query(sql`FROM read_parquet(${path})`)).toEqual(await query(select));
  const types = await query(sql`SELECT type, logical_type FROM parquet_schema(${path}) OFFSET 1`);
  expect(
    types.map(
      (t) =>
        `${String(t['type'])} ${String(t['logical_type'])
          .replace(/\(.*Adj/, ' Adj')
          .slice(0, 30)}`,
    ),
  ).toEqual([
    'INT64 TimestampType AdjustedToUTC=1,',
    'INT64 TimestampType AdjustedToUTC=0,',
    'INT64 TimeType AdjustedToUTC=0, unit',
    'FIXED_LEN_BYTE_ARRAY UUIDType()',
    'FIXED_LEN_BYTE_ARRAY DecimalType(scale=3, precision',
  ]);
});

test('the encodings are those that every reader’s fast path knows', async () => {
  const select = sql`SELECT i AS a, i % 3 = 0 AS b, 'text ' || (i % 7) AS c, i / 3.0::DOUBLE AS d FROM range(200000) AS r(i)`;
  const columns = [
    column(1, 'a', 'long'),
    column(2, 'b', 'boolean'),
    column(3, 'c', 'string'),
    column(4, 'd', 'double'),
  ];
  const file = await written(select, columns);
  const path = file.path.replace('file:', '');
  const chunks = await query(
    sql`SELECT DISTINCT compression, unnest(string_split(encodings, ', ')) AS encoding FROM parquet_metadata(${path})`,
  );
  expect(new Set(chunks.map((c) => c['compression']))).toEqual(new Set(['ZSTD']));
  for (const { encoding } of chunks)
    expect(['PLAIN', 'PLAIN_DICTIONARY', 'RLE_DICTIONARY', 'RLE', 'BIT_PACKED']).toContain(
      encoding,
    );
});

test('an equality delete file says what it is and which fields it compares', async () => {
  const file = await written(sql`SELECT 1::BIGINT AS id`, [column(1, 'id', 'long', true)], {
    kind: 'equality',
    equalityIds: [1],
  });
  expect(file).toMatchObject({ content: 'equality', equalityIds: [1], recordCount: 1 });
  const pairs = await query(
    sql`SELECT decode(key) AS k, decode(value) AS v FROM parquet_kv_metadata(${file.path.replace('file:', '')})`,
  );
  expect(Object.fromEntries(pairs.map((p) => [p['k'], p['v']]))).toMatchObject({
    'delete-type': 'equality',
    'delete-field-ids': '1',
    'iceberg.schema': JSON.stringify({
      type: 'struct',
      'schema-id': 0,
      fields: [{ id: 1, name: 'id', required: true, type: 'long' }],
    }),
  });
});

test('of 1,000 columns all are written, and the first 100 have metrics', async () => {
  const columns = Array.from({ length: 1000 }, (_, i) => column(i + 1, `c${i}`, 'int'));
  const select = sql`SELECT ${join(columns.map((c) => sql`${c.fieldId} AS ${id(c.name)}`))}`;
  const file = await written(select, columns);
  expect([...(file.metrics.valueCounts ?? new Map()).keys()]).toEqual(
    columns.slice(0, 100).map((c) => c.fieldId),
  );
  expect(file.metrics.columnSizes?.size).toBe(100);
  const [count] = await query(
    sql`SELECT count(*) AS n FROM parquet_schema(${file.path.replace('file:', '')})`,
  );
  expect(count).toEqual({ n: '1001' });
});

describe('no file is left', () => {
  const leftOver = async (): Promise<string[]> => readdir(joinPath(folder, 'refused'));
  const refused = (
    select: Sql,
    columns: readonly ParquetColumn[],
    more: Partial<ParquetFile> = {},
  ) => write(select, columns, { path: `file:${folder}/refused/x.parquet`, ...more });
  beforeAll(async () => {
    await written(sql`SELECT 1 AS a`, [column(1, 'a', 'int')], {
      path: `file:${folder}/refused/first`,
    });
    await rm(joinPath(folder, 'refused/first'));
  });

  test('where there are no rows', async () => {
    expect(await refused(sql`SELECT 1 AS a WHERE FALSE`, [column(1, 'a', 'int')])).toBeNull();
    expect(await leftOver()).toEqual([]);
  });

  test('where a required column holds a null', async () => {
    const select = sql`SELECT * FROM (VALUES (1), (NULL)) AS t(a)`;
    await expect(refused(select, [column(1, 'a', 'int', true)])).rejects.toMatchObject({
      code: 'E_NULL_NOT_ALLOWED',
    });
    expect(await leftOver()).toEqual([]);
  });

  test('where a column is of another type than the table’s', async () => {
    for (const type of ['double', 'long', 'decimal(10, 2)', 'string', 'timestamptz']) {
      await expect(refused(sql`SELECT 1 AS a`, [column(1, 'a', type)])).rejects.toMatchObject({
        code: 'E_BUG',
      });
    }
    await expect(
      refused(sql`SELECT 1 AS a, 2 AS b`, [column(1, 'a', 'int')]),
    ).rejects.toMatchObject({ code: 'E_BUG' });
    await expect(refused(sql`SELECT 1 AS b`, [column(1, 'a', 'int')])).rejects.toMatchObject({
      code: 'E_BUG',
    });
    expect(await leftOver()).toEqual([]);
  });

  test('where deletes would compare a type that readers cannot', async () => {
    const types = [
      ['double', 'DOUBLE'],
      ['float', 'FLOAT'],
      ['fixed[2]', 'BLOB'],
    ] as const;
    for (const [type, sqlType] of types) {
      const write = refused(
        sql`SELECT CAST(NULL AS ${raw(sqlType)}) AS a`,
        [column(1, 'a', type)],
        {
          kind: 'equality',
          equalityIds: [1],
        },
      );
      await expect(write).rejects.toMatchObject({ code: 'E_KEY_TYPE' });
    }
    expect(await leftOver()).toEqual([]);
  });

  test('where a fixed value has another length', async () => {
    const select = sql`SELECT CAST('abc' AS BLOB) AS a`;
    await expect(refused(select, [column(1, 'a', 'fixed[2]')])).rejects.toMatchObject({
      code: 'E_VALUE_BINARY',
    });
    expect(await leftOver()).toEqual([]);
  });

  test('where the rows cannot be read to their end', async () => {
    const select = sql`SELECT CASE WHEN i = 150000 THEN error('broken') ELSE CAST(i AS VARCHAR) END AS a FROM range(200000) AS r(i)`;
    await expect(refused(select, [column(1, 'a', 'string')])).rejects.toThrow('broken');
    expect(await leftOver()).toEqual([]);
  });

  test('where the folder cannot be made, which is told with the reason of the system', async () => {
    await writeFile(joinPath(folder, 'a file'), '');
    const path = `file:${folder}/a file/x.parquet`;
    await expect(
      refused(sql`SELECT 1 AS a`, [column(1, 'a', 'int')], { path }),
    ).rejects.toMatchObject({
      code: 'E_WAREHOUSE_WRITE',
      message: expect.stringMatching(/a file cannot be written: EEXIST/),
    });
  });
});
