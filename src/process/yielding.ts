import { setImmediate } from 'node:timers/promises';

const SLICE_MS = 4;

/** Called before each small step of a long computation; lets events in after 4 ms. */
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

/** For steps that block by themselves, such as starting a process: lets events in between. */
export function oneStepAtATime(): Promise<void> {
  last = last.then(() => setImmediate());
  return last;
}
