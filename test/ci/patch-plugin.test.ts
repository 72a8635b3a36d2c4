import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { patchPlugin } from '../../.ci/bundle/patch-plugin.mjs';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tool-patch-'));
  mkdirSync(join(folder, 'node_modules/thing'), { recursive: true });
  writeFileSync(join(folder, 'node_modules/thing/index.js'), 'export const width = slow();');
  writeFileSync(join(folder, 'main.js'), "import { width } from './node_modules/thing/index.js';\nconsole.log(width);");
});

afterEach(() => rmSync(folder, { recursive: true }));

async function bundled(from: string) {
  const patch = { name: 'fast', file: 'thing/index.js', from, to: 'fast()' };
  const { outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: ['main.js'],
    bundle: true,
    write: false,
    logLevel: 'silent',
    plugins: [patchPlugin([patch])],
  });
  return outputFiles[0]?.text;
}

test('a patch changes the file that it names', async () => {
  expect(await bundled('slow()')).toContain('width = fast()');
});

test('a patch without a match fails the build and is named', async () => {
  await expect(bundled('sluggish()')).rejects.toThrow('The patch "fast" no longer applies to thing/index.js');
});
