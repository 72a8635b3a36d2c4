import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { build } from '../../.ci/build.mjs';
import { makeArchive } from '../../.ci/package/archive.mjs';
import { makeFormula } from '../../.ci/package/formula.mjs';
import { makeInstaller, writeChecksums } from '../../.ci/package/release.mjs';

const root = process.cwd();
const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const { version } = manifest;
const ARCHIVE = `tool_${version}_linux_amd64.tar.gz`;
const SHELL = existsSync('/bin/dash') ? '/bin/dash' : '/bin/sh';
const NEEDED = ['sh', 'tar', 'gzip', 'awk', 'mktemp', 'mkdir', 'mv', 'rm', 'cp', 'chmod', 'grep', 'ldd', 'cat'];

/** Root may write everywhere. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

let folder: string;
/** A release: an archive whose program prints the version, the script and the checksums. */
let release: string;
let home: string;
let server: Server;
let url: string;

async function makeRelease(key?: string): Promise<void> {
  const executable = join(folder, 'program');
  writeFileSync(executable, `#!/bin/sh\necho ${version}\n`);
  for (const [system, architecture] of [
    ['linux', 'amd64'],
    ['linux', 'arm64'],
    ['darwin', 'arm64'],
  ]) {
    const name = `tool_${version}_${system}_${architecture}`;
    const file = join(release, `${name}.tar.gz`);
    makeArchive({ root, name, executable, file, seconds: 1_700_000_000, node: process });
  }
  makeInstaller({ root, manifest, file: join(release, 'install.sh') });
  await writeChecksums(release, key);
}

