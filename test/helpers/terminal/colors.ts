import { createRequire } from 'node:module';
import { afterAll, beforeAll } from 'vitest';

/** Gives a suite Ink's 256 colours: Ink counts them once, when it is loaded, and suites share what is loaded. */
export function suiteWithColors(): void {
  let colors: { level: number };
  let before: number;
  beforeAll(async () => {
    const file = createRequire(import.meta.resolve('ink')).resolve('chalk');
    colors = (await import(/* @vite-ignore */ file)).default;
    before = colors.level;
    colors.level = 2;
  });
  afterAll(() => {
    colors.level = before;
  });
}
