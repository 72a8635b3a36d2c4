import { expect, it } from 'vitest';
import { runGroup } from '../../src/process/run-group.ts';
import { temporaryFolder } from '../helpers/postgres/postgres-server.ts';

const environment = { PATH: process.env.PATH };

async function run(command: string | string[], signal = new AbortController().signal) {
  await using folder = await temporaryFolder();
  return await runGroup({ command, cwd: folder.path, environment, signal, report: () => {} });
}

it('returns the exit code and the end of both outputs', async () => {
  const { exitCode, output } = await run('echo one; echo two >&2; exit 3');
  expect(exitCode).toBe(3);
  expect(output).toContain('one');
  expect(output).toContain('two');
});

it('leaves out the line whose beginning is lost, since a cut secret is not recognised', async () => {
  const long = `head -c 100000 /dev/zero | tr '\\0' s`;
  expect((await run(`${long}; echo ecret; echo last`)).output).toBe('last\n');
  expect((await run(long)).output).toBe('');
});

it('passes each argument as it is to a program, never to a builtin of the shell', async () => {
  expect(await run(['printf', '%s|', 'a b', '$HOME', '"'])).toEqual({ exitCode: 0, output: 'a b|$HOME|"|' });
  expect((await run(['exit', '3'])).exitCode).toBe(127);
});

it('returns no exit code for a command that a signal ends', async () => {
  expect((await run('kill -9 $$')).exitCode).toBeNull();
});

it('rejects an argument that no program takes', async () => {
  await expect(run(['echo', 'a\0b'])).rejects.toMatchObject({ code: 'tool_not_started' });
});

it('does not wait for a process that has left the group and holds the outputs', async () => {
  const began = performance.now();
  expect((await run('setsid sleep 20 & exit 0')).exitCode).toBe(0);
  expect(performance.now() - began).toBeLessThan(10_000);
});

it('ends the command with all that it has started when the signal comes', async () => {
  const controller = new AbortController();
  const ended = run('sleep 100 & sleep 100', controller.signal);
  controller.abort(new Error('stopped'));
  await expect(ended).rejects.toThrow('stopped');
});
