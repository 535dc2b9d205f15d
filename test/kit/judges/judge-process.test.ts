import { afterEach, expect, test } from 'vitest';
import { JudgeError, startJudge, type JudgeProcess } from './judge-process.ts';

/** A judge in a few words: answers what it is told to, or does something worse. */
const PROGRAM = `
console.log(JSON.stringify({ ready: true }));
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, say, refuse, die } = JSON.parse(line);
  if (die) { console.error('out of breath'); process.exit(3); }
  if (refuse) console.log(JSON.stringify({ id, ok: false, chain: ['A: outer', 'B: inner'], statement: refuse }));
  if (say) console.log(JSON.stringify({ id, ok: true, result: say }));
});`;

const running: JudgeProcess[] = [];
const start = async (program = PROGRAM): Promise<JudgeProcess> => {
  const judge = await startJudge({ name: 'toy', command: process.execPath, args: ['-e', program] });
  running.push(judge);
  return judge;
};
afterEach(async () => {
  for (const judge of running.splice(0)) await judge[Symbol.asyncDispose]();
});

test('each request gets its own answer', async () => {
  const judge = await start();
  const answers = await Promise.all(['a', 'b', 'ä😀\n'].map((say) => judge.request({ say })));
  expect(answers).toEqual(['a', 'b', 'ä😀\n']);
});

test('a refusal carries the chain of causes and the statement', async () => {
  const judge = await start();
  const refused = judge.request({ refuse: 'SELECT' });
  await expect(refused).rejects.toBeInstanceOf(JudgeError);
  await expect(refused).rejects.toMatchObject({
    chain: ['A: outer', 'B: inner'],
    statement: 'SELECT',
    message: 'toy: A: outer\n  caused by B: inner\nin: SELECT',
  });
});

test('when a judge dies, everybody who waits hears why', async () => {
  const judge = await start();
  const silent = judge.request({});
  const fatal = judge.request({ die: true });
  await expect(silent).rejects.toThrow('the judge ended (3)');
  await expect(fatal).rejects.toThrow('out of breath');
});

test('a dead judge refuses at once', async () => {
  const judge = await start();
  await expect(judge.request({ die: true })).rejects.toThrow('the judge ended (3)');
  await expect(judge.request({ say: 'hello' })).rejects.toThrow('the judge has ended');
});

test('a program that cannot be started is an error, not a wait', async () => {
  await expect(startJudge({ name: 'toy', command: '/nowhere/judge', args: [] })).rejects.toThrow(
    'ENOENT',
  );
  await expect(start('process.exit(1)')).rejects.toThrow('the judge ended (1)');
});
