import type { PipelineError } from '../model/errors.ts';

/** What the process ends with: 64 and above as BSD's sysexits has them. */
export const EXIT = {
  ok: 0,
  failed: 1,
  /** The command compares, and found differences. */
  different: 2,
  /** Done, but for some records: `--strict`. */
  partial: 3,
  usage: 64,
  invalidConfig: 65,
  unavailable: 69,
  noPermission: 77,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** What a command means to end with, and how it came to that. For the reference page. */
export const EXIT_MEANINGS: Readonly<Record<ExitCode, string>> = {
  [EXIT.ok]: 'done',
  [EXIT.failed]: 'failed',
  [EXIT.different]: '`reconcile` found differences',
  [EXIT.partial]: '`run --strict`: done, but records wait as dead letters',
  [EXIT.usage]: 'the command line is not understood',
  [EXIT.invalidConfig]: 'the pipeline file is not valid, or asks for what cannot be',
  [EXIT.unavailable]: 'a file, a disk or a service is away or full',
  [EXIT.noPermission]: 'permission denied',
  [EXIT.interrupted]: 'ended by SIGINT or SIGTERM',
};

/** Codes whose kind is `config` although no pipeline file is wrong. */
const FAILED_BY_NAME: readonly string[] = ['E_NOT_FOUND', 'E_QUERY'];

export function exitCodeOf(error: PipelineError): ExitCode {
  if (isForbidden(error)) return EXIT.noPermission;
  if (error.code === 'E_USAGE') return EXIT.usage;
  if (FAILED_BY_NAME.includes(error.code)) return EXIT.failed;
  if (error.kind === 'config') return EXIT.invalidConfig;
  return error.kind === 'unavailable' ? EXIT.unavailable : EXIT.failed;
}

/** Whether the operating system refused it, anywhere down the chain of causes. */
export function isForbidden(error: unknown): boolean {
  let at: unknown = error;
  for (let depth = 0; at instanceof Error && depth < 10; depth += 1) {
    const { code } = at as NodeJS.ErrnoException;
    if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return true;
    at = at.cause;
  }
  return false;
}
