import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openLogFile } from '../../src/runtime/log-file.ts';
import { temporaryFolder } from '../helpers/postgres/postgres-server.ts';

const SOURCE = new URL('../../src/runtime/log-file.ts', import.meta.url).pathname;

async function lines(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => name.startsWith('tool.log'));
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return texts.flatMap((text) => text.split('\n').slice(0, -1));
}

test('the log and its folder are for their owner alone', async () => {
  await using folder = await temporaryFolder();
  openLogFile({ path: join(folder.path, 'logs', 'tool.log') })('a line');
  expect((await stat(join(folder.path, 'logs'))).mode & 0o777).toBe(0o700);
  expect((await stat(join(folder.path, 'logs', 'tool.log'))).mode & 0o777).toBe(0o600);
});

test('a log that is full is put aside under a number, and so many are kept', async () => {
  await using folder = await temporaryFolder();
  const append = openLogFile({ path: join(folder.path, 'tool.log'), maxBytes: 30, keep: 2 });
  for (let line = 0; line < 20; line += 1) append(`line number ${String(line).padStart(2, '0')}`);
  expect((await readdir(folder.path)).sort()).toEqual(['tool.log', 'tool.log.1', 'tool.log.2']);
  const read = (name: string) => readFile(join(folder.path, name), 'utf8');
  expect(await read('tool.log')).toBe('line number 18\nline number 19\n');
  expect(await read('tool.log.2')).toBe('line number 14\nline number 15\n');
});

test('processes that write and put aside at the same moment tear no line apart and lose none', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'tool.log');
  const writer = `
    import { openLogFile } from ${JSON.stringify(SOURCE)};
    const append = openLogFile({ path: ${JSON.stringify(path)}, maxBytes: 20_000, keep: 1000 });
    for (let line = 0; line < 400; line += 1) append(process.argv[1] + ' ' + line + ' ' + 'x'.repeat(line) + ' end');`;
  const run = (name: string) =>
    promisify(execFile)(process.execPath, ['--input-type=module', '--eval', writer, '--', name]);
  await Promise.all(['a', 'b', 'c'].map(run));
  const written = await lines(folder.path);
  const full = (await readdir(folder.path)).filter((name) => /\d$/.test(name));
  const sizes = await Promise.all(full.map(async (name) => (await stat(join(folder.path, name))).size));
  // None was put aside for one that somebody else had just put aside.
  expect(sizes.length).toBeGreaterThan(1);
  expect(Math.min(...sizes)).toBeGreaterThanOrEqual(20_000);
  const expected = ['a', 'b', 'c'].flatMap((name) =>
    Array.from({ length: 400 }, (_, line) => `${name} ${line} ${'x'.repeat(line)} end`),
  );
  expect(written.sort()).toEqual(expected.sort());
});

test('the lock of a process that was killed is removed', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'tool.log');
  await mkdir(folder.path, { recursive: true });
  await writeFile(`${path}.lock`, '');
  await utimes(`${path}.lock`, new Date(0), new Date(0));
  const append = openLogFile({ path, maxBytes: 5, keep: 2 });
  for (const line of ['first', 'second', 'third']) append(line);
  expect(await readFile(path, 'utf8')).toBe('third\n');
  expect(await readFile(`${path}.1`, 'utf8')).toBe('first\nsecond\n');
});
