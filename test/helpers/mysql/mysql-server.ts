import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe } from 'vitest';
import { type MysqlSession, openSession } from '../../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../../src/engines/mysql/connection/url.ts';
import { unprivilegedUser } from '../../../src/engines/shared/server/unprivileged-user.ts';
import { testCache } from '../databases/debian-packages.ts';
import { canHaveSid, debianSid } from '../postgres/debian-tree.ts';
import { eventually } from '../postgres/postgres-server.ts';

export type TestFlavour = 'mariadb' | 'mysql';

/** Returns the flavours of a suite: one in `npm test`, both in `npm run test:full`. */
export function testedFlavours(one: TestFlavour): TestFlavour[] {
  return process.env.TEST_FULL === '1' ? ['mariadb', 'mysql'] : [one];
}

export interface TestMysql {
  flavour: TestFlavour;
  port: number;
  directory: string;
  /** Connection URL of one of its databases, as root unless said otherwise. */
  url(database: string, user?: { name: string; password: string }): string;
  /** The rows of the last statement. */
  sql<Row = Record<string, unknown>>(database: string, ...statements: string[]): Promise<Row[]>;
  /** Runs a file with the client program, which knows DELIMITER. */
  file(database: string, path: string): Promise<void>;
  createDatabase(name: string): Promise<void>;
  databases(): Promise<string[]>;
  /** Has the client program run a script whose bytes are in whatever character sets it says. */
  script(database: string, script: Uint8Array): Promise<void>;
  /** The flavour's own dump of a database, without what differs from run to run. */
  dump(database: string): Promise<string>;
  /** A dump with the defaults of the program: with comments, and with blobs as bytes. */
  plainDump(database: string): Promise<Buffer>;
  /** As `dump`, a character for each byte, and with the views that are no longer valid, whose bodies no file needs to have. */
  dumpOfAll(database: string): Promise<string>;
  /** Kills the server and starts it again on its port. */
  crash(): Promise<void>;
  stop(): Promise<void>;
}

const SYSTEM = new Set(['information_schema', 'mysql', 'performance_schema', 'sys']);
/** Of Debian's unstable suite: MySQL's server and client. */
export const SID_PACKAGES = ['mysql-server-core', 'mysql-client-core'];
const DUMP_FLAGS = [
  ...['--routines', '--triggers', '--events', '--skip-dump-date', '--skip-comments', '--hex-blob'],
  '--order-by-primary',
];

const hasMariadb = ['/usr/sbin/mariadbd', '/usr/bin/mariadb-install-db', '/usr/bin/mariadb'].every(existsSync);

/** What each flavour needs here, to be named where it is not there. */
const NEEDS: Record<TestFlavour, { what: string; there: boolean }> = {
  mariadb: { what: "MariaDB's server programs", there: hasMariadb },
  mysql: { what: 'root and debootstrap, to have MySQL 9', there: canHaveSid },
};

/** A suite for a flavour: skipped by name where its server, or the files it reads, cannot be had. */
export function describeWithMysql(
  flavour: TestFlavour,
  { name, files }: { name: string; files?: string },
  suite: () => void,
): void {
  const needed = [NEEDS[flavour], { what: files, there: files === undefined || existsSync(files) }];
  const lacking = needed.find(({ there }) => !there)?.what;
  describe.skipIf(lacking)(`${flavour}: ${name}${lacking ? ` (needs ${lacking})` : ''}`, suite);
}

/** How programs of a flavour are run: as they are, or in Debian's unstable suite. */
interface Programs {
  version: string;
  /** A command line with the folder where the program sees it. */
  server(directory: string, flags: string[]): string[];
  initialize(directory: string, flags: string[]): string[];
  client(name: 'client' | 'dump', flags: string[]): string[];
  flags: string[];
}

/** Nobody needs its data after a power cut. */
const SERVER_FLAGS = [
  '--bind-address=127.0.0.1',
  '--innodb-flush-log-at-trx-commit=0',
  '--innodb-buffer-pool-size=128M',
];

/**
 * Settings that servers differ in. `lean` is what most tests need; `defaults` are those of a fresh server: on MySQL
 * with a binary log and GTID, on MariaDB without; `strict` are those of managed services and replication groups.
 */
export type Setup = 'lean' | 'defaults' | 'strict';

/** `strict` has the binary log of `defaults` as well, so that `defaults` is for `npm run test:full` only. */
export const TESTED_SETUPS: Setup[] =
  process.env.TEST_FULL === '1' ? ['lean', 'defaults', 'strict'] : ['lean', 'strict'];

