/** How a command fails: one block on stderr, and an exit code. */
import type { ConfigError } from '../config/config-error.ts';
import { PipelineError, type Subject } from '../model/errors.ts';
import { exitCodeOf, isForbidden, type ExitCode } from './exit-code.ts';
import { jsonText } from './json-text.ts';
import type { Terminal } from './terminal.ts';

/** The form of an error in `-o json`. */
export interface ErrorReport {
  readonly code: string;
  readonly kind: string;
  readonly message: string;
  readonly subject: Subject;
  readonly advice: string;
}

export async function fail(error: unknown, terminal: Terminal): Promise<ExitCode> {
  const known = error instanceof PipelineError ? error : asKnown(error);
  if (terminal.output === 'table') terminal.warn(await errorText(known, terminal));
  else terminal.warn(jsonText({ ...errorReport(known), ...problemsOf(known) }));
  if (terminal.isVerbose) terminal.warn(traceOf(error));
  return exitCodeOf(known);
}

export function errorReport(error: PipelineError): ErrorReport {
  const { code, kind, message, subject, advice } = error;
  return { code, kind, message, subject, advice };
}

/** What nobody gave a code: the operating system's refusals have a meaning of their own, the rest is a fault of ours. */
function asKnown(error: unknown): PipelineError {
  const message = error instanceof Error ? error.message : String(error);
  const { code } = error as NodeJS.ErrnoException;
  if (isForbidden(error) || code === 'ENOSPC')
    return new PipelineError('E_STATE_WRITE', message, { cause: error });
  return new PipelineError('E_BUG', message, { cause: error });
}

async function errorText(error: PipelineError, { errorPaint: paint }: Terminal): Promise<string> {
  if (isConfigError(error)) {
    const { formatProblems } = await import('../config/config-error.ts');
    return `${formatProblems(error.problems, { color: paint.isColorSupported })} · lakeward errors ${error.code}`;
  }
  const place = placeText(error.subject);
  return [
    `${paint.red('error')} ${paint.bold(error.code)}  ${error.message}`,
    ...(place === '' ? [] : [paint.dim(`  at ${place}`)]),
    `  ${paint.cyan('→')} ${error.advice}`,
  ].join('\n');
}

// The problems of a pipeline file come as a list; the class itself would load the whole configuration.
export function isConfigError(error: PipelineError): error is ConfigError {
  return error.name === 'ConfigError' && 'problems' in error;
}

function problemsOf(error: PipelineError): { readonly problems?: unknown } {
  return isConfigError(error) ? { problems: error.problems } : {};
}

export function placeText({ file, line, column, byte, table, pipeline }: Subject): string {
  const parts: string[] = [];
  if (file !== undefined)
    parts.push([file, line, column].filter((part) => part !== undefined).join(':'));
  if (byte !== undefined) parts.push(`byte ${byte}`);
  if (table !== undefined) parts.push(`table ${table}`);
  if (file === undefined && column !== undefined) parts.push(`column ${column}`);
  if (pipeline !== undefined) parts.push(`pipeline ${pipeline}`);
  return parts.join(', ');
}

function traceOf(error: unknown): string {
  const lines: string[] = [];
  for (
    let at: unknown = error;
    at !== undefined && at !== null && lines.length < 10;
    at = (at as Error).cause
  ) {
    lines.push(at instanceof Error ? (at.stack ?? at.message) : 'thrown: no error object');
  }
  return lines.join('\ncaused by: ');
}

export function usage(message: string): PipelineError {
  return new PipelineError('E_USAGE', message);
}
