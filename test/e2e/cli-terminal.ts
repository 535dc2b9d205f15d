import { Writable } from 'node:stream';
import { openTerminal, type GlobalOptions, type Terminal } from '../../src/cli/terminal.ts';

export interface RecordedTerminal {
  readonly terminal: Terminal;
  readonly stdout: () => string;
  readonly stderr: () => string;
}

/** A terminal that remembers. `isTty`: somebody sits before it. */
export function recordedTerminal(
  options: GlobalOptions = {},
  { isTty = false, env = {} } = {},
): RecordedTerminal {
  const [stdout, stderr] = [recorder(isTty), recorder(isTty)];
  const terminal = openTerminal(
    options,
    { stdin: { isTTY: isTty }, stdout: stdout.stream, stderr: stderr.stream },
    env,
  );
  return { terminal, stdout: stdout.text, stderr: stderr.text };
}

function recorder(isTTY: boolean) {
  const parts: Buffer[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      parts.push(Buffer.from(chunk));
      done();
    },
  });
  return {
    stream: Object.assign(stream, { isTTY, columns: 60 }),
    text: () => Buffer.concat(parts).toString(),
  };
}
