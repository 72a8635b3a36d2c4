import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  anyClientTools,
  type ClientTools,
  findClientTools,
  reportTools,
  toolsForArchive,
  toolsForServer,
} from '../../../../src/engines/postgres/connection/tools.ts';
import { localRunner } from '../../../../src/process/local.ts';
import { temporaryFolder, testContext } from '../../../helpers/postgres/postgres-server.ts';

const PROGRAMS = ['psql', 'pg_dump', 'pg_restore', 'pg_isready'];
let folder: Awaited<ReturnType<typeof temporaryFolder>>;

beforeEach(async () => {
  folder = await temporaryFolder();
});

afterEach(() => folder[Symbol.asyncDispose]());

/** A folder of programs that do nothing but say their version. */
async function install(name: string, answer: string, programs = PROGRAMS): Promise<string> {
  const directory = join(folder.path, name);
  await mkdir(directory);
  for (const program of programs) {
    await writeFile(join(directory, program), `#!/bin/sh\n${answer}\n`);
    await chmod(join(directory, program), 0o755);
  }
  return directory;
}

function contextWith(...directories: string[]) {
  const environment = { PATH: directories.join(delimiter) };
  return { ...testContext({ settings: {} }), environment, runner: localRunner({ environment, report: () => {} }) };
}

/** What is found of these folders; whatever this machine has besides is not in it. */
async function found(...directories: string[]): Promise<ClientTools[]> {
  const tools = await findClientTools(contextWith(...directories));
  return tools.filter(({ directory }) => directory.startsWith(folder.path));
}

function tools(...versions: string[]): ClientTools[] {
  return versions.map((version) => ({
    ...{ directory: `/${version}`, version, major: Number.parseInt(version, 10) },
    ...{ psql: 'psql', pg_dump: 'pg_dump', pg_restore: 'pg_restore', pg_isready: 'pg_isready' },
  }));
}

test('installations on the PATH are found, the newest first, by number and not by letter', async () => {
  const nine = await install('nine', `echo 'pg_dump (PostgreSQL) 9.6.24'`);
  const new17 = await install('new17', `echo 'pg_dump (PostgreSQL) 17.10 (Ubuntu 17.10-1.pgdg24.04+1)'`);
  const old17 = await install('old17', `echo 'pg_dump (PostgreSQL) 17.9'`);
  expect((await found(nine, old17, new17)).map(({ version, major }) => [version, major])).toEqual([
    ['17.10', 17],
    ['17.9', 17],
    ['9.6.24', 9],
  ]);
});

test('the programs of one installation are taken together', async () => {
  const directory = await install('whole', `echo 'pg_dump (PostgreSQL) 98.1'`);
  const [newest] = await found(directory);
  expect(newest).toEqual({
    ...{ directory, version: '98.1', major: 98, psql: join(directory, 'psql'), pg_dump: join(directory, 'pg_dump') },
    ...{ pg_restore: join(directory, 'pg_restore'), pg_isready: join(directory, 'pg_isready') },
  });
});

test('the same version is taken once, however often it is found', async () => {
  const one = await install('one', `echo 'pg_dump (PostgreSQL) 98.1'`);
  const other = await install('other', `echo 'pg_dump (PostgreSQL) 98.1'`);
  expect((await found(one, other, one)).map(({ directory }) => directory)).toEqual([one]);
});

test('a folder without all the programs, or whose programs do not run, is none', async () => {
  const partial = await install('partial', `echo 'pg_dump (PostgreSQL) 98.1'`, ['psql', 'pg_dump']);
  const broken = await install('broken', 'echo no such library >&2; exit 127');
  const plain = await install('plain', `echo 'pg_dump (PostgreSQL) 98.2'`);
  await chmod(join(plain, 'pg_dump'), 0o644);
  const dangling = await install('dangling', `echo 'pg_dump (PostgreSQL) 98.3'`);
  await rm(join(dangling, 'pg_dump'));
  await symlink(join(folder.path, 'gone'), join(dangling, 'pg_dump'));
  expect(await found(partial, broken, plain, dangling, join(folder.path, 'nowhere'), '')).toEqual([]);
});

test("Debian's wrapper is passed over for what it starts", async () => {
  const wrapper = await install('wrapper', `echo 'pg_dump (PostgreSQL) 98.1'`);
  await writeFile(join(folder.path, 'pg_wrapper'), `#!/bin/sh\necho 'pg_dump (PostgreSQL) 98.1'\n`, { mode: 0o755 });
  await rm(join(wrapper, 'pg_dump'));
  await symlink(join(folder.path, 'pg_wrapper'), join(wrapper, 'pg_dump'));
  expect(await found(wrapper)).toEqual([]);
});

test('the newest is taken for what any can do, and config check shows each program of all', async () => {
  const old = await install('old', `echo 'pg_dump (PostgreSQL) 98.1'`);
  const newer = await install('newer', `echo 'pg_dump (PostgreSQL) 99.1'`);
  const context = contextWith(old, newer);
  expect((await anyClientTools(context)).version).toBe('99.1');
  expect((await reportTools(context)).slice(0, 4)).toEqual([
    { name: 'pg_dump', path: join(newer, 'pg_dump'), version: '99.1' },
    { name: 'pg_restore', path: join(newer, 'pg_restore'), version: '99.1' },
    { name: 'psql', path: join(newer, 'psql'), version: '99.1' },
    { name: 'pg_dump', path: join(old, 'pg_dump'), version: '98.1' },
  ]);
});

test('a server is dumped by the newest pg_dump, which may not be older than the server', () => {
  expect(toolsForServer(tools('17.2', '15.18'), '13.4').version).toBe('17.2');
  expect(toolsForServer(tools('17.2', '15.18'), '17.9').version).toBe('17.2');
  expect(() => toolsForServer(tools('17.2', '15.18'), '18.1')).toThrow(
    expect.objectContaining({
      code: 'tools_too_old',
      message: 'The server is PostgreSQL 18.1, but the newest pg_dump here is 17.2',
      hint: expect.stringContaining('Install version 18 or newer'),
    }),
  );
});

test('an archive is restored by the oldest pg_restore that can read it', () => {
  expect(toolsForArchive(tools('17.2', '16.9', '16.3', '15.18'), '16.1').version).toBe('16.9');
  expect(toolsForArchive(tools('17.2', '15.18'), '16.1').version).toBe('17.2');
  expect(() => toolsForArchive(tools('17.2', '15.18'), '18.0')).toThrow(
    expect.objectContaining({
      code: 'tools_too_old',
      message: 'The snapshot was written by pg_dump 18.0, but the newest pg_restore here is 17.2',
      hint: expect.stringContaining('Install version 18 or newer'),
    }),
  );
});
