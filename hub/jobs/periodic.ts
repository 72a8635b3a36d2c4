import { type Log, reasonOf } from '../log.ts';

/** Work that every instance looks for at intervals, one run at a time. */
export interface Periodic extends AsyncDisposable {
  /** Looks now, or once more after the present run. */
  wake(): void;
  /** Resolves when all runs that were asked for have ended. */
  settled(): Promise<void>;
}

export interface PeriodicOptions {
  everyMs: number;
  log: Log;
  /** Logged when a run fails; the next one tries again. */
  failure: string;
}

/** Starts runs of `work`; the signal is aborted when the instance ends. */
export function startPeriodic(
  work: (signal: AbortSignal) => Promise<unknown>,
  { everyMs, log, failure }: PeriodicOptions,
): Periodic {
  const ending = new AbortController();
  const { signal } = ending;
  let running: Promise<void> = Promise.resolve();
  let isAsked = false;
  const run = async (): Promise<void> => {
    isAsked = false;
    try {
      if (!signal.aborted) await work(signal);
    } catch (error) {
      if (!signal.aborted) log.error(failure, reasonOf(error));
    }
  };
  const wake = (): void => {
    if (!isAsked) running = running.then(run);
    isAsked = true;
  };
  const timer = setInterval(wake, everyMs);
  return {
    wake,
    settled: () => running,
    async [Symbol.asyncDispose]() {
      ending.abort();
      clearInterval(timer);
      await running;
    },
  };
}
