import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { expect, test } from 'vitest';

/**
 * The rules of the house that a program can hold (ARCHITECTURE.md, Layers). Each test lists every violation.
 *
 * What a layer may import besides itself. `model/errors` grants one file of a layer, `*` grants all. A layer is the
 * first folder under `src/`, or the name of a file that lies in `src/` itself.
 */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  lib: ['model/errors', 'model/types'],
  model: ['sql/sql', 'lib'],
  sql: ['lib', 'model/errors', 'model/types'],
  storage: ['lib', 'model/errors', 'model/types'],
  telemetry: ['lib', 'model'],
  config: ['model', 'sql', 'lib'],
  lake: ['storage', 'sql', 'lib', 'model/errors', 'model/types'],
  codecs: ['model', 'sql', 'lib'],
  checkpoint: ['model', 'storage', 'sql', 'lib'],
  engine: ['model', 'sql', 'telemetry', 'lib'],
  sources: ['model', 'codecs', 'sql', 'telemetry', 'lib'],
  stages: ['model', 'sql', 'telemetry', 'lib'],
  sinks: ['model', 'codecs', 'lake', 'storage', 'sql', 'telemetry', 'lib'],
  reconcile: ['model', 'config', 'sql', 'lib'],
  demo: ['model', 'config', 'telemetry', 'lib'],
  control: ['model', 'config', 'telemetry', 'lib'],
  // The command line shows what lies in every layer; nothing imports it but `main`.
  cli: [
    'app',
    'explain',
    'control',
    'config',
    'reconcile',
    'demo',
    'checkpoint',
    'engine',
    'sources',
    'codecs',
    'lake',
    'storage',
    'sql',
    'model',
    'telemetry',
    'lib',
  ],
  targets: ['model', 'stages', 'sql', 'lib'],
  main: ['*'],
  app: ['*'],
  index: ['*'],
  pipeline: ['*'],
  explain: ['*'],
  connectors: ['*'],
  testing: ['*'],
};

/** Their children do not know each other: what two of them need lies in a layer below. */
const ISLANDS = ['sources', 'stages', 'sinks'];

/** Modules of others that stay inside the named folders or files. */
const CONFINED: ReadonlyArray<{ module: RegExp; allowed: readonly string[] }> = [
  {
    module: /^node:fs(\/promises)?$/,
    allowed: [
      'src/storage/',
      'src/checkpoint/',
      'src/config/',
      'src/cli/',
      'src/lib/',
      'src/sql/database',
      'src/engine/dead-letters',
      'src/reconcile/',
      'src/demo/',
      'src/sources/debezium-files/',
      'src/sinks/event-bus/',
      'src/stages/dedup/',
      'src/app.ts',
      'src/explain.ts',
    ],
  },
  {
    module: /^(commander|picocolors|string-width)$/,
    allowed: ['src/cli/', 'src/config/', 'src/main.ts'],
  },
  { module: /^yaml$/, allowed: ['src/config/', 'src/cli/'] },
  { module: /^(vitest|fast-check)$/, allowed: [] },
];

/** Reads of the real clock and of chance make a simulation lie; only `src/lib/` may hold them. */
const UNTAMED =
  /\b(Date\.now|Math\.random|performance\.now|setTimeout|setInterval)\b|\bnew Date\(\)/;

const BANNED_NAMES =
  /^(data|info|process|base|abstract|impl)$|(^|[-_])(utils?|helpers?|commons?|misc|manager)([-_]|$)/;
const ALLOWED_NAMES = ['pipeline-manager.ts'];
const LINES_MAX = 500;
const TEST_LINES_MAX = 800;

/** Path from the root, with forward slashes → text. */
type Files = ReadonlyMap<string, string>;
interface Import {
  readonly from: string;
  /** A path from the root, or the name of a module as written. */
  readonly to: string;
  readonly line: number;
}