beforeAll(async () => {
  await build();
  folder = await mkdtemp(join(tmpdir(), 'tool-install-'));
  release = join(folder, 'a release');
  mkdirSync(release);
  await makeRelease();
  server = createServer((request, response) => {
    const file = join(release, decodeURIComponent(request.url ?? ''));
    if (existsSync(file)) response.end(readFileSync(file));
    else response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

beforeEach(async () => {
  home = await mkdtemp(join(folder, 'the home '));
});

afterAll(async () => {
  server?.close();
  await rm(folder, { recursive: true, force: true });
});

interface Ran {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the script with these programs alone; a program that is a text is a script of the test. */
async function install(
  variables: Record<string, string> = {},
  programs: Record<string, string> = {},
  user: { uid?: number; gid?: number } = {},
): Promise<Ran> {
  const bin = await mkdtemp(join(home, 'bin-'));
  const uname = '#!/bin/sh\n[ "$1" = -s ] && echo Linux || echo x86_64\n';
  const all = { uname, sha256sum: '', curl: '', ...Object.fromEntries(NEEDED.map((name) => [name, ''])), ...programs };
  for (const [name, text] of Object.entries(all)) {
    const found = execFileSync('sh', ['-c', `command -v ${name} || true`], { encoding: 'utf8' }).trim();
    if (text === 'none') continue;
    if (text === '') symlinkSync(found, join(bin, name));
    else writeFileSync(join(bin, name), text, { mode: 0o755 });
  }
  const env = { PATH: bin, HOME: home, TOOL_INSTALL_URL: url, TOOL_INSTALL_DIR: join(home, 'my bin'), ...variables };
  if (user.uid !== undefined) for (const place of [folder, home, bin]) chownSync(place, user.uid, user.uid);
  // Not spawnSync: the server of the files is in this process.
  return promisify(execFile)(SHELL, [join(release, 'install.sh')], { env, ...user }).then(
    ({ stdout, stderr }) => ({ status: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ status: code, stdout, stderr }),
  );
}

/** What is in the folder for the program; an unfinished installation leaves nothing. */
function installed(place = join(home, 'my bin')): string[] {
  return existsSync(place) ? readdirSync(place) : [];
}

test('the script installs the program, again over itself, and says when its folder is not on the PATH', async () => {
  for (const _round of ['first', 'again']) {
    expect(await install()).toEqual({
      status: 0,
      stderr: '',
      stdout:
        `Installed tool ${version} in ${home}/my bin\n` +
        'It is not on your PATH. Add this line to the profile of your shell:\n' +
        `  export PATH="${home}/my bin:$PATH"\n`,
    });
    expect(installed()).toEqual(['tool']);
  }
  expect(execFileSync(join(home, 'my bin/tool'), { encoding: 'utf8' })).toBe(`${version}\n`);
  expect(statSync(join(home, 'my bin/tool')).mode & 0o777).toBe(0o755);
});

test('the program is written to /usr/local/bin or ~/.local/bin without a chosen folder, and nobody is asked for rights', async () => {
  const text = readFileSync('deploy/install.sh', 'utf8');
  expect(text).not.toMatch(/\b(sudo|su|doas)\b/);
  const { stdout } = await install({ TOOL_INSTALL_DIR: '' }, {}, NOBODY);
  expect(stdout).toContain(`in ${home}/.local/bin\n`);
});

test.each([
  ['wget', { curl: 'none', wget: '' }],
  ['shasum', { sha256sum: 'none', shasum: '#!/bin/sh\nexec /usr/bin/sha256sum\n' }],
  ['openssl', { sha256sum: 'none', openssl: '' }],
])('it works with %s instead', async (_name, programs) => {
  expect(await install({}, programs)).toMatchObject({ status: 0 });
  expect(installed()).toEqual(['tool']);
});

test('the script takes files from a folder too', async () => {
  expect(await install({ TOOL_INSTALL_URL: release }, { curl: 'none' })).toMatchObject({ status: 0 });
  expect(await install({ TOOL_INSTALL_URL: `file://${release}` }, { curl: 'none' })).toMatchObject({ status: 0 });
});

test('a program for macOS is signed there', async () => {
  const programs = {
    uname: '#!/bin/sh\n[ "$1" = -s ] && echo Darwin || echo x86_64\n',
    sysctl: '#!/bin/sh\necho 1\n',
    codesign: `#!/bin/sh\necho "$@" > '${home}/signed'\n`,
  };
  expect(await install({}, programs)).toMatchObject({ status: 0 });
  expect(readFileSync(join(home, 'signed'), 'utf8')).toMatch(/^--force --sign - .*darwin_arm64\/bin\/tool$/m);
});

describe('nothing is installed', () => {
  const unknown = (system: string, machine: string) =>
    `#!/bin/sh\n[ "$1" = -s ] && echo ${system} || echo ${machine}\n`;

  test.each([
    ['another processor', { uname: unknown('Linux', 'riscv64') }, 'no executable for riscv64'],
    ['another system', { uname: unknown('FreeBSD', 'amd64') }, 'no executable for FreeBSD'],
    [
      'a platform that the release lacks',
      { uname: unknown('Darwin', 'x86_64') },
      'this release has no executable for darwin amd64',
    ],
    ['musl', { ldd: '#!/bin/sh\necho musl libc >&2\nexit 1\n' }, 'this system has musl'],
    ['nothing to download with', { curl: 'none' }, 'neither curl nor wget'],
    ['nothing to verify with', { sha256sum: 'none' }, 'nothing to verify the download with'],
    ['no tar', { tar: 'none' }, 'tar is not installed'],
  ])('with %s', async (_case, programs, message) => {
    const { status, stderr } = await install({}, programs);
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining(message) });
    expect(installed()).toEqual([]);
  });

  test('from an archive that is truncated or another, a missing file, and over a program that is there', async () => {
    await install();
    const before = readFileSync(join(home, 'my bin/tool'), 'utf8');
    const archive = join(release, ARCHIVE);
    const bytes = readFileSync(archive);
    truncateSync(archive, bytes.length - 10);
    expect(await install()).toMatchObject({ status: 1, stderr: expect.stringContaining('differs from its checksum') });
    writeFileSync(archive, Buffer.concat([bytes, Buffer.from('x')]));
    expect(await install()).toMatchObject({ status: 1, stderr: expect.stringContaining('differs from its checksum') });
    rmSync(archive);
    expect(await install()).toMatchObject({ status: 1, stderr: expect.stringContaining(`cannot download ${url}`) });
    writeFileSync(archive, bytes);
    expect(installed()).toEqual(['tool']);
    expect(readFileSync(join(home, 'my bin/tool'), 'utf8')).toBe(before);
  });

  test('in place of a folder, or a link to one; a link to a file is replaced', async () => {
    const target = join(home, 'my bin/tool');
    const refused = { status: 1, stdout: '', stderr: expect.stringContaining(`${target} is a folder`) };
    mkdirSync(target, { recursive: true });
    expect(await install()).toEqual(refused);
    rmSync(target, { recursive: true });
    mkdirSync(join(home, 'elsewhere'));
    symlinkSync(join(home, 'elsewhere'), target);
    expect(await install()).toEqual(refused);
    expect(readdirSync(join(home, 'elsewhere'))).toEqual([]);
    expect(installed()).toEqual(['tool']);
    rmSync(target);
    writeFileSync(join(home, 'old'), 'old');
    symlinkSync(join(home, 'old'), target);
    expect(await install()).toMatchObject({ status: 0 });
    expect(readFileSync(join(home, 'old'), 'utf8')).toBe('old');
    expect(execFileSync(target, { encoding: 'utf8' })).toBe(`${version}\n`);
  });

  test('from a script that ends early, wherever that is', () => {
    const text = readFileSync(join(release, 'install.sh'), 'utf8');
    for (let end = 0; end < text.lastIndexOf('main "$@"'); end += 97) {
      const place = join(home, 'cut');
      const env = { PATH: process.env.PATH, HOME: home, TOOL_INSTALL_URL: release, TOOL_INSTALL_DIR: place };
      spawnSync(SHELL, ['-s'], { input: text.slice(0, end), env });
      expect(existsSync(place), text.slice(end - 40, end)).toBe(false);
    }
  });
});

test('checksums that a release key has signed are verified, and others refused', async () => {
  const key = join(folder, 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  const signers = join(folder, 'allowed signers');
  writeFileSync(signers, `release ${readFileSync(`${key}.pub`, 'utf8')}`);
  const given = { TOOL_INSTALL_SIGNERS: signers };
  const programs = { 'ssh-keygen': '' };
  expect(await install(given, programs)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('cannot download'),
  });
  await makeRelease(key);
  try {
    expect(await install(given, programs)).toMatchObject({ status: 0 });
    writeFileSync(join(release, 'checksums.txt'), '\n', { flag: 'a' });
    expect(await install(given, programs)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('not signed by'),
    });
  } finally {
    await makeRelease();
  }
});

test('the script has no warning of shellcheck', () => {
  const { error, stdout } = spawnSync('shellcheck', ['-s', 'sh', join(release, 'install.sh')], { encoding: 'utf8' });
  if (!error) expect(stdout).toBe('');
});

test('the formula has the checksums of the tarballs for Linux and macOS, and is valid Ruby', () => {
  makeFormula({ manifest, packages: release });
  const file = join(release, 'homebrew-tap/Formula/tool.rb');
  const text = readFileSync(file, 'utf8');
  const sums = readFileSync(join(release, 'checksums.txt'), 'utf8');
  const named = [...text.matchAll(/url ".*\/v(.*?)\/(.*)"\n\s+sha256 "(.*)"/g)].map(([, of, name, sum]) => [
    of,
    name,
    sum,
  ]);
  expect(named.map(([, name]) => name)).toEqual([
    ARCHIVE,
    ARCHIVE.replace('amd64', 'arm64'),
    ARCHIVE.replace('linux_amd64', 'darwin_arm64'),
  ]);
  for (const [of, name, sum] of named) {
    expect(of).toBe(version);
    expect(sums).toContain(`${sum}  ${name}\n`);
  }
  const { error, stdout } = spawnSync('ruby', ['-c', file], { encoding: 'utf8' });
  if (!error) expect(stdout).toBe('Syntax OK\n');
});
