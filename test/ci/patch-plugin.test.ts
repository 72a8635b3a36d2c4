import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { patchPlugin } from '../../.ci/bundle/patch-plugin.mjs';
import { patches } from '../../.ci/bundle/patches.mjs';

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

test('the patched packages of MySQL decode text of every character set, and number errors, as they do unpatched', async () => {
  const load = createRequire(join(process.cwd(), 'node_modules/mysql2/index.js'));
  writeFileSync(
    join(folder, 'mysql.js'),
    `exports.decode = require(${JSON.stringify(load.resolve('iconv-lite'))}).decode;
     exports.errors = require(${JSON.stringify(join(process.cwd(), 'node_modules/mysql2/lib/constants/errors.js'))});`,
  );
  const outfile = join(folder, 'bundled.cjs');
  await build({
    ...{ entryPoints: [join(folder, 'mysql.js')], bundle: true, platform: 'node', outfile, logLevel: 'silent' },
    plugins: [patchPlugin(patches, { partly: true })],
  });
  const patched = load(outfile);
  const iconv = load('iconv-lite');
  expect(load('./lib/constants/errors.js')).toMatchObject(patched.errors);
  const sources = globSync('node_modules/mysql2/lib/**/*.js').map((file) => readFileSync(file, 'utf8'));
  const used = sources.flatMap((source) => Array.from(source.matchAll(/\bErrors\.(\w+)/g), ([, name]) => name));
  expect(Object.keys(patched.errors).sort()).toEqual([...new Set(used)].sort());
  const texts = {
    ...{ sjis: '日本語ｱ', cp932: '日本語', eucjp: '日本語', gb2312: '中文', gbk: '中文鏡', gb18030: '中文😀' },
    ...{ big5: '中文', euckr: '한국어', cp1251: 'Ж', koi8r: 'Ж', latin2: 'ł', cesu8: '😀', utf16: 'ł😀' },
  };
  for (const [name, text] of Object.entries(texts)) {
    const bytes = iconv.encode(text, name);
    expect(iconv.decode(bytes, name), name).toBe(text);
    expect(patched.decode(bytes, name), name).toBe(text);
  }
});