const isTest = (file: string): boolean => file.endsWith('.test.ts');
const layerOf = (file: string): string => file.split('/')[1]?.replace(/\.ts$/, '') ?? '';
const product = (files: Files): Files => new Map([...files].filter(([file]) => !isTest(file)));
/** Keeps the line breaks, so that line numbers stay right. */
const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, (c) => c.replace(/[^\n]/g, ' ')).replace(/(^|\s)\/\/.*/g, '$1');

const IMPORT =
  /(?:^|[;\n])\s*(?:import|export)\b(?:[^'";]*?\bfrom)?\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;

function importsOf(files: Files): Import[] {
  return [...files].flatMap(([from, text]) => {
    const code = withoutComments(text);
    return [...code.matchAll(IMPORT)].map((match) => {
      const written = match[1] ?? match[2] ?? '';
      const at = match.index + match[0].indexOf(written);
      return {
        from,
        to: written.startsWith('.') ? normalize(join(dirname(from), written)) : written,
        line: code.slice(0, at).split('\n').length,
      };
    });
  });
}

const place = (i: Import): string => `${i.from}:${i.line} imports ${i.to}`;

function layerViolations(files: Files): string[] {
  const unknown = [...files.keys()].filter((file) => !(layerOf(file) in LAYERS));
  const wrong = importsOf(product(files)).filter(({ from, to }) => {
    if (!to.startsWith('src/')) return to.startsWith('test/') || to.startsWith('tools/');
    const allowed = LAYERS[layerOf(from)] ?? ['*'];
    const target = to.replace(/^src\//, '').replace(/\.ts$/, '');
    const granted = [layerOf(from), ...allowed];
    return !granted.some((g) => g === '*' || g === target || g === layerOf(to));
  });
  return [
    ...unknown.map((file) => `${file}: no such layer in the table`),
    ...wrong.map((i) => `${place(i)}: ${layerOf(i.from)} may not import ${layerOf(i.to)}`),
  ];
}

function islandViolations(files: Files): string[] {
  const island = (file: string): string =>
    file.split('/').slice(1, 3).join('/').replace(/\.ts$/, '');
  return importsOf(product(files))
    .filter(({ from, to }) => ISLANDS.includes(layerOf(from)) && layerOf(to) === layerOf(from))
    .filter(({ from, to }) => island(from) !== island(to))
    .map((i) => `${place(i)}: ${island(i.from)} and ${island(i.to)} are islands`);
}

function confinementViolations(files: Files): string[] {
  return importsOf(product(files)).flatMap((i) =>
    CONFINED.filter(({ module }) => module.test(i.to))
      .filter(({ allowed }) => !allowed.some((prefix) => i.from.startsWith(prefix)))
      .map(({ allowed }) => `${place(i)}: only in ${allowed.join(', ') || 'tests'}`),
  );
}

function untamedViolations(files: Files): string[] {
  return [...product(files)]
    .filter(([file]) => layerOf(file) !== 'lib')
    .flatMap(([file, text]) =>
      withoutComments(text)
        .split('\n')
        .map((line, i) => ({ found: UNTAMED.exec(line)?.[0], line: i + 1 }))
        .filter(({ found }) => found !== undefined)
        .map(({ found, line }) => `${file}:${line}: ${found} belongs in src/lib/`),
    );
}

function cycles(files: Files): string[] {
  const edges = new Map<string, string[]>();
  for (const { from, to } of importsOf(files)) {
    if (files.has(to)) edges.set(from, [...(edges.get(from) ?? []), to]);
  }
  const found = new Set<string>();
  const done = new Set<string>();
  const visit = (file: string, trail: readonly string[]): void => {
    const start = trail.indexOf(file);
    if (start >= 0) found.add([...trail.slice(start), file].join(' → '));
    if (start >= 0 || done.has(file)) return;
    for (const next of edges.get(file) ?? []) visit(next, [...trail, file]);
    done.add(file);
  };
  for (const file of files.keys()) visit(file, []);
  return [...found];
}

function nameViolations(files: Files): string[] {
  return [...files.keys()].flatMap((file) => {
    const names = file.split('/').slice(1);
    const name = names.at(-1) ?? '';
    return [
      ...names
        .filter((n) => n !== n.toLowerCase() || n.includes('_'))
        .map((n) => `${n} is not kebab-case`),
      ...names
        .filter(
          (n) =>
            BANNED_NAMES.test(n.replace(/(\.test)?\.ts$/, '')) && !ALLOWED_NAMES.includes(name),
        )
        .map((n) => `${n} says nothing about what it holds`),
    ].map((what) => `${file}: ${what}`);
  });
}

function lengthViolations(files: Files): string[] {
  return [...files].flatMap(([file, text]) => {
    const lines = text.trimEnd().split('\n').length;
    const max = isTest(file) ? TEST_LINES_MAX : LINES_MAX;
    return lines > max ? [`${file}: ${lines} lines, at most ${max}`] : [];
  });
}

function read(...folders: readonly string[]): Files {
  const root = join(import.meta.dirname, '..');
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
      .map((name) => join(root, folder, name)),
  );
  return new Map(files.map((f) => [relative(root, f), readFileSync(f, 'utf8')]));
}

const source = read('src');
const everything = read('src', 'test', 'tools', 'bench');

test('each layer imports only what the table allows', () => {
  expect(layerViolations(source)).toEqual([]);
});

test('sources, stages and sinks do not know their siblings', () => {
  expect(islandViolations(source)).toEqual([]);
});

test('files, terminals and test tools are touched only where they belong', () => {
  expect(confinementViolations(source)).toEqual([]);
});

test('the clock, timers and chance are read only in src/lib', () => {
  expect(untamedViolations(source)).toEqual([]);
});

test('no file imports itself in a circle', () => {
  expect(cycles(everything)).toEqual([]);
});

test('file names say what the file holds', () => {
  expect(nameViolations(everything)).toEqual([]);
});

test('no file is longer than its reader has patience', () => {
  expect(lengthViolations(everything)).toEqual([]);
});

test('planted violations of every rule are found', () => {
  const planted: Files = new Map([
    ['src/lake/a.ts', "import type { X } from '../model/spec.ts';\nimport '../model/errors.ts';"],
    [
      'src/engine/b.ts',
      "// Date.now\nexport { y } from '../engine/c.ts';\nawait import('node:fs');",
    ],
    ['src/engine/c.ts', "import {\n  b,\n} from './b.ts';\nconst t = Date.now();"],
    ['src/sinks/doris/sink.ts', "import { z } from '../iceberg/sink.ts';\n/* new Date() */"],
    ['src/stages/string_utils.ts', `${'\n'.repeat(LINES_MAX)}x`],
    ['src/magic/d.ts', ''],
  ]);
  expect({
    layers: layerViolations(planted),
    islands: islandViolations(planted),
    confined: confinementViolations(planted),
    untamed: untamedViolations(planted),
    cycles: cycles(planted),
    names: nameViolations(planted),
    lengths: lengthViolations(planted),
  }).toEqual({
    layers: [
      'src/magic/d.ts: no such layer in the table',
      'src/lake/a.ts:1 imports src/model/spec.ts: lake may not import model',
    ],
    islands: [
      'src/sinks/doris/sink.ts:1 imports src/sinks/iceberg/sink.ts: sinks/doris and sinks/iceberg are islands',
    ],
    confined: [expect.stringContaining('src/engine/b.ts:3 imports node:fs: only in src/storage/')],
    untamed: ['src/engine/c.ts:4: Date.now belongs in src/lib/'],
    cycles: ['src/engine/b.ts → src/engine/c.ts → src/engine/b.ts'],
    names: [
      'src/stages/string_utils.ts: string_utils.ts is not kebab-case',
      'src/stages/string_utils.ts: string_utils.ts says nothing about what it holds',
    ],
    lengths: [`src/stages/string_utils.ts: ${LINES_MAX + 1} lines, at most ${LINES_MAX}`],
  });
});
