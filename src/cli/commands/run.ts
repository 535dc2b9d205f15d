import type { LoadedPipeline } from '../../config/load.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { printObject } from '../print-rows.ts';
import { runView } from '../run-view.ts';
import { formatRun, reportRun } from '../run-report.ts';
import { stopOnSignals } from '../signals.ts';
import type { Terminal } from '../terminal.ts';

export interface RunOptions {
  readonly strict?: boolean;
}

/** `lakeward run`: works a pipeline off, up to the end of its feed or a signal. */
export async function runCommand(path: string, options: RunOptions, terminal: Terminal): Promise<ExitCode> {
  const { spec, notices } = await loadNoticed(path, terminal);
  const [{ run }, { systemClock }] = await Promise.all([import('../../app.ts'), import('../../lib/clock.ts')]);
  const view = runView(terminal, systemClock, spec);
  const stop = stopOnSignals(() => view.stopping());
  const startMs = systemClock.now();
  try {
    const summary = await run(spec, { signal: stop.signal, progress: view.take });
    const ms = systemClock.now() - startMs;
    const report = reportRun({ spec, path, summary, commits: view.commits(), notices, ms, signal: stop.received() });
    view.end();
    await printObject(terminal, report, () => (terminal.isQuiet ? '' : formatRun(report, terminal.paint)));
    if (report.status === 'interrupted' && !(spec.source.watch && stop.received() === 'SIGTERM')) return EXIT.interrupted;
    return options.strict === true && report.dead_letters > 0 ? EXIT.partial : EXIT.ok;
  } finally {
    view.end();
    stop.release();
  }
}

/** Loads a pipeline and says what of it has no effect. @throws ConfigError */
export async function loadNoticed(path: string, terminal: Terminal): Promise<LoadedPipeline> {
  const { loadPipeline } = await import('../../config/load.ts');
  const loaded = await loadPipeline(path);
  for (const { message } of loaded.notices) terminal.say(`${terminal.errorPaint.yellow('note')}  ${message}`);
  return loaded;
}
