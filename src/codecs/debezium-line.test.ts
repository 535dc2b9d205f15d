import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Database } from '../sql/database.ts';
import { sql } from '../sql/sql.ts';
import { readLine, type Envelope, type LineLimits, type LineResult } from './debezium-line.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'utf8');
const read = (text: string, limits?: Partial<LineLimits>): LineResult =>
  readLine(bytes(text), limits);

function envelope(text: string): Envelope {
  const result = read(text);
  if (result.kind !== 'envelope') throw new Error(`no envelope: ${JSON.stringify(result)}`);
  return result.envelope;
}

const MYSQL =
  String.raw`{"before":null,"after":{"id":9007199254740993,"name":"Pump \u2116 7","price":"AxY=","ratio":1.10,"flags":true,"note":null,"spec":"{\"a\": 1.50}"},
"source":{"version":"3.0.0.Final","connector":"mysql","name":"plant","ts_ms":1700000000000,"snapshot":"false","db":"inventory","sequence":null,"ts_us":1700000000000000,"ts_ns":1700000000000000000,"table":"pumps","server_id":223344,"gtid":null,"file":"mysql-bin.000003","pos":484,"row":0,"thread":7,"query":null},
"transaction":null,"op":"c","ts_ms":1700000000123,"ts_us":1700000000123456,"ts_ns":1700000000123456789}`.replaceAll(
    '\n',
    '',
  );

const POSTGRES =
  String.raw`{"schema":{"type":"struct","fields":[],"optional":false,"name":"plant.public.orders.Envelope"},"payload":{"before":{"id":1,"total":null},"after":{"id":1,"total":{"scale":2,"value":"AxY="}},
"source":{"version":"3.0.0.Final","connector":"postgresql","name":"plant","ts_ms":1700000000000,"snapshot":"false","db":"shop","sequence":"[\"24023120\",\"24023128\"]","schema":"public","table":"orders","txId":555,"lsn":24023128,"xmin":null},
"transaction":{"id":"555:24023128","total_order":1,"data_collection_order":1},"op":"u","ts_ms":1700000000123}}`.replaceAll(
    '\n',
    '',
  );

const SQLSERVER = `{"before":{"id":5,"rv":"AAAAAAAAB9E="},"after":null,"source":{"version":"3.0.0.Final","connector":"sqlserver","name":"erp","ts_ms":1700000000000,"snapshot":"false","db":"erp","schema":"dbo","table":"Order Lines","change_lsn":"00000027:00000758:0003","commit_lsn":"00000027:00000758:0005","event_serial_no":1},"op":"d","ts_ms":1700000000123}`;

const ORACLE = `{"before":null,"after":{"ID":"AQ==","AMOUNT":{"scale":1,"value":"ew=="}},"source":{"version":"3.0.0.Final","connector":"oracle","name":"ora","ts_ms":1700000000000,"snapshot":"last","db":"ORCLPDB1","schema":"DEBEZIUM","table":"CUSTOMERS","txId":null,"scn":"2122184","commit_scn":null},"op":"r","ts_ms":1700000000123}`;

