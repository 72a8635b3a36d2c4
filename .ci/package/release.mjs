import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** Returns the page of the releases: of the repository whose workflow makes them, or the example of the documentation. */
export function releasesUrl() {
  const { GITHUB_SERVER_URL: server = 'https://github.com', GITHUB_REPOSITORY: repository = 'acme/tool' } = process.env;
  return `${server}/${repository}/releases`;
}

/** Writes install.sh with the version and the address of its files. */
export function makeInstaller({ root, manifest, file }) {
  const values = { VERSION: manifest.version, RELEASES: releasesUrl() };
  const text = readFileSync(join(root, 'deploy/install.sh'), 'utf8');
  writeFileSync(
    file,
    text.replaceAll(/@(VERSION|RELEASES)@/g, (_, name) => values[name]),
    { mode: 0o755 },
  );
}

/** Writes checksums.txt of all files in the folder; with a private key of SSH also its signature. */
export async function writeChecksums(folder, key = process.env.TOOL_SIGNING_KEY) {
  const lines = [];
  for (const name of readdirSync(folder).filter(isAsset).sort()) {
    const hash = createHash('sha256');
    await pipeline(createReadStream(join(folder, name)), hash);
    lines.push(`${hash.digest('hex')}  ${name}\n`);
  }
  const file = join(folder, 'checksums.txt');
  writeFileSync(file, lines.join(''));
  rmSync(`${file}.sig`, { force: true });
  if (!key) return;
  // https://man.openbsd.org/ssh-keygen.1#Y~4: the namespace keeps signatures of other things from being accepted.
  execFileSync('ssh-keygen', ['-Y', 'sign', '-q', '-f', key, '-n', 'tool-release', file], { stdio: 'inherit' });
}

function isAsset(name) {
  return /^(tool[-_]\d.*\.(tar\.gz|tgz|deb|rpm|apk)|install\.sh)$/.test(name);
}
