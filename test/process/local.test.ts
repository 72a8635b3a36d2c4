import { expect, test } from 'vitest';
import type { RunEvent } from '../../src/events.ts';
import { localRunner } from '../../src/process/local.ts';

const events: RunEvent[] = [];
const runner = localRunner({ environment: process.env, report: (event) => events.push(event) });

test('a command gives its output, its words and its exit code', async () => {
  const result = await runner.run({ file: 'sh', args: ['-c', 'echo out; echo err >&2; exit 3'] });
  expect(result).toEqual({ exitCode: 3, stdout: 'out\n', stderr: 'err\n' });
});

test('lines of standard error come whole, however they were written', async () => {
  const lines: string[] = [];
  const script = 'printf "one\\ntw" >&2; printf "o\\nthree\\n" >&2';
  await runner.run({ file: 'sh', args: ['-c', script] }, { onErrorLine: (line) => lines.push(line) });
  expect(lines).toEqual(['one', 'two', 'three']);
});

test('a program that is not there is an error that says so', async () => {
  await expect(runner.run({ file: '/nowhere/psql', args: [] })).rejects.toMatchObject({ code: 'tool_not_started' });
});

test('an abort ends the child, and its reason is the error', async () => {
  const controller = new AbortController();
  const child = runner.start({ file: 'sh', args: ['-c', 'echo ready; cat'] }, { signal: controller.signal });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  controller.abort(new Error('stopped'));
  await expect(child.ended).rejects.toThrow('stopped');
});

test('each command is told as one would type it, without secrets', async () => {
  events.length = 0;
  await runner.run({ file: 'true', args: ["it's", 'postgres://u:secret@h/d'], env: { PGPASSWORD: 'hidden' } });
  expect(events).toEqual([{ event: 'command', command: `true 'it'\\''s' postgres://u:***@h/d` }]);
});
