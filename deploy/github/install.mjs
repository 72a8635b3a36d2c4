import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { basename, delimiter, join, resolve } from 'node:path';
import { fail } from './workflow-commands.mjs';

// Installs a release of the repository of this action, or a given package, and puts it first in the PATH of later steps.

const { INPUT_VERSION, INPUT_PACKAGE, RUNNER_TEMP = '/tmp', GITHUB_PATH } = process.env;
const TITLE = 'tool cannot be installed';
const TIMEOUT_MS = 120_000;

const folder = mkdtempSync(join(RUNNER_TEMP, 'tool-'));
const bin = join(folder, 'bin');
const executable = join(bin, process.platform === 'win32' ? 'tool.exe' : 'tool');

const found = INPUT_PACKAGE ? givenPackage(INPUT_PACKAGE) : await download();
if (found.endsWith('.tgz')) installPackage(found);
else if (found.endsWith('.tar.gz')) unpack(found);
else installExecutable(found);
if (GITHUB_PATH)
  appendFileSync(GITHUB_PATH, `${process.platform === 'win32' && found.endsWith('.tgz') ? folder : bin}\n`);
printVersion();

function givenPackage(path) {
  if (!existsSync(path)) fail(TITLE, `There is no file ${path}. Check the input package.`);
  return resolve(path);
}

/** The tarball of this platform, or the npm package where there is none; verified against the release's checksums. */
async function download() {
  const releases = `${process.env.GITHUB_SERVER_URL}/${process.env.GITHUB_ACTION_REPOSITORY}/releases`;
  const version = INPUT_VERSION || ownVersion();
  if (!/^(latest|v?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?)$/.test(version)) {
    fail(TITLE, `"${version}" is no version. Write latest, or a version such as 1.2.3.`);
  }
  const release =
    version === 'latest' ? `${releases}/latest/download` : `${releases}/download/v${version.replace(/^v/, '')}`;
  const sums = String(await fetched(`${release}/checksums.txt`));
  const files = new Map(Array.from(sums.matchAll(/^([0-9a-f]{64}) [ *]([\w.+-]+)$/gm), ([, sum, name]) => [name, sum]));
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const platform = `_${system}_${process.arch === 'x64' ? 'amd64' : process.arch}.tar.gz`;
  const names = [...files.keys()];
  const name = names.find((one) => one.endsWith(platform)) ?? names.find((one) => one.endsWith('.tgz'));
  if (name === undefined) fail(TITLE, `${release} has no package for ${process.platform} ${process.arch}.`);
  const content = await fetched(`${release}/${name}`);
  const sum = createHash('sha256').update(content).digest('hex');
  if (sum !== files.get(name)) fail(TITLE, `${release}/${name} differs from its checksum in checksums.txt.`);
  const file = join(folder, basename(name));
  writeFileSync(file, content);
  return file;
}

function ownVersion() {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
}

async function fetched(url) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return Buffer.from(await response.arrayBuffer());
  } catch (error) {
    return fail(TITLE, `Cannot download ${url}: ${error.message}. Check the input version.`);
  }
}

function installExecutable(file) {
  mkdirSync(bin, { recursive: true });
  copyFileSync(file, executable);
  chmodSync(executable, 0o755);
}

/** The program is in bin/ of the archive's folder. Every runner has tar. */
function unpack(file) {
  const words = ['-xzf', file, '-C', folder, '--strip-components', '1'];
  if (spawnSync('tar', words, { stdio: 'inherit' }).status !== 0) fail(TITLE, `tar cannot unpack ${file}`);
  if (process.platform === 'darwin')
    spawnSync('codesign', ['--force', '--sign', '-', executable], { stdio: 'inherit' });
}

function installPackage(file) {
  const words = ['install', '--global', '--prefix', folder, '--no-audit', '--no-fund', file];
  const { status } = spawnSync('npm', words, { stdio: 'inherit', shell: process.platform === 'win32' });
  if (status !== 0) fail(TITLE, 'npm failed: see the log of this step. The package requires Node 22.15 or later.');
}

function printVersion() {
  const env = { ...process.env, PATH: [bin, folder, process.env.PATH].join(delimiter) };
  const { status, stdout, error } = spawnSync('tool', ['--version'], { env, encoding: 'utf8' });
  if (status !== 0) fail(TITLE, `tool --version fails${error ? `: ${error.message}` : ''}`);
  process.stdout.write(`Installed tool ${stdout.trim()} in ${folder}\n`);
}
