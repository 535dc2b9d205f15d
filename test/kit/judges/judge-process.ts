/**
 * A judge is another program that stays for a while: one JSON request a line on its stdin, one JSON answer a line
 * on its stdout, in order. It ends when its stdin closes, so it never outlives the test that started it.
 */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { createInterface } from 'node:readline';

/** What the judge refused, with the whole chain of causes as `class: message`, outermost first. */
export class JudgeError extends Error {
  readonly chain: readonly string[];
  /** The SQL statement that failed, where there is one. */
  readonly statement: string | undefined;
  constructor(judge: string, chain: readonly string[], statement?: string) {
    const sql = statement === undefined ? '' : `\nin: ${statement}`;
    super(`${judge}: ${chain.join('\n  caused by ')}${sql}`);
    this.name = 'JudgeError';
    this.chain = chain;
    this.statement = statement;
  }
}

export interface JudgeCommand {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface JudgeProcess extends AsyncDisposable {
  readonly pid: number;
  /** From the start of the process to its first sign of life, milliseconds. */
  readonly startMs: number;
  /** @throws JudgeError when the judge refuses, or has ended. */
  request(body: Readonly<Record<string, unknown>>): Promise<unknown>;
}

type Answer =
  | { readonly ready: true }
  | { readonly id: number; readonly ok: true; readonly result: unknown }
  | {
      readonly id: number;
      readonly ok: false;
      readonly chain: readonly string[];
      readonly statement?: string | null;
    };

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: JudgeError) => void;
}

const STDERR_KEPT = 8_000;
const END_MS = 10_000;
const READY = 0;

export async function startJudge(command: JudgeCommand): Promise<JudgeProcess> {
  const start = performance.now();
  const child = spawn(command.command, command.args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...command.env },
  });
  const waiting = new Map<number, Waiting>();
  const ended = watch(child, command.name, waiting);
  const answerTo = (id: number): Promise<unknown> =>
    new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
  await answerTo(READY);
  let last = READY;
  let hasEnded = false;
  void ended.then(() => (hasEnded = true));
  return {
    pid: child.pid ?? 0,
    startMs: performance.now() - start,
    request: (body) => {
      if (hasEnded) return Promise.reject(new JudgeError(command.name, ['the judge has ended']));
      last += 1;
      const answer = answerTo(last);
      child.stdin.write(`${JSON.stringify({ ...body, id: last })}\n`);
      return answer;
    },
    [Symbol.asyncDispose]: async () => {
      child.stdin.end();
      const kill = setTimeout(() => child.kill('SIGKILL'), END_MS);
      await ended;
      clearTimeout(kill);
    },
  };
}

/** Hands each answer to the one who waits for it; when the process ends, everybody who still waits hears why. */
function watch(
  child: ChildProcessWithoutNullStreams,
  name: string,
  waiting: Map<number, Waiting>,
): Promise<void> {
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-STDERR_KEPT);
  });
  child.stdin.on('error', () => undefined); // a judge that has died is reported by 'close'
  createInterface({ input: child.stdout }).on('line', (line) => {
    const answer = JSON.parse(line) as Answer;
    const id = 'ready' in answer ? READY : answer.id;
    const { resolve, reject } = waiting.get(id) ?? {};
    waiting.delete(id);
    if ('ready' in answer) resolve?.(undefined);
    else if (answer.ok) resolve?.(answer.result);
    else reject?.(new JudgeError(name, answer.chain, answer.statement ?? undefined));
  });
  return new Promise((resolve) => {
    const end = (why: string): void => {
      for (const { reject } of waiting.values()) reject(new JudgeError(name, [why, stderr.trim()]));
      waiting.clear();
      resolve();
    };
    child.once('error', (error) => end(error.message));
    child.once('close', (code, signal) => end(`the judge ended (${code ?? signal})`));
  });
}
