/** `npm run package`: what people download, in dist/packages/. The parts are in .ci/package/, one file a kind. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from './build.mjs';
import { makeArchive } from './package/archive.mjs';
import { ARCHITECTURES, makeDebianPackage } from './package/debian.mjs';
import { makeExecutable } from './package/executable.mjs';
import { makeNpmPackage } from './package/npm.mjs';

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '');
const KINDS = ['executable', 'tarball', 'npm', 'debian'];
const USAGE = `Usage: npm run package -- [KIND…] [--platform PLATFORM --node FILE]
  KIND       ${KINDS.join(', ')}; without one, all that the platform has
  PLATFORM   such as linux-arm64, darwin-arm64 or win32-x64; default: this machine's
  FILE       Node's executable for that platform, of the version of this one`;

if (import.meta.main) {
  const { kinds, platform, node } = readWords();
  await makePackages({ kinds, platform, node });
}

function readWords() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { platform: { type: 'string' }, node: { type: 'string' } },
    });
    const here = `${process.platform}-${process.arch}`;
    const { platform = here, node = process.execPath } = values;
    const unknown = positionals.find((kind) => !KINDS.includes(kind));
    if (unknown) throw new Error(`No kind of package: ${unknown}`);
    if (platform !== here && !values.node) throw new Error('For another platform, --node names its executable of Node');
    const possible = KINDS.filter((kind) => kind !== 'debian' || platform in ARCHITECTURES);
    const impossible = positionals.find((kind) => !possible.includes(kind));
    if (impossible) throw new Error(`${platform} has no package of the kind ${impossible}`);
    return { kinds: positionals.length > 0 ? positionals : possible, platform, node };
  } catch (error) {
    console.error(`${error.message}\n\n${USAGE}`);
    process.exit(2);
  }
}

/** Returns the paths by kind. The same sources and the same Node give the same bytes. */
export async function makePackages({ kinds, platform, node, packages = join(root, 'dist/packages') }) {
  const seconds = sourceDate();
  await build();
  mkdirSync(packages, { recursive: true });
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const name = `tool-${manifest.version}-${platform}`;
  const files = {
    executable: join(packages, platform.startsWith('win32') ? `${name}.exe` : name),
    tarball: join(packages, `${name}.tar.gz`),
    npm: join(packages, `tool-${manifest.version}.tgz`),
    debian: join(packages, `tool_${manifest.version}_${ARCHITECTURES[platform]}.deb`),
  };
  const common = { root, manifest, platform, name, executable: files.executable, seconds, node: process };
  if (kinds.some((kind) => kind !== 'npm')) {
    await makeExecutable({ ...common, node, file: files.executable });
  }
  if (kinds.includes('tarball')) makeArchive({ ...common, file: files.tarball });
  if (kinds.includes('npm')) makeNpmPackage({ ...common, packages });
  if (kinds.includes('debian')) makeDebianPackage({ ...common, file: files.debian });
  await writeSums(packages);
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

async function writeSums(folder) {
  const names = readdirSync(folder).filter((name) => name.startsWith('tool'));
  const lines = [];
  for (const name of names.sort()) {
    const hash = createHash('sha256');
    await pipeline(createReadStream(join(folder, name)), hash);
    lines.push(`${hash.digest('hex')}  ${name}\n`);
  }
  writeFileSync(join(folder, 'SHA256SUMS'), lines.join(''));
}
