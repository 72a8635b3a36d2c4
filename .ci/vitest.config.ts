import { defineConfig } from 'vitest/config';

const full = process.env.TEST_FULL === '1';

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    allowOnly: false,
    globalSetup: ['.ci/build.mjs', '.ci/temporary-folder.mjs'],
    setupFiles: 'test/helpers/bundled-workers.ts',
    update: 'none',
    // The tests write the configurations of the folders that they start the program in; test/hostile/ takes it away.
    env: { TOOL_TRUST: 'true' },
    // Of two cores: a suite waits for its servers a third of its time.
    maxWorkers: 3,
    slowTestThreshold: 5_000,
    // A provider of the tests' own, which says at each start that it is one.
    onConsoleLog: (line) => !line.includes('oidc-provider '),
    projects: [
      {
        extends: true,
        test: {
          name: 'tests',
          include: ['test/**/*.test.{ts,tsx}'],
          exclude: ['test/e2e/**', ...(full ? [] : ['**/*.full.test.{ts,tsx}'])],
          // To load the modules anew takes as long as many a suite. A suite about state of a module resets the modules.
          isolate: false,
          testTimeout: full ? 1_200_000 : 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.{ts,tsx}'],
          exclude: full ? [] : ['**/*.full.test.{ts,tsx}'],
          // One terminal at a time: what a person sees depends on how fast it comes.
          fileParallelism: false,
          testTimeout: full ? 1_200_000 : 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
