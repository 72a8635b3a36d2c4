import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createHandOver } from '../../../../screens/app/terminal/hand-over.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tool-hand-over-'));
});

afterEach(() => rm(folder, { recursive: true }));

it.each([
  { VISUAL: '  ', EDITOR: 'true' },
  { VISUAL: '', EDITOR: ' true\n' },
  { VISUAL: 'true\n', EDITOR: 'false' },
  { VISUAL: 'true --wait "a b"' },
])('an editor of blanks or with a line feed does not execute the file: %j', async (variables) => {
  const file = join(folder, "a b'.sql");
  await writeFile(file, `#!/bin/sh\ntouch '${join(folder, 'executed')}'\n`);
  await chmod(file, 0o755);
  await createHandOver({ PATH: process.env.PATH, ...variables }).edit(file);
  expect(existsSync(join(folder, 'executed'))).toBe(false);
});
