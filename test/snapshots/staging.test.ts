import { spawn } from 'node:child_process';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createStaging, liveStagings } from '../../src/snapshots/staging.ts';
import { temporaryFolder } from '../helpers/postgres-server.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let root: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  root = join(folder.path, 'staging');
});

afterEach(() => folder[Symbol.asyncDispose]());

/** The id of a process that has ended. */
async function deadProcess(): Promise<number> {
  const child = spawn('true');
  await new Promise((resolve) => child.once('exit', resolve));
  return child.pid ?? 0;
}

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

test('what dead runs have left is not live, and is removed by the next run; what lives stays', async () => {
  const dead = `${await deadProcess()}-0badcafe`;
  const alive = `${process.ppid}-0badcafe`;
  for (const name of [dead, alive, 'stray']) await mkdir(join(root, name, 'dump'), { recursive: true });
  expect(await liveStagings(root)).toBe(1);
  {
    await using _staging = await createStaging(root);
    expect(await readdir(root)).not.toContain(dead);
  }
  expect(await readdir(root)).toEqual([alive]);
});

test('where nothing was ever staged nobody is working', async () => {
  expect(await liveStagings(join(folder.path, 'nowhere'))).toBe(0);
});
