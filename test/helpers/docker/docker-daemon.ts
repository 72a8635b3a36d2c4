import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe } from 'vitest';
import { SID_PACKAGES } from '../mysql/mysql-server.ts';
import { canHaveSid, debianSid } from '../postgres/debian-tree.ts';
import { eventually } from '../postgres/postgres-server.ts';

const run = promisify(execFile);

/** With the client programs of PostgreSQL and MariaDB, newer than those of this machine. */
export const IMAGE = 'client-tools:test';
/** With MySQL's own, which cannot be installed beside MariaDB's. */
export const MYSQL_IMAGE = 'mysql-client:test';

/** Of which packages an image is made; servers are left out of it. */
const PACKAGES = {
  [IMAGE]: ['postgresql-client', 'mariadb-client'],
  [MYSQL_IMAGE]: SID_PACKAGES,
};

export interface TestDocker {
  /** Leads the docker client to the daemon. */
  environment: NodeJS.ProcessEnv;
  /** What the docker client answers; rejects when it fails. */
  docker(...args: string[]): Promise<string>;
  /** Names of all containers, whether they run or not. */
  containers(): Promise<string[]>;
  stop(): Promise<void>;
}

const tree = canHaveSid ? await debianSid(PACKAGES[IMAGE]).catch(() => null) : null;

const needed = [
  { what: 'root and debootstrap', there: canHaveSid },
  { what: "Debian's packages", there: tree !== null },
  { what: 'dockerd', there: existsSync('/usr/sbin/dockerd') },
  { what: 'the right to mount', there: spawnSync('unshare', ['--mount', 'true']).status === 0 },
];
const lacking = needed.find(({ there }) => !there)?.what;

/** A suite that needs a Docker daemon: skipped by name where none can be had, unless all suites are insisted on. */
export function describeWithDocker(name: string, suite: () => void, { files }: { files?: string } = {}): void {
  // The long suite insists on a daemon; data beside the repository are not everywhere.
  const missing = files !== undefined && !existsSync(files) ? files : undefined;
  const needed = missing ?? (process.env.TEST_FULL === '1' ? undefined : lacking);
  describe.skipIf(needed)(needed ? `${name} (needs ${needed})` : name, suite);
}

/** A daemon of its own, that touches neither the machine's network nor another daemon, with an image. */
export async function startDocker(image: keyof typeof PACKAGES = IMAGE): Promise<TestDocker> {
  const folder = await mkdtemp(join(tmpdir(), 'tool-docker-'));
  const environment = { ...process.env, DOCKER_HOST: `unix://${folder}/docker.sock`, DOCKER_CONFIG: folder };
  const docker = async (...args: string[]): Promise<string> =>
    (await run('docker', args, { env: environment, maxBuffer: 1e8 })).stdout;
  const daemon = await startDaemon(folder, docker);
  await importImage(image, environment);
  return {
    environment,
    docker,
    async containers() {
      const names = await docker('ps', '--all', '--format', '{{.Names}}');
      return names.split('\n').filter((name) => name !== '');
    },
    async stop() {
      const ended = new Promise((resolve) => daemon.once('exit', resolve));
      daemon.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Not every file system under a temporary folder can carry overlays; plain copies always work. */
const DRIVERS = ['overlay2', 'vfs'];

async function startDaemon(folder: string, docker: TestDocker['docker']): Promise<ChildProcess> {
  for (const driver of DRIVERS) {
    await mkdir(join(folder, driver));
    const daemon = spawn(
      'unshare',
      [
        // What it mounts is gone with it, and it ends with us.
        ...['--mount', 'setpriv', '--pdeathsig', 'TERM', 'dockerd'],
        ...['--iptables=false', '--ip6tables=false', '--bridge=none', `--storage-driver=${driver}`],
        ...[`--data-root=${folder}/${driver}`, `--exec-root=${folder}/exec`, `--pidfile=${folder}/pid`],
        ...['--host', `unix://${folder}/docker.sock`],
      ],
      { stdio: 'ignore' },
    );
    const ended = new Promise<true>((resolve) => daemon.once('exit', () => resolve(true)));
    const answers = eventually(
      () =>
        docker('version').then(
          () => true,
          () => daemon.exitCode !== null,
        ),
      {
        deadline: 30_000,
      },
    );
    await Promise.race([answers, ended]);
    if (daemon.exitCode === null) return daemon;
  }
  throw new Error('dockerd does not start');
}

/** The Debian tree that the image of clients is made of. */
export function treeOfImage(): string {
  if (!tree) throw new Error(`there is no image without ${lacking}`);
  return tree.root;
}

async function importImage(image: keyof typeof PACKAGES, environment: NodeJS.ProcessEnv): Promise<void> {
  const { root } = await debianSid(PACKAGES[image]);
  const unneeded = [
    ...['var/cache', 'var/lib/apt', 'usr/share/doc', 'usr/share/locale', 'usr/share/man'],
    ...['usr/sbin/mysqld', 'usr/lib/mysql'],
  ];
  const flags = unneeded.map((path) => `--exclude=./${path}`).join(' ');
  await run('sh', ['-c', `tar -C '${root}' ${flags} -c . | docker import - ${image}`], { env: environment });
}
