/** Where a command speaks: data to stdout, everything for people to stderr. */
import pico from 'picocolors';

export const OUTPUTS = ['table', 'json', 'ndjson', 'csv'] as const;
export type Output = (typeof OUTPUTS)[number];
export type Paint = ReturnType<typeof pico.createColors>;

/** Global options, as the command line has them. */
export interface GlobalOptions {
  readonly output?: Output | undefined;
  /** False: `--no-color`. */
  readonly color?: boolean | undefined;
  readonly quiet?: boolean | undefined;
  readonly verbose?: boolean | undefined;
}

export interface Streams {
  readonly stdin: { readonly isTTY?: boolean };
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
}

export interface Terminal {
  readonly output: Output;
  readonly isQuiet: boolean;
  readonly isVerbose: boolean;
  /** Colours for stdout. */
  readonly paint: Paint;
  /** Colours for stderr. */
  readonly errorPaint: Paint;
  /** Whether a line on stderr may be written over. */
  readonly isLive: boolean;
  /** Whether somebody is there to answer. */
  readonly canAsk: boolean;
  /** Characters of a line of stderr. */
  readonly width: number;
  /** Data, to stdout as it is. Resolves when it is written, so that a slow reader slows the writer. */
  readonly write: (content: string | Uint8Array) => Promise<void>;
  /** Lines for people, to stderr; nothing with `--quiet`. */
  readonly say: (text: string) => void;
  /** As `say`, also with `--quiet`. */
  readonly warn: (text: string) => void;
  /** Raw text to stderr, for lines that are written over. */
  readonly draw: (text: string) => void;
}

export function openTerminal(
  options: GlobalOptions,
  { stdin, stdout, stderr }: Streams = process,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Terminal {
  const isQuiet = options.quiet === true;
  const wantsColor = (stream: { readonly isTTY?: boolean }): boolean => {
    if (options.color === false || isSet(env['NO_COLOR'])) return false;
    return isSet(env['FORCE_COLOR']) || (stream.isTTY === true && env['TERM'] !== 'dumb');
  };
  const isLive = stderr.isTTY === true && env['TERM'] !== 'dumb' && !isSet(env['CI']) && !isQuiet;
  return {
    output: options.output ?? 'table',
    isQuiet,
    isVerbose: options.verbose === true,
    paint: pico.createColors(wantsColor(stdout)),
    errorPaint: pico.createColors(wantsColor(stderr)),
    isLive,
    canAsk: stdin.isTTY === true && stderr.isTTY === true && !isSet(env['CI']),
    width: stderr.columns === undefined || stderr.columns < 20 ? 80 : stderr.columns,
    write: (content) => written(stdout, content),
    say: (text) => void (isQuiet || stderr.write(`${text}\n`)),
    warn: (text) => void stderr.write(`${text}\n`),
    draw: (text) => void stderr.write(text),
  };
}

const isSet = (text: string | undefined): boolean => text !== undefined && text !== '';

async function written(stream: NodeJS.WritableStream, content: string | Uint8Array): Promise<void> {
  if (content.length === 0) return;
  await new Promise<void>((resolve) => void stream.write(content, () => resolve()));
}

/**
 * A reader that goes away (`| head`) ends the process quietly: on stdout, since nobody wants the rest; on stderr,
 * not even that.
 */
export function endQuietlyOnBrokenPipe(end: () => void): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    end();
  });
  process.stderr.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
