import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCli, folderOf, type Cli } from './cli-process.ts';

let cli: Cli;
beforeAll(async () => {
  cli = await startCli();
});
afterAll(() => cli.dispose());

test('the demo ends with an answer, a dead letter and three commands that work', async () => {
  const cwd = await folderOf({});
  const { code, stdout } = await cli.run(['demo'], { cwd });
  expect(code).toBe(0);
  expect(stdout).toContain('✔ wrote lakeward-demo/pipeline.yaml');
  expect(stdout).toMatch(/✔ quakes\.earthquake equals its feed, .*: 1,706 rows/);
  expect(stdout).toContain('22km NNE of Hualian, Taiwan');
  expect(stdout).toMatch(/One dead letter waits: E_VALUE_NUMBER at quakes\.ndjson\.gz:\d+/);
  const commands = stdout.split('Try next\n')[1]?.trimEnd().split('\n') ?? [];
  expect(commands).toHaveLength(3);
  for (const command of commands) {
    const args = await shellWords(command.trim());
    expect(args.shift()).toBe('lakeward');
    const ran = await cli.run(args, { cwd });
    expect({ command, code: ran.code, isEmpty: ran.stdout === '' }).toEqual({
      command,
      code: 0,
      isEmpty: false,
    });
  }
});

test('the demo, run again, does nothing twice and says so', async () => {
  const cwd = await folderOf({});
  await cli.run(['demo', 'here'], { cwd });
  const { code, stdout } = await cli.run(['demo', 'here'], { cwd });
  expect(code).toBe(0);
  expect(stdout).toContain('✔ found here/pipeline.yaml');
  expect(stdout).toContain('quakes: nothing new since checkpoint');
  const again = JSON.parse(
    (await cli.run(['demo', join(cwd, 'here'), '-o', 'json'], { cwd })).stdout,
  ) as { run: object; reconcile: object };
  expect(again).toMatchObject({
    run: { changes: 0 },
    reconcile: [{ table: 'quakes.earthquake', equal: true }],
    query: { rows: { length: 5 } },
    dead_letters: { length: 1 },
  });
});

/** The words that a shell makes of a line. */
async function shellWords(line: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)('sh', ['-c', `printf '%s\\0' ${line}`]);
  return stdout.split('\0').slice(0, -1);
}
