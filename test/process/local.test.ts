import { expect, test } from 'vitest';
import { localRunner } from '../../src/process/local.ts';
import type { RunEvent } from '../../src/results/events.ts';

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

test('a missing program is an error', async () => {
  await expect(runner.run({ file: '/nowhere/psql', args: [] })).rejects.toMatchObject({ code: 'tool_not_started' });
});

test('an abort ends the child, and its reason is the error', async () => {
  const controller = new AbortController();
  const child = runner.start({ file: 'sh', args: ['-c', 'echo ready; cat'] }, { signal: controller.signal });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  controller.abort(new Error('stopped'));
  await expect(child.ended).rejects.toThrow('stopped');
});

test('an abort before anyone waits for the end of the child leaves no rejection unhandled', async () => {
  events.length = 0;
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  const controller = new AbortController();
  const child = runner.start({ file: 'cat', args: [] }, { signal: controller.signal });
  controller.abort(new Error('stopped'));
  await expect.poll(() => events.some(({ event }) => event === 'command_ended')).toBe(true);
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
  await expect(child.ended).rejects.toThrow('stopped');
});

test('each command is reported as one would type it, without secrets', async () => {
  events.length = 0;
  await runner.run({ file: 'true', args: ["it's", 'postgres://u:secret@h/d'], env: { PGPASSWORD: 'hidden' } });
  const command = `true 'it'\\''s' postgres://u:***@h/d`;
  expect(events).toEqual([
    { event: 'command', command },
    { event: 'command_ended', command, exit: 0, duration_ms: expect.any(Number) },
  ]);
});

test('the last line of standard error comes, also when nothing ends it', async () => {
  const lines: string[] = [];
  await runner.run(
    { file: 'sh', args: ['-c', 'printf "one\\n\\ntwo" >&2'] },
    { onErrorLine: (line) => lines.push(line) },
  );
  expect(lines).toEqual(['one', '', 'two']);
});

test('a character that is written in two halves is one', async () => {
  const lines: string[] = [];
  const script = `process.stderr.write(Buffer.from([0xc3]), () => process.stdout.write('half', () => process.stdin.once('data', () => {
    process.stderr.write(Buffer.from([0xbc, 0x0a]));
    process.stdin.destroy();
  })))`;
  const child = runner.start(
    { file: process.execPath, args: ['-e', script] },
    { onErrorLine: (line) => lines.push(line) },
  );
  await new Promise((resolve) => child.stdout.once('data', resolve));
  child.stdin.write('go on\n');
  expect(await child.ended).toMatchObject({ exitCode: 0, stderr: 'ü\n' });
  expect(lines).toEqual(['ü']);
});

test('much output is kept whole, and the end of many words', async () => {
  const script = 'head -c 3000000 /dev/zero | tr "\\0" x; (head -c 3000000 /dev/zero | tr "\\0" y; echo the end) >&2';
  const { stdout, stderr } = await runner.run({ file: 'sh', args: ['-c', script] });
  expect(stdout).toHaveLength(3_000_000);
  expect(stderr.length).toBeLessThanOrEqual(256 * 1024);
  expect(stderr).toMatch(/y+the end\n$/);
});

test('input is given whole, then comes to its end', async () => {
  const input = 'line\n'.repeat(100_000);
  expect((await runner.run({ file: 'cat', args: [] }, { input })).stdout).toBe(input);
});

test('a child has the environment of the runner and its own, and no more', async () => {
  const own = localRunner({ environment: { PATH: process.env.PATH, OUTER: 'outer', BOTH: 'outer' }, report: () => {} });
  const { stdout } = await own.run({ file: 'env', args: [], env: { INNER: 'inner', BOTH: 'inner' } });
  expect(stdout.trim().split('\n').sort()).toEqual(
    ['BOTH=inner', 'INNER=inner', 'OUTER=outer', `PATH=${process.env.PATH}`].sort(),
  );
});

test('a signal that was aborted before rejects, and nothing is started', async () => {
  events.length = 0;
  const signal = AbortSignal.abort(new Error('stopped'));
  const running = runner.run({ file: 'sh', args: ['-c', 'exit 0'] }, { signal });
  await expect(running).rejects.toThrow('stopped');
  expect(events).toEqual([]);
});

test('a child that a signal has ended has no exit code', async () => {
  const child = runner.start({ file: 'sh', args: ['-c', 'echo ready; cat'] });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  child.kill();
  expect(await child.ended).toMatchObject({ exitCode: null });
});

test('a child that ignores SIGTERM is killed when the work is aborted', async () => {
  const controller = new AbortController();
  const script = 'trap "" TERM; echo $$; while :; do read line || :; done';
  const child = runner.start({ file: 'sh', args: ['-c', script] }, { signal: controller.signal });
  const pid = await new Promise<number>((resolve) => child.stdout.once('data', (text) => resolve(Number(text))));
  controller.abort(new Error('stopped'));
  await expect(child.ended).rejects.toThrow('stopped');
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
}, 10_000);

test('a program with endless output is ended, and named in the error', async () => {
  await expect(runner.run({ file: 'yes', args: [] })).rejects.toMatchObject({
    code: 'tool_output_too_large',
    message: 'yes printed more than 268 MB',
  });
});

test('an abort waits for no child of the child that holds its output', async () => {
  const aborted = new AbortController();
  const { promise: isRunning, resolve } = Promise.withResolvers<string>();
  const script = 'sleep 60 & echo $! >&2; wait';
  const ended = runner.run({ file: 'sh', args: ['-c', script] }, { signal: aborted.signal, onErrorLine: resolve });
  const sleeping = Number(await isRunning);
  aborted.abort(new Error('enough'));
  await expect(ended).rejects.toThrow('enough');
  process.kill(sleeping);
});
