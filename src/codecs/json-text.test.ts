import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonFault, compactJson, readFields, readJson, textOf } from './json-text.ts';

const NESTING = 512;

function fault(text: string, nesting = NESTING): JsonFault | null {
  try {
    readJson(text, nesting);
    return null;
  } catch (error) {
    if (error instanceof JsonFault) return error;
    throw error;
  }
}

function fieldTexts(text: string): Record<string, string | null> {
  return Object.fromEntries(
    [...(readJson(text, NESTING)?.fields ?? [])].map(([name, value]) => [
      name,
      textOf(text, value),
    ]),
  );
}

function compact(text: string): string {
  const span = readJson(text, NESTING);
  return span === null ? '' : compactJson(text, span);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // Whatever the platform's own parser objects to: no JSON.
    return false;
  }
}

describe('texts', () => {
  test('numbers keep their very digits', () => {
    const text = '{"a":1.10,"b":-0,"c":1E+400,"d":12345678901234567890.123456789,"e":0.0}';
    expect(fieldTexts(text)).toEqual({
      a: '1.10',
      b: '-0',
      c: '1E+400',
      d: '12345678901234567890.123456789',
      e: '0.0',
    });
  });

  test('strings are decoded, the other scalars are words', () => {
    const text = String.raw`{"a":"\u00e9\/\"\\\b\f\n\r\t\ud83d\ude00\u0000","b":true,"c":false,"d":null,"e":""}`;
    expect(fieldTexts(text)).toEqual({
      a: 'é/"\\\b\f\n\r\t😀\0',
      b: 'true',
      c: 'false',
      d: null,
      e: '',
    });
  });

  test('nested values lose their blanks only, and are escaped in one way', () => {
    const text = String.raw`{ "v" : { "a" : [ 1.10 , 1e3 , -0 ] , "b" : "\u00e9 \/ \u001f \u2028" , "a" : { } , "c d" : [ ] } }`;
    expect(fieldTexts(text)).toEqual({
      v: '{"a":[1.10,1e3,-0],"b":"é / \\u001F \u2028","a":{},"c d":[]}',
    });
  });

  test('names are decoded before they are compared', () => {
    expect(fieldTexts(String.raw`{"\u0061b":1}`)).toEqual({ ab: '1' });
    const text = String.raw`{"a":1,"\u0061":2}`;
    expect(fault(text)).toMatchObject({ code: 'E_LINE_DUPLICATE_FIELD', offset: 7 });
    expect(() =>
      readFields(`[${text}]`, { kind: 'object', start: 1, end: text.length + 1 }),
    ).toThrow(expect.objectContaining({ offset: 8 }));
  });

  test('names of JavaScript itself are names like any other', () => {
    expect(readJson('{"__proto__":1,"constructor":2}', NESTING)?.fields.size).toBe(2);
  });
});

describe('faults', () => {
  test.each([
    ['{"a":1', 6],
    ['{"a":', 5],
    ['{"a"', 4],
    ['{', 1],
    ['{"a":1}x', 7],
    ['{"a":1} {"a":2}', 8],
    ['{"a":01}', 6],
    ['{"a":1.}', 7],
    ['{"a":.5}', 5],
    ['{"a":1e}', 7],
    ['{"a":-}', 6],
    ['{"a":+1}', 5],
    ['{"a":NaN}', 5],
    ['{"a":nul}', 5],
    ['{"a":Infinity}', 5],
    ['{"a":truE}', 5],
    ['{"a":1,}', 7],
    ['[1,]', 3],
    ['{,}', 1],
    ['{a:1}', 1],
    ["{'a':1}", 1],
    ['{"a" 1}', 5],
    ['{"a":1 "b":2}', 7],
    ['[1}', 2],
    ['{"a":1]', 6],
    ['// x', 0],
    ['{"a":1/* x */}', 6],
    ['{"a":"x\ty"}', 7],
    ['{"a":"x\u001fy"}', 7],
    ['{"a":"x', 7],
    [String.raw`{"a":"\x"}`, 7],
    [String.raw`{"a":"\u12g4"}`, 8],
    [String.raw`{"a":"\ud800"}`, 6],
    [String.raw`{"a":"\udc00x"}`, 6],
    [String.raw`{"a":"\ud800\u0041"}`, 6],
    ['\uFEFF{"a":1}', 0],
    ['{"a":1}\f', 7],
  ])('%j at %i', (text, offset) => {
    expect(fault(text)).toMatchObject({ code: 'E_LINE_JSON', offset });
  });

  test('nesting has a limit, and no depth breaks the reader', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(fault('{}', 0)).toMatchObject({ code: 'E_LINE_NESTING', offset: 0 });
    expect(fault('{}', 1)).toBeNull();
    expect(fault(nested(NESTING))).toBeNull();
    expect(fault(nested(NESTING + 1))).toMatchObject({ code: 'E_LINE_NESTING', offset: NESTING });
    expect(fault('{"a":'.repeat(1_000_000))).toMatchObject({ code: 'E_LINE_NESTING' });
    expect(fault(nested(1_000_000), Infinity)).toBeNull();
    expect(compactJson(nested(100_000), { kind: 'array', start: 0, end: 200_000 })).toHaveLength(
      200_000,
    );
  });

  test('long strings are looked through to their ends', () => {
    const long = 'é'.repeat(100);
    expect(fieldTexts(`{"a":"${long}\\n${long}"}`)).toEqual({ a: `${long}\n${long}` });
    expect(fault(`{"a":"${long}\u0001"}`)).toMatchObject({ offset: 106 });
    expect(fault(`{"a":"${long}\\ud800"}`)).toMatchObject({ offset: 106 });
    expect(fault(`{"a":"${long}`)).toMatchObject({ offset: 106 });
  });

  test('blanks alone are no value', () => {
    expect(readJson('', NESTING)).toBeNull();
    expect(readJson(' \t\r\n', NESTING)).toBeNull();
  });
});

describe('beside the platform parser', () => {
  const spaced = fc
    .tuple(fc.jsonValue(), fc.integer({ min: 0, max: 3 }))
    .map(([value, indent]) => JSON.stringify(value, null, indent));

  test('valid JSON is read as the same structure', () => {
    fc.assert(
      fc.property(spaced, (text) => {
        const short = compact(text);
        expect(JSON.parse(short)).toEqual(JSON.parse(text));
        expect(short.toLowerCase()).toBe(JSON.stringify(JSON.parse(text)).toLowerCase());
      }),
      { numRuns: 500 },
    );
  });

  test('what is JSON and what is not is the same, but for halves of surrogate pairs', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      'u',
      '0',
      '1',
      '-',
      '.',
      'e',
      'E',
      '+',
      'true',
      'null',
      ' ',
      '\n',
      '\u0001',
      'é',
      '"a"',
      '\\u00e9',
      '\\n',
    );
    const change = fc.tuple(fc.nat(), fc.nat({ max: 3 }), piece);
    const mutated = fc.tuple(spaced, fc.array(change, { maxLength: 3 })).map(([text, changes]) =>
      changes.reduce((t, [at, drop, insert]) => {
        const place = at % (t.length + 1);
        return t.slice(0, place) + insert + t.slice(place + drop);
      }, text),
    );
    const garbage = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(fc.oneof(mutated, garbage), (text) => {
        fc.pre(!/\\ud[89a-f]/i.test(text));
        const found = fault(text);
        fc.pre(found?.code !== 'E_LINE_DUPLICATE_FIELD');
        expect(found === null && readJson(text, NESTING) !== null).toBe(isJson(text));
      }),
      { numRuns: 3000 },
    );
  });
});