describe('envelopes', () => {
  test('a MySQL insert, with an integer beyond 2^53 and a real that keeps its zero', () => {
    const got = envelope(MYSQL);
    expect(got).toMatchObject({
      op: 'c',
      table: { db: 'inventory', table: 'pumps' },
      tsMs: '1700000000000',
      before: null,
      isBeforeMissing: false,
      schema: null,
    });
    expect([...(got.after ?? [])]).toEqual([
      ['id', '9007199254740993'],
      ['name', 'Pump № 7'],
      ['price', 'AxY='],
      ['ratio', '1.10'],
      ['flags', 'true'],
      ['note', null],
      ['spec', '{"a": 1.50}'],
    ]);
    expect(got.source.get('pos')).toBe('484');
    expect(got.source.get('gtid')).toBeNull();
    expect(got.table).not.toHaveProperty('schema');
  });

  test('a PostgreSQL update with its schema part', () => {
    const got = envelope(POSTGRES);
    expect(got).toMatchObject({
      op: 'u',
      table: { db: 'shop', schema: 'public', table: 'orders' },
    });
    expect(got.schema).toBe(
      '{"type":"struct","fields":[],"optional":false,"name":"plant.public.orders.Envelope"}',
    );
    expect(got.after?.get('total')).toBe('{"scale":2,"value":"AxY="}');
    expect(got.before?.get('total')).toBeNull();
    expect(got.source.get('sequence')).toBe('["24023120","24023128"]');
  });

  test('a SQL Server delete and an Oracle snapshot row', () => {
    expect(envelope(SQLSERVER)).toMatchObject({
      op: 'd',
      after: null,
      isAfterMissing: false,
      table: { db: 'erp', schema: 'dbo', table: 'Order Lines' },
    });
    expect([...(envelope(SQLSERVER).before ?? [])]).toEqual([
      ['id', '5'],
      ['rv', 'AAAAAAAAB9E='],
    ]);
    expect(envelope(ORACLE)).toMatchObject({
      op: 'r',
      table: { db: 'ORCLPDB1', schema: 'DEBEZIUM', table: 'CUSTOMERS' },
    });
  });

  test('a MongoDB collection counts as table', () => {
    expect(envelope('{"op":"t","source":{"db":"shop","collection":"carts"}}').table).toEqual({
      db: 'shop',
      table: 'carts',
    });
  });

  test('absent is not null', () => {
    const got = envelope('{"op":"c","after":{"a":null}}');
    expect(got).toMatchObject({
      isBeforeMissing: true,
      isAfterMissing: false,
      tsMs: null,
      table: {},
    });
    expect(got.after?.has('b')).toBe(false);
    expect(got.after?.get('a')).toBeNull();
  });

  test('the time is the source’s, else the connector’s, else none', () => {
    expect(envelope('{"op":"m","ts_ms":5,"source":{"ts_ms":7}}').tsMs).toBe('7');
    expect(envelope('{"op":"m","ts_ms":5,"source":{"ts_ms":null}}').tsMs).toBe('5');
    expect(envelope('{"op":"m","ts_ms":5.5}').tsMs).toBeNull();
  });

  test('t and m need no images, also with a schema part', () => {
    expect(envelope('{"op":"t","source":{"db":"d","table":"t"}}').op).toBe('t');
    expect(
      envelope('{"schema":null,"payload":{"op":"m","message":{"prefix":"p","content":"AA=="}}}'),
    ).toMatchObject({ op: 'm', schema: null });
  });

  test('a bare envelope may have a payload of its own', () => {
    expect(envelope('{"op":"t","payload":null,"source":{"table":"t"}}')).toMatchObject({
      table: { table: 't' },
      schema: null,
    });
  });

  test('column names may be anything, those of JavaScript included', () => {
    const after = envelope(
      String.raw`{"op":"c","after":{"__proto__":1,"":2,"a\"b":3,"😀; DROP TABLE x":4,"constructor":5,"payload":6}}`,
    ).after;
    expect([...(after ?? [])].map(([name, text]) => name + text)).toEqual([
      '__proto__1',
      '2',
      'a"b3',
      '😀; DROP TABLE x4',
      'constructor5',
      'payload6',
    ]);
  });

  test('a thousand columns', () => {
    const columns = Array.from({ length: 1000 }, (_, i) => `"c${i}":${i}`).join(',');
    expect(envelope(`{"op":"c","after":{${columns}}}`).after?.size).toBe(1000);
  });
});

describe('what is no change', () => {
  test.each([
    '',
    ' ',
    '\t\r\n',
    '\r',
    'null',
    ' null \n',
    '{"schema":{"type":"struct"},"payload":null}',
    '{"payload":null}',
  ])('%j is a tombstone', (text) => {
    expect(read(text)).toEqual({ kind: 'tombstone' });
  });

  test.each([
    ['heartbeat', '{"ts_ms":1700000000000}'],
    ['heartbeat', '{"schema":{},"payload":{"ts_ms":1,"ts_us":1000,"ts_ns":1000000}}'],
    [
      'schema-change',
      '{"source":{"db":"d"},"ts_ms":1,"databaseName":"d","schemaName":null,"ddl":"CREATE TABLE t (id INT)","tableChanges":[]}',
    ],
    ['schema-change', '{"source":{"db":"d"},"ddl":"DROP TABLE t"}'],
    ['schema-change', '{"source":{"db":"d"},"tableChanges":[{"type":"ALTER","id":"d.t"}]}'],
    [
      'transaction',
      '{"status":"BEGIN","id":"571","event_count":null,"data_collections":null,"ts_ms":1}',
    ],
  ])('a %s', (what, text) => {
    expect(read(text)).toEqual({ kind: 'other', what });
  });
});

