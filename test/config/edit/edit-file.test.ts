import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { chmod, chown, readdir, readFile, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { editFile } from '../../../src/config/edit/edit-file.ts';
import { lockFile } from '../../../src/config/edit/lock-file.ts';
import { parseYaml } from '../../../src/config/yaml/yaml-source.ts';
import { configFolder } from '../../helpers/terminal/config-folder.ts';

const MODULE = new URL('../../../src/config/edit/edit-file.ts', import.meta.url).href;

it('keeps the mode, follows a link, and leaves no other file', async () => {
  const { path } = await configFolder({ 'real.yml': 'a: 1 # one\n' });
  await chmod(join(path, 'real.yml'), 0o640);
  await symlink('real.yml', join(path, 'tool.yml'));
  await editFile({ file: join(path, 'tool.yml'), environment: {}, edits: () => [{ path: ['a'], value: 2 }] });
  expect(await readFile(join(path, 'real.yml'), 'utf8')).toBe('a: 2 # one\n');
  expect((await stat(join(path, 'real.yml'))).mode & 0o777).toBe(0o640);
  expect((await readdir(path)).sort()).toEqual(['real.yml', 'tool.yml']);
});

it('refuses an edit with other effects, and does not change the file', async () => {
  const text = 'a: &a {x: 1}\nb: *a\n';
  const { path } = await configFolder({ 'tool.yml': text });
  const editing = editFile({
    file: join(path, 'tool.yml'),
    environment: {},
    edits: () => [{ path: ['a', 'x'], value: 2 }],
  });
  await expect(editing).rejects.toMatchObject({ code: 'file_not_written' });
  expect(await readFile(join(path, 'tool.yml'), 'utf8')).toBe(text);
  expect(await readdir(path)).toEqual(['tool.yml']);
});

it('takes over the lock of a process that is gone', async () => {
  const { path } = await configFolder({ 'tool.yml': 'a: 1\n' });
  const gone = spawn(process.execPath, ['-e', '0']);
  await new Promise((resolve) => gone.once('close', resolve));
  await writeFile(join(path, 'tool.yml.lock'), `${gone.pid} ${hostname()}`);
  await editFile({ file: join(path, 'tool.yml'), environment: {}, edits: () => [{ path: ['a'], value: 2 }] });
  expect(await readdir(path)).toEqual(['tool.yml']);
});

it('takes over the lock of another machine when it is old', async () => {
  const { path } = await configFolder({ 'tool.yml': 'a: 1\n' });
  const lock = join(path, 'tool.yml.lock');
  await writeFile(lock, '1 elsewhere');
  const longAgo = new Date(Date.now() - 120_000);
  await utimes(lock, longAgo, longAgo);
  await editFile({ file: join(path, 'tool.yml'), environment: {}, edits: () => [{ path: ['a'], value: 2 }] });
  expect(await readdir(path)).toEqual(['tool.yml']);
});

it('keeps concurrent changes of an editor without a lock', async () => {
  const { path } = await configFolder({ 'tool.yml': 'a: 1\n' });
  const file = join(path, 'tool.yml');
  const seen: string[] = [];
  const edits = (text: string) => {
    if (seen.push(text) === 1) writeFileSync(file, 'a: 1 # mine\nb: 3\n');
    return [{ path: ['a'], value: 2 }];
  };
  await editFile({ file, environment: {}, edits });
  expect(seen).toEqual(['a: 1\n', 'a: 1 # mine\nb: 3\n']);
  expect(await readFile(file, 'utf8')).toBe('a: 2 # mine\nb: 3\n');
  expect(await readdir(path)).toEqual(['tool.yml']);
});

it('does not overwrite bytes that it cannot read', async () => {
  const bytes = Buffer.from('a: 1\nb: caf\xe9\n', 'latin1');
  const { path } = await configFolder({ 'tool.yml': bytes });
  const editing = editFile({ file: join(path, 'tool.yml'), environment: {}, edits: () => [{ path: ['a'], value: 2 }] });
  await expect(editing).rejects.toMatchObject({ code: 'file_not_written' });
  expect(await readFile(join(path, 'tool.yml'))).toEqual(bytes);
});

it('reports a file that is not writable', async () => {
  const editing = editFile({ file: '/proc/version', environment: {}, edits: () => [{ path: ['a'], value: 2 }] });
  await expect(editing).rejects.toMatchObject({ code: 'file_not_written', hint: 'Nothing was changed.' });
});

it.skipIf(process.getuid?.() !== 0)('keeps the owner of a file of another user (needs root)', async () => {
  const { path } = await configFolder({ 'tool.yml': 'a: 1\n' });
  const file = join(path, 'tool.yml');
  await chown(file, 12_345, 23_456);
  await editFile({ file: file, environment: {}, edits: () => [{ path: ['a'], value: 2 }] });
  expect(await stat(file)).toMatchObject({ uid: 12_345, gid: 23_456 });
});

it('waits for the lock before it computes its edits', async () => {
  const { path } = await configFolder({ 'tool.yml': 'a: 1\n' });
  const file = join(path, 'tool.yml');
  const order: string[] = [];
  const held = await lockFile(file);
  const edits = () => {
    order.push('asked');
    return [{ path: ['a'], value: 2 }];
  };
  const editing = editFile({ file, environment: {}, edits });
  // The file, the lock, and the mark of who waits for it.
  await vi.waitFor(async () => expect(await readdir(path)).toHaveLength(3));
  order.push('released');
  await held[Symbol.asyncDispose]();
  await editing;
  expect(order).toEqual(['released', 'asked']);
});

it('loses no edit of concurrent processes', async () => {
  const { path } = await configFolder({ 'tool.yml': '# mine\ncount: 0\n' });
  const file = join(path, 'tool.yml');
  const program = `
    import { editFile } from ${JSON.stringify(MODULE)};
    for (let round = 0; round < 15; round += 1) {
      const edits = (text) => [
        { path: ['count'], value: Number(/count: (\\d+)/.exec(text)[1]) + 1 },
        { path: ['by', process.argv[1] + round], value: round },
      ];
      await editFile({ file: ${JSON.stringify(file)}, environment: {}, edits });
    }`;
  const writers = ['a', 'b', 'c'].map(
    (name) =>
      new Promise((resolve) =>
        spawn(process.execPath, ['--input-type=module', '-e', program, name], { stdio: 'inherit' }).once(
          'close',
          resolve,
        ),
      ),
  );
  expect(await Promise.all(writers)).toEqual([0, 0, 0]);
  const { tree } = parseYaml(await readFile(file, 'utf8'));
  expect(tree.count).toBe(45);
  expect(Object.keys(tree.by as object)).toHaveLength(45);
  expect(await readdir(path)).toEqual(['tool.yml']);
});
