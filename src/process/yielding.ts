import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';

/** How long a computation may hold up keys, timers and answers. */
const SLICE_MS = 4;

/** For long computations in small steps: called before each step, it lets events in when 4 ms have passed. */
export function createYield(): () => Promise<void> | undefined {
  let pausing: Promise<void> | undefined;
  let resumed = performance.now();
  return () => {
    if (performance.now() - resumed < SLICE_MS) return;
    pausing ??= setImmediate().then(() => {
      resumed = performance.now();
      pausing = undefined;
    });
    return pausing;
  };
}

let last: Promise<void> = Promise.resolve();

/** For steps that hold up events by themselves, such as the start of a process: events come between any two of them. */
export function oneStepAtATime(): Promise<void> {
  last = last.then(() => setImmediate());
  return last;
}
