import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What tests fetch or build once, outside the repository. */
export function testCache(): string {
  return join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'tool-tests');
}

/** Whether packages of Debian can be fetched here. */
export const hasApt = ['/usr/bin/apt-get', '/usr/bin/dpkg-deb', '/etc/debian_version'].every(existsSync);

const ENTRY = 'http://deb.debian.org/debian bookworm main';
const KEYS = '[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]';

/** Downloads a package, or its sources, with apt-get and lists of packages of our own: the system's stay as they are. */
export async function aptFetch(folder: string, what: { package: string } | { source: string }): Promise<void> {
  const apt = join(testCache(), 'apt');
  await mkdir(join(apt, 'lists', 'partial'), { recursive: true });
  await mkdir(join(apt, 'cache', 'archives', 'partial'), { recursive: true });
  await writeFile(join(apt, 'sources.list'), `deb ${KEYS} ${ENTRY}\ndeb-src ${KEYS} ${ENTRY}\n`);
  const options = Object.entries({
    'Dir::Etc::sourcelist': join(apt, 'sources.list'),
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::State::lists': join(apt, 'lists'),
    'Dir::Cache': join(apt, 'cache'),
    'APT::Sandbox::User': 'root',
  }).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  const get = (...args: string[]) => run('apt-get', [...options, ...args], { cwd: folder, maxBuffer: 1e8 });
  await get('update');
  await ('source' in what ? get('source', '--download-only', what.source) : get('download', what.package));
}

/** The files of a package, without an installation; kept in the cache of the tests. */
export async function debianPackage(name: string): Promise<string> {
  const folder = join(testCache(), `package-${name}`);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.${process.pid}`;
  try {
    await mkdir(unfinished, { recursive: true });
    await aptFetch(unfinished, { package: name });
    const archive = (await readdir(unfinished)).find((file) => file.endsWith('.deb'));
    if (!archive) throw new Error(`apt-get download ${name} gave no package`);
    await run('dpkg-deb', ['-x', join(unfinished, archive), join(unfinished, 'files')]);
    await rename(join(unfinished, 'files'), folder);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return folder;
}
