/** `npm run package`: what people download, in dist/packages/. The parts are in .ci/package/, one file a kind. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from './build.mjs';
import { makeAlpinePackage } from './package/alpine.mjs';
import { makeArchive } from './package/archive.mjs';
import { makeDebianPackage } from './package/debian.mjs';
import { makeExecutable } from './package/executable.mjs';
import { makeFormula } from './package/formula.mjs';
import { makeNpmPackage } from './package/npm.mjs';
import { HERE, nodeFor, PLATFORMS } from './package/platforms.mjs';
import { makeInstaller, writeChecksums } from './package/release.mjs';
import { makeRpm } from './package/rpm.mjs';

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '');

/** Kinds of packages; those with a platform have the executable of it inside. */
const KINDS = {
  executable: () => true,
  tarball: () => true,
  npm: () => true,
  debian: ({ system }) => system === 'linux',
  rpm: ({ system }) => system === 'linux',
  apk: ({ system }) => system === 'linux',
  installer: () => true,
};

const USAGE = `Usage: npm run package -- [KIND…] [--platform PLATFORM] [--node FILE]
  KIND       ${Object.keys(KINDS).join(', ')}; without one, all that the platform has
  PLATFORM   all, ${Object.keys(PLATFORMS).join(', ')}; default: this machine's
  FILE       Node's executable for that platform, of the version of this one; default: from the npm registry`;

if (import.meta.main) {
  const { kinds, platforms, node } = readWords();
  for (const platform of platforms) await makePackages({ kinds: kindsOf(kinds, platform), platform, node });
}

function readWords() {
  try {
    const { values, positionals: kinds } = parseArgs({
      allowPositionals: true,
      options: { platform: { type: 'string' }, node: { type: 'string' } },
    });
    const { platform = HERE, node } = values;
    const platforms = platform === 'all' ? Object.keys(PLATFORMS) : [platform];
    const unknown = kinds.find((kind) => !(kind in KINDS)) ?? platforms.find((one) => !(one in PLATFORMS));
    if (unknown) throw new Error(`No kind of package, and no platform: ${unknown}`);
    if (node && platforms.length > 1) throw new Error('--node is of one platform');
    if (platforms.every((one) => kindsOf(kinds, one).length < kinds.length)) {
      throw new Error(`${platform} has no package of each kind: ${kinds.join(', ')}`);
    }
    return { kinds, platforms, node };
  } catch (error) {
    console.error(`${error.message}\n\n${USAGE}`);
    process.exit(2);
  }
}

function kindsOf(wanted, platform) {
  const possible = Object.keys(KINDS).filter((kind) => KINDS[kind](PLATFORMS[platform]));
  return wanted.length > 0 ? possible.filter((kind) => wanted.includes(kind)) : possible;
}

/** Returns the paths by kind. The same sources, the same Node and the same `level` of xz give the same bytes. */
export async function makePackages({
  kinds,
  platform,
  node: given,
  packages = join(root, 'dist/packages'),
  level = 6,
}) {
  const seconds = sourceDate();
  await build();
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { version } = manifest;
  const { system, architecture, rpm } = PLATFORMS[platform];
  const name = `tool_${version}_${system}_${architecture}`;
  const files = {
    // In a folder of its own: it is in all other files, and not among those to download.
    executable: join(packages, 'executables', system === 'windows' ? `${name}.exe` : name),
    tarball: join(packages, `${name}.tar.gz`),
    npm: join(packages, `tool-${version}.tgz`),
    debian: join(packages, `tool_${version}_${architecture}.deb`),
    rpm: join(packages, `tool-${version}-1.${rpm}.rpm`),
    apk: join(packages, `tool-${version}-r0.apk`),
    installer: join(packages, 'install.sh'),
  };
  mkdirSync(join(packages, 'executables'), { recursive: true });
  const common = { root, manifest, platform, name, architecture, executable: files.executable, seconds, node: process };
  if (kinds.some((kind) => !['npm', 'apk', 'installer'].includes(kind))) {
    const found = given ? { node: given, preparing: process.execPath, version: process.version } : nodeFor(platform);
    await makeExecutable({ ...common, ...found, file: files.executable });
    common.node = { version: found.version };
  }
  if (kinds.includes('tarball')) makeArchive({ ...common, file: files.tarball });
  if (kinds.includes('npm')) makeNpmPackage({ ...common, packages });
  if (kinds.includes('debian')) makeDebianPackage({ ...common, level, file: files.debian });
  if (kinds.includes('rpm')) makeRpm({ ...common, level, architecture: rpm, file: files.rpm });
  if (kinds.includes('apk')) makeAlpinePackage({ ...common, file: files.apk });
  if (kinds.includes('installer')) makeInstaller({ ...common, file: files.installer });
  await writeChecksums(packages);
  makeFormula({ ...common, packages });
  return Object.fromEntries(kinds.map((kind) => [kind, files[kind]]));
}

/** https://reproducible-builds.org/docs/source-date-epoch/ */
function sourceDate() {
  const { SOURCE_DATE_EPOCH: given } = process.env;
  if (given) return Number(given);
  try {
    return Number(execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }));
  } catch {
    return Date.UTC(2026, 0, 1) / 1000;
  }
}
