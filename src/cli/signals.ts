import type { EventEmitter } from 'node:events';
import { EXIT, type ExitCode, interrupted } from '../runtime/errors.ts';

export interface SignalOptions {
  source: EventEmitter;
  clock: () => Date;
  exitNow: (code: ExitCode) => void;
}

const AT_ONCE_WITHIN_MS = 2000;
/** The terminal and the launcher may both deliver one Ctrl-C. */
const SAME_WITHIN_MS = 200;

/** An AbortSignal for Ctrl-C, SIGTERM and SIGHUP; a second Ctrl-C soon after the first ends the process at once. */
export function abortOnSignals({ source, clock, exitNow }: SignalOptions): AbortSignal {
  const controller = new AbortController();
  let lastInterrupt: number | null = null;
  source.on('SIGINT', () => {
    const now = clock().getTime();
    if (lastInterrupt !== null && now - lastInterrupt <= SAME_WITHIN_MS) return;
    if (lastInterrupt !== null && now - lastInterrupt <= AT_ONCE_WITHIN_MS) exitNow(EXIT.interrupted);
    lastInterrupt = now;
    controller.abort(interrupted(EXIT.interrupted));
  });
  for (const name of ['SIGTERM', 'SIGHUP']) {
    source.on(name, () => controller.abort(interrupted(EXIT.terminated)));
  }
  return controller.signal;
}
