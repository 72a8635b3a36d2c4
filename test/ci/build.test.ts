import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../helpers/postgres/postgres-server.ts';

const run = promisify(execFile);

const REPLACE_OFTEN = `
const { replaceFolder } = await import(process.argv[1]);
const { mkdirSync, writeFileSync } = await import('node:fs');
for (let round = 0; round < 100; round++) {
  const next = process.argv[2] + '.' + process.pid;
  mkdirSync(next);
  for (let file = 0; file < 40; file++) writeFileSync(next + '/' + file, '');
  replaceFolder(next, process.argv[2]);
}`;

test('two runs at the same time replace the bundle, and leave one', async () => {
  await using folder = await temporaryFolder();
  const build = new URL('../../.ci/build.mjs', import.meta.url).href;
  const args = ['--input-type=module', '--eval', REPLACE_OFTEN, build, join(folder.path, 'dist')];
  await Promise.all([1, 2].map(() => run(process.execPath, args)));
  expect(readdirSync(folder.path)).toEqual(['dist']);
  expect(readdirSync(join(folder.path, 'dist'))).toHaveLength(40);
});
