import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { testCache } from '../databases/debian-packages.ts';

const run = promisify(execFile);
const REPOSITORY = new URL('../../..', import.meta.url).pathname.replace(/\/$/, '');
/** A link in some work trees. */
const MODULES = realpathSync(join(REPOSITORY, 'node_modules'));
const NODE = join(REPOSITORY, 'node_modules/node/bin');

/** A tree of another suite of Debian, for programs newer or older than this machine's. */
export interface DebianTree {
  root: string;
  /** A command that runs a shell script in it as root, with this repository where it is outside. Nothing stays mounted. */
  command(script: string, environment?: Record<string, string>): TreeCommand;
  /** Runs one to its end. */
  shell(script: string, environment?: Record<string, string>): Promise<{ exit: number; output: string }>;
}

export interface TreeCommand {
  file: string;
  args: string[];
  env: Record<string, string | undefined>;
}

/** Whether such a tree can be made here. */
export const canHaveSid = process.getuid?.() === 0 && existsSync('/usr/sbin/debootstrap');

/** Debian's unstable suite, with the newest of everything. */
export function debianSid(packages: string[]): Promise<DebianTree> {
  return debianTree('sid', packages);
}

/**
 * Made once (about a minute), and kept in a cache folder outside the repository; `copy` gets a copy to change. A suite
 * `sid+experimental` has packages of both.
 */
export async function debianTree(
  suite: string,
  packages: string[],
  { copy }: { copy?: string } = {},
): Promise<DebianTree> {
  const key = createHash('sha256').update(packages.join()).digest('hex').slice(0, 12);
  const cache = testCache();
  const kept = join(cache, `${suite}-${key}`);
  if (!existsSync(kept)) {
    const unfinished = `${kept}.${process.pid}`;
    await mkdir(cache, { recursive: true });
    const [base = suite, extra] = suite.split('+');
    const included = extra === undefined ? packages.join() : 'ca-certificates';
    await run('debootstrap', ['--variant=minbase', `--include=${included}`, base, unfinished], { maxBuffer: 1e8 });
    if (extra !== undefined) await installFrom(unfinished, { suite: extra, packages });
    await rename(unfinished, kept).catch(() => rm(unfinished, { recursive: true }));
  }
  if (copy) await run('cp', ['--archive', kept, copy]);
  const root = copy ?? kept;
  const command: DebianTree['command'] = (script, environment = {}) => {
    const inside = `export PATH=${NODE}:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8; ${script}`;
    const mounts = [
      ...[...new Set([REPOSITORY, MODULES])].map(
        (path) => `mkdir -p ${root}${path} && mount --bind ${path} ${root}${path}`,
      ),
      `mount -t proc proc ${root}/proc`,
      `mount --bind /dev ${root}/dev`,
      `exec chroot ${root} bash -c "$INSIDE"`,
    ];
    return {
      file: 'unshare',
      args: ['--mount', 'sh', '-ec', mounts.join('\n')],
      env: { PATH: process.env.PATH, INSIDE: inside, ...environment },
    };
  };
  return {
    root,
    command,
    async shell(script, environment) {
      const { file, args, env } = command(script, environment);
      return new Promise((resolve) => {
        const child = execFile(file, args, { env, maxBuffer: 1e8 }, (error, stdout, stderr) =>
          resolve({ exit: error ? Number(error.code ?? 1) : 0, output: stdout + stderr }),
        );
        child.stdin?.end();
      });
    },
  };
}

/** The lists of a suite that is seldom updated may be older than they say. */
async function installFrom(root: string, { suite, packages }: { suite: string; packages: string[] }): Promise<void> {
  await writeFile(join(root, 'etc/apt/sources.list.d/extra.list'), `deb http://deb.debian.org/debian ${suite} main\n`);
  const get = 'DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Check-Valid-Until=false';
  const install = `${get} install --yes --no-install-recommends -t ${suite} ${packages.join(' ')}`;
  await run('chroot', [root, 'sh', '-c', `${get} update && ${install}`], { maxBuffer: 1e8 });
}
