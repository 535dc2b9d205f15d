import type { LoadedPipeline } from '../../config/load.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { printObject } from '../print-rows.ts';
import { runView } from '../run-view.ts';
import { formatRun, reportRun, type RunReport } from '../run-report.ts';
import { stopOnSignals } from '../signals.ts';
import type { Terminal } from '../terminal.ts';

export interface RunOptions {
  readonly strict?: boolean;
}

/** `lakeward run`: works a pipeline off, up to the end of its feed or a signal. */
export async function runCommand(
  path: string,
  options: RunOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const loaded = await loadNoticed(path, terminal);
  const { report, signal } = await runLoaded(path, loaded, terminal);
  if (terminal.output !== 'table' || !terminal.isQuiet) {
    await printObject(terminal, report, () => formatRun(report, terminal.paint));
  }
  // A feed that is followed has no other end than a signal, and a supervisor's SIGTERM is no failure.
  const isProperEnd = signal === null || (signal === 'SIGTERM' && loaded.spec.source.watch);
  if (!isProperEnd) return EXIT.interrupted;
  return options.strict === true && report.dead_letters_waiting > 0 ? EXIT.partial : EXIT.ok;
}

/** Runs a pipeline in view of the terminal. */
export async function runLoaded(
  path: string,
  { spec, notices }: LoadedPipeline,
  terminal: Terminal,
): Promise<{ readonly report: RunReport; readonly signal: 'SIGINT' | 'SIGTERM' | null }> {
  const [{ run }, { systemClock }, { unreadFeedBytes, waitingLetters }] = await Promise.all([
    import('../../app.ts'),
    import('../../lib/clock.ts'),
    import('../state.ts'),
  ]);
  const totalBytes = terminal.isLive ? await unreadFeedBytes(spec) : null;
  const view = runView(terminal, systemClock, spec, totalBytes);
  const stop = stopOnSignals(() => view.stopping());
  const startMs = systemClock.now();
  try {
    const summary = await run(spec, { signal: stop.signal, progress: view.take });
    const ms = systemClock.now() - startMs;
    const signal = stop.received();
    const waiting = (await waitingLetters(spec)).length;
    return {
      report: reportRun({
        spec,
        path,
        summary,
        waiting,
        commits: view.commits(),
        notices,
        ms,
        signal,
      }),
      signal,
    };
  } finally {
    view.end();
    stop.release();
  }
}

/** Loads a pipeline and says what of it has no effect. @throws ConfigError */
export async function loadNoticed(path: string, terminal: Terminal): Promise<LoadedPipeline> {
  const { loadPipeline } = await import('../../config/load.ts');
  const loaded = await loadPipeline(path);
  for (const { message } of loaded.notices)
    terminal.say(`${terminal.errorPaint.yellow('note')}  ${message}`);
  return loaded;
}
