import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { build } from '../../.ci/build.mjs';
import { tarball } from '../../.ci/package/tar.mjs';
import { makePackages } from '../../.ci/package.mjs';
import { COMMANDS } from '../../src/commands/registry.ts';

let folder: string;
let file: string;
let apk: string;
let unpacked: string;

beforeAll(async () => {
  await build();
  folder = await mkdtemp(join(tmpdir(), 'tool-package-'));
  const made = await makePackages({
    kinds: ['npm', 'apk'],
    platform: 'linux-x64',
    node: process.execPath,
    packages: folder,
  });
  file = made.npm;
  apk = made.apk;
  execFileSync('tar', ['-xzf', file, '-C', folder]);
  unpacked = join(folder, 'package');
});

afterAll(() => rm(folder, { recursive: true, force: true }));

test('the npm package holds the program and its files, at most 6 MB with the packages in it, and nothing of the development', () => {
  const entries = execFileSync('tar', ['-tvzf', file], { encoding: 'utf8' }).trim().split('\n');
  const paths = entries.map((line) => line.split(' package/')[1] ?? line);
  expect(entries.reduce((sum, line) => sum + Number(line.split(/\s+/)[2]), 0)).toBeLessThanOrEqual(6_000_000);
  expect(paths.filter((path) => !/^dist\/[\w-]+\.js(\.LEGAL\.txt)?$/.test(path)).sort()).toEqual([
    'LICENSE',
    'README.md',
    'assets/demo/sanitize.sql',
    'assets/demo/shop.sql',
    'assets/events.schema.json',
    'assets/openapi.json',
    'assets/tool.1',
    'assets/tool.schema.json',
    'dist/THIRD-PARTY-LICENSES.txt',
    'package.json',
    'tool.example.yml',
  ]);
});

test('the npm package requires no package, and those of some platforms are optional', () => {
  const manifest = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8'));
  const own = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(Object.keys(manifest).filter((key) => /dependencies|scripts|overrides|knip/i.test(key))).toEqual([
    'optionalDependencies',
  ]);
  expect(manifest).toMatchObject({ version: own.version, engines: own.engines, bin: own.bin });
  expect(manifest.man.filter((path: string) => existsSync(join(unpacked, path)))).toEqual(['assets/tool.1']);
});

test('the package of Alpine is a control archive and a data archive with its checksums, whose program runs', () => {
  const bytes = readFileSync(apk);
  const tree = join(folder, 'alpine');
  mkdirSync(tree);
  // The end of an archive after the control part would hide the data.
  execFileSync('tar', ['--warning=no-unknown-keyword', '-xzf', apk, '-C', tree]);
  const control = readFileSync(join(tree, '.PKGINFO'), 'utf8');
  const values = new Map(control.split('\n').map((line) => line.split(' = ') as [string, string]));
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(values.get('pkgver')).toBe(`${version}-r0`);
  expect(values.get('depend')).toBe('nodejs>=22.15');
  const data = bytes.subarray(bytes.indexOf(Buffer.from([0x1f, 0x8b, 8]), 1));
  expect(values.get('datahash')).toBe(createHash('sha256').update(data).digest('hex'));
  const archive = gunzipSync(data).toString('latin1');
  const sums = [...archive.matchAll(/(?:^|\0)(\d+) (APK-TOOLS\.checksum\.SHA1=([0-9a-f]{40})\n)/g)];
  for (const [, length, record = ''] of sums) expect(Number(length)).toBe(`${length} ${record}`.length);
  const own = createHash('sha1')
    .update(readFileSync(join(tree, 'usr/lib/tool/dist/tool.js')))
    .digest('hex');
  expect(sums.map(([, , , sum]) => sum)).toContain(own);
  expect(execFileSync(join(tree, 'usr/bin/tool'), ['--version'], { encoding: 'utf8' })).toBe(`${version}\n`);
  expect(execFileSync(join(tree, 'usr/bin/tool'), ['config', 'schema'], { encoding: 'utf8' })).toContain(
    '"properties"',
  );
});

test('npx runs the program from the package, without the registry', () => {
  const words = ['exec', '--yes', '--offline', '--omit=optional', '--package', file, '--', 'tool', '--version'];
  const env = { ...process.env, npm_config_cache: join(folder, 'cache'), npm_config_update_notifier: 'false' };
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(execFileSync('npm', words, { cwd: folder, env, encoding: 'utf8' })).toBe(`${version}\n`);
});

test('publint finds nothing in the npm package', async () => {
  const bytes = readFileSync(file);
  const content = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  const { messages, pkg } = await publint({ pack: { tarball: content }, strict: true });
  expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
});

test('the licenses of bundled packages are in the package', () => {
  const text = readFileSync(join(unpacked, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8');
  for (const name of ['ink', 'react', 'mysql2', 'pg', '@aws-sdk/client-s3', 'hono']) {
    expect(text).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+\\S* \\(`, 'm'));
  }
});

test('the manual page has every command and is valid', () => {
  const page = readFileSync('assets/tool.1', 'utf8');
  for (const { name, hidden } of COMMANDS) {
    expect(page.includes(`\n\\fBtool ${name.replaceAll('-', '\\-')}\\fR`), name).toBe(!hidden);
  }
  const { error, stderr } = spawnSync('groff', ['-man', '-ww', '-z', '-Tutf8', 'assets/tool.1'], { encoding: 'utf8' });
  if (!error) expect(stderr).toBe('');
});

test('docs/install.md names the files of this version', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  const named = readFileSync('docs/install.md', 'utf8').match(/tool[-_]\d+\.\d+\.\d+[\w.-]*/g) ?? [];
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !name.startsWith(`tool-${version}`) && !name.startsWith(`tool_${version}`))).toEqual(
    [],
  );
});

test('the image has the client programs of every supported version, on both processors', () => {
  const text = readFileSync('deploy/Dockerfile', 'utf8');
  const [, versions = ''] = /^ARG POSTGRESQL="([\d ]+)"$/m.exec(text) ?? [];
  const [, first, last] = /PostgreSQL (\d+) to (\d+)/.exec(readFileSync('README.md', 'utf8')) ?? [];
  expect(versions.split(' ').map(Number)).toEqual(
    Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => Number(first) + index),
  );
  expect(text).toContain('tool_*_"$(dpkg --print-architecture)".deb');
});

test('the same files give the same archive, with the rights that they had', () => {
  const entries = (): [string, { content: string; mode?: number }][] => [
    ['a/bin/x', { content: '#!/bin/sh\n', mode: 0o755 }],
    ['a/README', { content: 'x'.repeat(600) }],
  ];
  const archive = tarball(entries(), 1_700_000_000);
  expect(tarball(entries().reverse(), 1_700_000_000)).toEqual(archive);
  const listed = execFileSync('tar', ['-tvz', '--utc'], { input: archive, encoding: 'utf8' });
  expect(listed.replaceAll(/ +/g, ' ').trim().split('\n')).toEqual([
    '-rw-r--r-- root/root 600 2023-11-14 22:13 a/README',
    '-rwxr-xr-x root/root 10 2023-11-14 22:13 a/bin/x',
  ]);
});
