import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { joinChunks } from '../../.ci/bundle/join-chunks.mjs';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tool-chunks-'));
});

afterEach(() => rm(root, { recursive: true }));

/** Bundles files, joins the chunks of the roots, and returns the files and what `main.js` prints. */
async function joined(sources: Record<string, string>, roots: RegExp[]): Promise<{ files: string[]; printed: string }> {
  for (const [name, text] of Object.entries(sources)) writeFileSync(join(root, name), text);
  writeFileSync(join(root, 'package.json'), '{ "type": "module" }');
  const outdir = join(root, 'dist');
  const { metafile } = await build({
    ...{ absWorkingDir: root, entryPoints: ['main.ts'], outdir, bundle: true, splitting: true, format: 'esm' },
    ...{ metafile: true, minifySyntax: true, minifyWhitespace: true, platform: 'node' },
  });
  await joinChunks({ root, outdir, outputs: metafile.outputs, roots, entries: ['main.ts'] });
  const { stdout, stderr } = spawnSync(process.execPath, [join(outdir, 'main.js')], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return { files: readdirSync(outdir).sort(), printed: stdout };
}

const SOURCES = {
  'main.ts': `import { shared } from './shared.ts';
    const [a, b, c] = await Promise.all([import('./a.ts'), import('./b.ts'), import('./c.ts')]);
    console.log(a.name, b.name, b.default, c.name, shared.length, await a.more(), a.ofBoth === b.ofBoth);`,
  'shared.ts': 'export const shared: string[] = [];',
  'both.ts': 'export const ofBoth = Symbol();',
  'a.ts': `import { shared } from './shared.ts'; import { ofBoth } from './both.ts'; shared.push('a');
    export const name = 'a'; export { ofBoth }; export const more = async () => (await import('./b.ts')).name;`,
  'b.ts': `import { shared } from './shared.ts'; import { ofBoth } from './both.ts'; shared.push('b');
    export const name = 'b'; export default 'default of b'; export { ofBoth };`,
  'c.ts': `import { shared } from './shared.ts'; import { ofBoth } from './both.ts'; shared.push(typeof ofBoth); export const name = 'c';`,
};

test('chunks that are loaded together are one file, and each is evaluated once', async () => {
  const { files, printed } = await joined(SOURCES, [/^main\.ts$/, /^[ab]\.ts$/]);
  expect(printed).toBe('a b default of b c 3 b true\n');
  expect(files.filter((file) => file.startsWith('part-'))).toEqual(['part-1.js']);
  expect(files.filter((file) => /^[ab]-/.test(file))).toEqual([]);
  expect(files.filter((file) => file.startsWith('c-'))).toHaveLength(1);
});

test('a root without a chunk is refused', async () => {
  await expect(joined(SOURCES, [/^gone\.ts$/])).rejects.toThrow('No chunk belongs to /^gone\\.ts$/');
});
