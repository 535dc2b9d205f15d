import { EXIT } from './exit-code.ts';

export interface Stop {
  readonly signal: AbortSignal;
  /** The signal that came first, if one came. */
  received(): 'SIGINT' | 'SIGTERM' | null;
  release(): void;
}

/** The first SIGINT or SIGTERM asks for an orderly end, the second one quits at once. */
export function stopOnSignals(onFirst: (signal: 'SIGINT' | 'SIGTERM') => void): Stop {
  const abort = new AbortController();
  let received: 'SIGINT' | 'SIGTERM' | null = null;
  const take = (signal: 'SIGINT' | 'SIGTERM'): void => {
    if (received !== null) process.exit(EXIT.interrupted);
    received = signal;
    onFirst(signal);
    abort.abort();
  };
  process.on('SIGINT', take).on('SIGTERM', take);
  return {
    signal: abort.signal,
    received: () => received,
    release: () => void process.off('SIGINT', take).off('SIGTERM', take),
  };
}