const SETUP_FLAGS: Record<TestFlavour, Record<Setup, string[]>> = {
  mysql: {
    lean: ['--skip-log-bin'],
    defaults: [],
    strict: ['--sql-require-primary-key=ON'],
  },
  mariadb: { lean: [], defaults: [], strict: ['--log-bin=binlog', '--binlog-format=ROW', '--gtid-strict-mode=ON'] },
};

/** What MySQL takes when its first files are made, and never changes again. */
const isForever = (flag: string): boolean => flag.startsWith('--lower-case-table-names=');

export async function startMysql(
  flavour: TestFlavour,
  flags: string[] = [],
  setup: Setup = 'lean',
): Promise<TestMysql> {
  const programs = flavour === 'mariadb' ? await mariadbPrograms() : await mysqlPrograms();
  const user = await unprivilegedUser('postgres');
  const directory = await mkdtemp(join(tmpdir(), `tool-${flavour}-`));
  await chmod(directory, 0o755);
  if (user) await chown(directory, user.uid, user.gid);
  const as = user ? ['setpriv', `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'] : [];
  const forever = flags.filter(isForever);
  await copyInitialized(directory, {
    key: [flavour, programs.version, `${user?.uid}`, ...forever],
    initialize: (fresh) => run([...(flavour === 'mariadb' ? as : []), ...programs.initialize(fresh, forever)]),
  });
  const port = await freePort();
  const words = [
    ...(flavour === 'mariadb' ? as : []),
    ...programs.server(directory, [
      ...SERVER_FLAGS,
      ...programs.flags,
      ...SETUP_FLAGS[flavour][setup],
      `--port=${port}`,
      ...flags,
    ]),
  ];
  let log = '';
  const startServer = () => {
    const [file = '', ...args] = words;
    const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-10_000);
    });
    return { child, ended: new Promise<void>((resolve) => child.once('exit', () => resolve())) };
  };
  let running = startServer();
  const stop = async (): Promise<void> => {
    // Its files go with it: nothing needs to be written before.
    running.child.kill('SIGKILL');
    await running.ended;
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  };
  const url: TestMysql['url'] = (database, { name, password } = { name: 'root', password: '' }) =>
    `mysql://${name}${password === '' ? '' : `:${encodeURIComponent(password)}`}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
  const open = (database: string): Promise<MysqlSession> =>
    openSession({ url: parseMysqlUrl(url(database)) }).catch((cause) => {
      const { exitCode, signalCode } = running.child;
      if (exitCode === null && signalCode === null) throw cause;
      throw new Error(`${flavour} ended with ${exitCode ?? signalCode}:\n${log}`, { cause });
    });
  const untilReady = () => eventually(() => answers(running.child, open), { deadline: 60_000 });
  try {
    await untilReady();
  } catch (cause) {
    await stop();
    throw new Error(`${flavour} did not start:\n${log}`, { cause });
  }
  const login = ['--no-defaults', '--host=127.0.0.1', `--port=${port}`, '--user=root'];
  const server: TestMysql = {
    flavour,
    port,
    directory,
    url,
    async sql<Row>(database: string, ...statements: string[]) {
      await using session = await open(database);
      let rows: Row[] = [];
      for (const statement of statements) rows = await session.query<Row>(statement);
      return rows;
    },
    async file(database, path) {
      await server.script(database, await readFile(path));
    },
    async script(database, script) {
      await run(programs.client('client', [...login, '--default-character-set=utf8mb4', database]), { input: script });
    },
    async createDatabase(name) {
      await server.sql('', `CREATE DATABASE \`${name}\` CHARACTER SET utf8mb4`);
    },
    async databases() {
      const rows = await server.sql<{ name: string }>(
        '',
        'SELECT SCHEMA_NAME AS name FROM information_schema.SCHEMATA ORDER BY 1',
      );
      return rows.map(({ name }) => name).filter((name) => !SYSTEM.has(name));
    },
    async dump(database) {
      return (await run(programs.client('dump', [...login, ...DUMP_FLAGS, database]))).toString('utf8');
    },
    plainDump: (database) => run(programs.client('dump', [...login, '--routines', '--triggers', '--events', database])),
    async dumpOfAll(database) {
      const flags = ['--single-transaction', '--force', '--default-character-set=utf8mb4'];
      const words = programs.client('dump', [...login, ...DUMP_FLAGS, ...flags, database]);
      // 2: it has said which views are not valid, and written them.
      return (await run(words, { allowed: [0, 2] })).toString('latin1');
    },
    async crash() {
      running.child.kill('SIGKILL');
      await running.ended;
      running = startServer();
      await untilReady();
    },
    stop,
  };
  return server;
}

async function answers(child: ChildProcess, open: (database: string) => Promise<MysqlSession>): Promise<boolean> {
  if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
  const session = await open('').catch(() => null);
  await session?.close();
  return session !== null;
}

async function mariadbPrograms(): Promise<Programs> {
  return {
    version: (await run(['/usr/sbin/mariadbd', '--version'])).toString(),
    initialize: (directory) => [
      'mariadb-install-db',
      '--no-defaults',
      `--datadir=${directory}/data`,
      `--tmpdir=${directory}`,
      '--auth-root-authentication-method=normal',
      '--skip-test-db',
    ],
    server: (directory, flags) => [
      '/usr/sbin/mariadbd',
      '--no-defaults',
      `--datadir=${directory}/data`,
      // One of its own: a server that starts removes what others keep in the same.
      `--tmpdir=${directory}`,
      `--socket=${directory}/socket`,
      `--pid-file=${directory}/pid`,
      ...flags,
    ],
    client: (name, flags) => [name === 'client' ? 'mariadb' : 'mariadb-dump', ...flags],
    flags: ['--innodb-flush-method=nosync'],
  };
}

/** The folder is mounted where the tree has an empty one; what is mounted goes with the process. */
async function mysqlPrograms(): Promise<Programs> {
  const { root } = await debianSid(SID_PACKAGES);
  const user = await unprivilegedUser('postgres');
  const inside = (directory: string, flags: string[]): string[] => [
    'unshare',
    '--mount',
    'sh',
    '-ec',
    'mount --bind "$1" "$2/mnt"; mount -t proc proc "$2/proc"; mount --bind /dev "$2/dev"; root=$2 user=$3; shift 3; exec chroot --userspec="$user" "$root" "$@"',
    'mysqld',
    directory,
    root,
    `${user?.uid}:${user?.gid}`,
    '/usr/sbin/mysqld',
    '--no-defaults',
    '--datadir=/mnt/data',
    '--tmpdir=/mnt',
    ...flags,
  ];
  return {
    version: root,
    initialize: (directory, flags) => inside(directory, ['--initialize-insecure', '--secure-file-priv=NULL', ...flags]),
    server: (directory, flags) => inside(directory, ['--socket=/mnt/socket', '--pid-file=/mnt/pid', ...flags]),
    client: (name, flags) => [
      'chroot',
      root,
      name === 'client' ? 'mysql' : 'mysqldump',
      ...flags.flatMap((flag) =>
        flag === '--no-defaults' && name === 'dump' ? [flag, '--set-gtid-purged=OFF'] : [flag],
      ),
    ],
    flags: ['--mysqlx=OFF', '--secure-file-priv=NULL'],
  };
}

/** Of every server, in the cache folder: making the first files takes ten times as long as copying them. */
const KEPT = join(testCache(), 'initialized-');

async function copyInitialized(
  directory: string,
  { key, initialize }: { key: string[]; initialize: (directory: string) => Promise<unknown> },
): Promise<void> {
  const kept = `${KEPT}${createHash('sha256').update(JSON.stringify(key)).digest('hex').slice(0, 12)}`;
  if (!existsSync(kept)) {
    await initialize(directory);
    // A server's own name for itself.
    await rm(join(directory, 'data', 'auto.cnf'), { force: true });
    await mkdir(dirname(kept), { recursive: true });
    const fresh = await mkdtemp(`${kept}.`);
    await run(['cp', '--archive', '--sparse=always', join(directory, 'data'), fresh]);
    await rename(fresh, kept).catch(() => rm(fresh, { recursive: true }));
    return;
  }
  await run(['cp', '--archive', '--reflink=auto', join(kept, 'data'), directory]);
}

interface Running {
  input?: Uint8Array;
  /** Exit codes that are no failure. */
  allowed?: number[];
}

async function run([file = '', ...args]: string[], { input, allowed = [0] }: Running = {}): Promise<Buffer> {
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  // It may have ended before it has read everything.
  child.stdin.on('error', () => {}).end(input);
  const ended = new Promise<number | null>((resolve, reject) => child.once('close', resolve).once('error', reject));
  const [stdout, stderr, exitCode] = await Promise.all([buffer(child.stdout), buffer(child.stderr), ended]);
  if (exitCode === null || !allowed.includes(exitCode))
    throw new Error(`${file} ended with ${exitCode}: ${stderr.toString('utf8').slice(-3000)}`);
  return stdout;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