describe('faults', () => {
  test.each([
    ['E_ENVELOPE_OP', '{}'],
    ['E_ENVELOPE_OP', '{"after":{"id":1}}'],
    ['E_ENVELOPE_OP', '{"op":"x","after":{"id":1}}'],
    ['E_ENVELOPE_OP', '{"op":"C","after":{"id":1}}'],
    ['E_ENVELOPE_OP', '{"op":"","after":{"id":1}}'],
    ['E_ENVELOPE_OP', '{"op":null,"after":{"id":1}}'],
    ['E_ENVELOPE_OP', '{"op":1,"after":{"id":1}}'],
    ['E_ENVELOPE_OP', '{"op":["c"],"after":{"id":1}}'],
    ['E_ENVELOPE_OP', '{"schema":{},"payload":"c"}'],
    ['E_ENVELOPE_OP', '{"schema":{}}'],
    ['E_ENVELOPE_OP', '{"id":1,"__op":"c","__deleted":"false"}'],
    ['E_ENVELOPE_AFTER', '{"op":"u","before":{"id":1}}'],
    ['E_ENVELOPE_AFTER', '{"op":"c","after":null}'],
    ['E_ENVELOPE_AFTER', '{"op":"r","after":"{\\"id\\":1}"}'],
    ['E_ENVELOPE_AFTER', '{"op":"c","after":[1]}'],
    ['E_ENVELOPE_AFTER', '{"op":"u","after":5}'],
    ['E_ENVELOPE_BEFORE', '{"op":"d"}'],
    ['E_ENVELOPE_BEFORE', '{"op":"d","before":null,"after":null}'],
    ['E_ENVELOPE_BEFORE', '{"op":"u","before":true,"after":{"id":1}}'],
    ['E_LINE_JSON', '[]'],
    ['E_LINE_JSON', '"x"'],
    ['E_LINE_JSON', '5'],
    ['E_LINE_JSON', '{"op":"c","after":{"id":1}'],
    ['E_LINE_JSON', '{"op":"c","after":{"id":1}} {"op":"c"}'],
    ['E_LINE_JSON', '{"op":"c","after":{"id":NaN}}'],
    ['E_LINE_JSON', '{"op":"c","after":{"id":"\\ud800"}}'],
    ['E_LINE_DUPLICATE_FIELD', '{"op":"c","op":"c","after":{"id":1}}'],
    ['E_LINE_DUPLICATE_FIELD', '{"op":"c","after":{"id":1,"id":2}}'],
    ['E_LINE_DUPLICATE_FIELD', '{"op":"u","before":{"id":1,"\\u0069d":2},"after":{"id":1}}'],
    ['E_LINE_DUPLICATE_FIELD', '{"op":"c","after":{"id":1},"source":{"db":"a","db":"b"}}'],
    ['E_LINE_DUPLICATE_FIELD', '{"schema":{},"payload":{"op":"c","op":"u","after":{}}}'],
    ['E_LINE_DUPLICATE_FIELD', '{"schema":{},"payload":null,"payload":null}'],
  ])('%s: %s', (code, text) => {
    expect(read(text)).toMatchObject({ kind: 'error', code });
  });

  test('a flattened record is told how to become an envelope', () => {
    expect(read('{"id":1,"__deleted":"true"}')).toMatchObject({
      message: expect.stringContaining('unwrapping') as unknown,
    });
    expect(read('{"id":1,"__op":"u"}')).toMatchObject({
      message: expect.stringContaining('unwrapping') as unknown,
    });
  });

  test('repeated names deep within a value are the value’s own affair', () => {
    expect(envelope('{"op":"c","after":{"v":{"a":1,"a":2}}}').after?.get('v')).toBe(
      '{"a":1,"a":2}',
    );
  });

  test('a fault is placed by bytes, not letters', () => {
    expect(read('{"é":"😀",x}')).toMatchObject({ code: 'E_LINE_JSON', byte: 13 });
  });

  test('invalid UTF-8 is found where it stands, also behind a genuine replacement character', () => {
    const head = bytes('{"op":"c","after":{"a":"\uFFFD');
    for (const wrong of [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xe2, 0x82]]) {
      const line = Buffer.concat([head, Uint8Array.from(wrong), bytes('"}}')]);
      expect(readLine(line)).toMatchObject({ code: 'E_LINE_UTF8', byte: head.length });
    }
  });

  test('a byte order mark may stand at the start of a file only', () => {
    const line = '\uFEFF{"op":"t"}';
    expect(read(line, { isFileStart: true })).toMatchObject({ kind: 'envelope' });
    expect(read(line)).toMatchObject({ code: 'E_LINE_JSON', byte: 0 });
    expect(read('\uFEFF', { isFileStart: true })).toEqual({ kind: 'tombstone' });
    expect(read('\uFEFF{x', { isFileStart: true })).toMatchObject({ code: 'E_LINE_JSON', byte: 4 });
  });

  test('lines have a limit of length, to the byte', () => {
    expect(read('{"op":"t"}', { maxLineBytes: 10 })).toMatchObject({ kind: 'envelope' });
    expect(read('{"op":"t"}', { maxLineBytes: 9 })).toMatchObject({ code: 'E_LINE_TOO_LONG' });
    expect(readLine(new Uint8Array(64 * 1024 * 1024 + 1))).toMatchObject({
      code: 'E_LINE_TOO_LONG',
    });
  });

  test('lines have a limit of depth, and a million levels harm nothing', () => {
    const deep = (levels: number): string =>
      `{"op":"c","after":{"v":${'['.repeat(levels)}${']'.repeat(levels)}}}`;
    expect(read(deep(510))).toMatchObject({ kind: 'envelope' });
    expect(read(deep(511))).toMatchObject({ code: 'E_LINE_NESTING' });
    expect(read(deep(1_000_000))).toMatchObject({ code: 'E_LINE_NESTING' });
    expect(read(deep(1_000_000), { maxNesting: 2_000_000 })).toMatchObject({ kind: 'envelope' });
    expect(read('{"a":'.repeat(10_000))).toMatchObject({ code: 'E_LINE_NESTING' });
  });

  test('no message holds a value of the line', () => {
    for (const line of [
      '{"op":"c","after":{"password":"hunter2"',
      '{"op":"hunter2"}',
      '{"op":"c","after":"hunter2"}',
      'hunter2',
    ]) {
      const result = read(line);
      expect(result.kind === 'error' && result.message).not.toContain('hunter2');
    }
  });
});

