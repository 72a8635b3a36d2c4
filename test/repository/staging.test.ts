import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createStaging, liveStagings } from '../../src/repository/staging.ts';
import { temporaryFolder } from '../helpers/postgres/postgres-server.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let root: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  root = join(folder.path, 'staging');
});

afterEach(() => folder[Symbol.asyncDispose]());

test('a staging folder is there while it is used, for its owner only, and gone after', async () => {
  {
    await using staging = await createStaging(root);
    const directory = await staging.folder('dump');
    await writeFile(join(directory, 'toc.dat'), 'unfinished');
    await writeFile(staging.path('one.object'), 'unfinished');
    expect(await readdir(directory)).toEqual(['toc.dat']);
    expect((await stat(staging.path(''))).mode & 0o777).toBe(0o700);
    expect(await liveStagings(root)).toBe(1);
  }
  expect(await readdir(root)).toEqual([]);
  expect(await liveStagings(root)).toBe(0);
});

test('two runs of one process have a folder each', async () => {
  await using one = await createStaging(root);
  await using other = await createStaging(root);
  expect(one.path('')).not.toBe(other.path(''));
  expect(await liveStagings(root)).toBe(2);
});

/** What a process that is killed leaves: made by it, so that nothing here knows what it looks like. */
async function killedStaging(): Promise<string> {
  const source = new URL('../../src/repository/staging.ts', import.meta.url).href;
  const code = `import(${JSON.stringify(source)}).then(async ({ createStaging }) => {
    const staging = await createStaging(${JSON.stringify(root)});
    await staging.folder('dump');
    console.log(staging.path(''));
    setInterval(() => {}, 1000);
  })`;
  const child = spawn(process.execPath, ['--experimental-strip-types', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  child.kill('SIGKILL');
  await exited;
  return basename(line.toString().trim());
}

test('remains of a killed run do not count as active, and the next run removes them', async () => {
  const dead = await killedStaging();
  expect(await readdir(root)).toEqual([dead]);
  expect(await liveStagings(root)).toBe(0);
  await using staging = await createStaging(root);
  expect(await readdir(root)).toEqual([basename(staging.path(''))]);
});

test('a folder of a process that was killed before it could write its owner goes after a minute', async () => {
  const { pid } = spawnSync(process.execPath, ['--version']);
  const [old, young] = [join(root, `${pid}-00000000`), join(root, `${pid}-11111111`)];
  for (const directory of [old, young]) await mkdir(directory, { recursive: true });
  const before = new Date(Date.now() - 120_000);
  await utimes(old, before, before);
  await using staging = await createStaging(root);
  expect((await readdir(root)).sort()).toEqual([basename(young), basename(staging.path(''))].sort());
});

test('without a staging folder no run is active', async () => {
  expect(await liveStagings(join(folder.path, 'nowhere'))).toBe(0);
});
