import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from './cli-process.ts';

/** A folder where the packed package is installed, with nothing around it but what it depends on. */
let app: string;
let packed: readonly string[];

const run = promisify(execFile);
const npm = async (args: readonly string[], cwd: string): Promise<string> =>
  (
    await run('npm', [...args], {
      cwd,
      env: { ...process.env, npm_config_offline: 'true', npm_config_update_notifier: 'false' },
      maxBuffer: 1 << 24,
    })
  ).stdout;

beforeAll(async () => {
  app = await mkdtemp(join(tmpdir(), 'lakeward-packed-'));
  const tarball =
    (await npm(['pack', '--silent', '--pack-destination', app], ROOT)).trim().split('\n').at(-1) ??
    '';
  const target = join(app, 'node_modules/lakeward');
  await mkdir(target, { recursive: true });
  await run('tar', ['-xzf', join(app, tarball), '-C', target, '--strip-components=1']);
  packed = (await run('tar', ['-tzf', join(app, tarball)])).stdout
    .trim()
    .split('\n')
    .map((name) => name.replace(/^package\//u, ''));
  // The registry is out of reach: what production needs is linked, and nothing else.
  const needed = (await npm(['ls', '--omit=dev', '--all', '--parseable'], ROOT))
    .trim()
    .split('\n')
    .slice(1);
  for (const path of needed) {
    const link = join(app, relative(ROOT, path));
    await mkdir(dirname(link), { recursive: true });
    await symlink(path, link);
  }
  await writeFile(
    join(app, 'package.json'),
    JSON.stringify({ name: 'app', private: true, dependencies: { lakeward: '*' } }),
  );
  await npm(['rebuild', '--ignore-scripts', 'lakeward'], app); // links its command
});
afterAll(() => rm(app, { recursive: true, force: true }));

test('npx lakeward works where the package is installed', async () => {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
    version: string;
  };
  expect(await npm(['exec', '--no', '--', 'lakeward', 'version'], app)).toBe(`${version}\n`);
});

test('the demo runs from the package', async () => {
  expect(await npm(['exec', '--no', '--', 'lakeward', 'demo'], app)).toContain('equals its feed');
});

test('the package can be imported, its schema too', async () => {
  const script = `
    import { PipelineBuilder } from 'lakeward';
    import schema from 'lakeward/schema/v1.json' with { type: 'json' };
    console.log(typeof PipelineBuilder, typeof schema.properties);
  `;
  await writeFile(join(app, 'check.mjs'), script);
  expect((await run(process.execPath, ['--no-warnings', 'check.mjs'], { cwd: app })).stdout).toBe(
    'function object\n',
  );
});

test('the package holds what it needs and no more', () => {
  expect(packed).toEqual(
    expect.arrayContaining([
      'bin/lakeward.js',
      'dist/bin/lakeward.js',
      'dist/bin/LICENSES.txt',
      'dist/index.d.ts',
      'schema/v1.json',
      'package.json',
    ]),
  );
  const allowed =
    /^(?:bin|dist|schema|examples)\/|^src\/demo\/[^/]+\.(?:yaml|gz)$|^(?:package\.json|README\.md|LICENSE|NOTICE|CHANGELOG\.md)$/u;
  expect(packed.filter((name) => !allowed.test(name) || /\.test\.|\.map$/u.test(name))).toEqual([]);
});
