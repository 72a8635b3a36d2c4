import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

const MODULE = new URL('../../src/runtime/late-awaits.ts', import.meta.url).pathname;

/** Runs a script that fails before it is awaited; returns what it prints and how it ends. */
function run(script: string) {
  const lines = [
    `import { permitLateAwaits } from ${JSON.stringify(MODULE)};`,
    'const failed = permitLateAwaits(process);',
  ];
  const text = [...lines, `const failing = Promise.reject(new Error('late'));`, script].join('\n');
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', text], { encoding: 'utf8' });
  return { stdout, status };
}

test('a promise may fail before it is awaited', () => {
  const script = `await new Promise((resolve) => setImmediate(resolve));
    await failing.catch(({ message }) => console.log(message, failed().length));`;
  expect(run(script)).toEqual({ stdout: 'late 1\n', status: 0 });
});

test('a failed promise that is not awaited is listed', () => {
  const script = `await new Promise((resolve) => setImmediate(resolve));
    console.log(failed().map(({ message }) => message).join());`;
  expect(run(script)).toEqual({ stdout: 'late\n', status: 0 });
});
