import { it } from 'vitest';

const none: typeof it = new Proxy(it, { apply: () => undefined, get: () => () => none });

/**
 * `it` where the test applies to the engine or the run. Registers nothing elsewhere: a skipped test, by `it.skipIf`,
 * is one for which this machine lacks something.
 */
export function itIf(applies: unknown): typeof it {
  return applies ? it : none;
}
