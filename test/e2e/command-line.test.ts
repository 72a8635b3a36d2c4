import { afterEach, expect, test } from 'vitest';
import { openTerminal, type TestTerminal } from './terminal.ts';

const PROGRAM = new URL('fixtures/command-line.ts', import.meta.url).pathname;
const QUESTION = 'Replace database "app"? [y/N]';

let terminal: TestTerminal;

function tool(...words: string[]): void {
  terminal = openTerminal({ command: [process.execPath, PROGRAM, ...words] });
}

afterEach(() => terminal.close());

test('a yes goes on: a live line while it works, one line a step when it has ended, then the result', async () => {
  tool('work');
  await terminal.waitFor(QUESTION);
  expect(terminal.screen()).toContain('Load snapshot 0');
  terminal.press('y', 'enter');
  await terminal.waitFor(/● Restore {2}█+░+ \d+% {2}\d+ of 20 tables/);
  await terminal.waitFor(/✓ Restore \d\.\d s\nLoaded/);
  expect(terminal.screen()).not.toContain('●');
  expect((await terminal.exited()).exitCode).toBe(0);
});

test('Enter alone is a no', async () => {
  tool('work');
  await terminal.waitFor(QUESTION);
  terminal.press('enter');
  await terminal.waitFor('error: Not confirmed. Nothing was changed.');
  expect((await terminal.exited()).exitCode).toBe(5);
});

test('Ctrl-C at the question interrupts', async () => {
  tool('work');
  await terminal.waitFor(QUESTION);
  terminal.press('ctrl+c');
  await terminal.waitFor('error: Interrupted');
  expect((await terminal.exited()).exitCode).toBe(130);
});

test.each([
  ['Ctrl-C', 130, () => terminal.press('ctrl+c')],
  ['SIGTERM', 143, () => terminal.signal('SIGTERM')],
] as const)('%s while it works ends the step as failed and exits with %d', async (_, exit, interrupt) => {
  tool('work', '--yes');
  await terminal.waitFor('● Restore');
  interrupt();
  await terminal.waitFor(/✗ Restore .*\nerror: Interrupted/);
  expect((await terminal.exited()).exitCode).toBe(exit);
});

test('--no-tui redraws nothing', async () => {
  tool('work', '--yes', '--no-tui');
  await terminal.waitFor(/^✓ Restore \d\.\d s\nLoaded/);
  expect((await terminal.exited()).exitCode).toBe(0);
  expect(terminal.bytesWritten()).toBeLessThan(100);
});