describe('whatever the bytes', () => {
  test('a line gives a result', () => {
    const lines = [MYSQL, POSTGRES, SQLSERVER, ORACLE].map(bytes);
    const change = fc.tuple(fc.nat(), fc.nat({ max: 4 }), fc.uint8Array({ maxLength: 3 }));
    const mutated = fc
      .tuple(fc.constantFrom(...lines), fc.array(change, { minLength: 1, maxLength: 4 }))
      .map(([line, changes]) =>
        changes.reduce<Uint8Array>((b, [at, drop, insert]) => {
          const place = at % (b.length + 1);
          return Buffer.concat([b.subarray(0, place), insert, b.subarray(place + drop)]);
        }, line),
      );
    const kinds = new Set<string>();
    fc.assert(
      fc.property(fc.oneof(mutated, fc.uint8Array({ maxLength: 60 })), (line) => {
        const result = readLine(line);
        kinds.add(result.kind === 'error' ? result.code : result.kind);
        expect(result.kind === 'error' ? (result.byte ?? 0) : 0).toBeLessThanOrEqual(line.length);
      }),
      { numRuns: 3000 },
    );
    expect([...kinds]).toEqual(expect.arrayContaining(['envelope', 'E_LINE_JSON', 'E_LINE_UTF8']));
  });

  test('a column has the text that the engine lands, where no real is involved', async () => {
    await using db = await Database.open();
    const leaf = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({
        unit: fc.constantFrom('\0', '\u001f', '\u007f', '"', '\\', '/', '\n', '\u2028', 'é'),
      }),
      fc.maxSafeInteger(),
      fc.boolean(),
      fc.constant(null),
    );
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.string({ maxLength: 4 }), tie('value'), { maxKeys: 3 }),
      ),
    }));
    const line = fc
      .tuple(value, fc.nat({ max: 2 }))
      .map(([v, indent]) => `{"op":"c","after":{"v":${JSON.stringify(v, null, indent)}}}`);
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 50, maxLength: 200 }), async (lines) => {
        const list = sql`SELECT unnest(from_json(${JSON.stringify(lines)}::JSON, '["VARCHAR"]')) AS line`;
        const landed = await db.rows<{ v: string | null }>(
          sql`SELECT from_json(CAST(line AS JSON), '{"after":{"v":"VARCHAR"}}').after.v AS v FROM (${list})`,
        );
        expect(lines.map((text) => envelope(text).after?.get('v'))).toEqual(
          landed.map((row) => row.v),
        );
      }),
      { numRuns: 10 },
    );
  });
});
