import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** With the server programs of both engines that this machine has, and little else. */
export const SERVERS_IMAGE = 'servers:test';

const POSTGRES = '/usr/lib/postgresql/15';
const PROGRAMS = [
  ...['initdb', 'postgres', 'psql', 'pg_dump', 'pg_restore', 'pg_isready'].map((name) => `${POSTGRES}/bin/${name}`),
  ...['/usr/sbin/mariadbd', '/usr/bin/mariadb', '/usr/bin/my_print_defaults', '/usr/bin/resolveip'],
  ...['sh', 'mktemp', 'id', 'cat', 'rm', 'mkdir', 'chmod', 'chown', 'ls', 'sed', 'grep', 'touch'].map(
    (name) => `/bin/${name}`,
  ),
  ...['dirname', 'basename', 'awk', 'env', 'tr', 'hostname'].map((name) => `/usr/bin/${name}`),
];
const FILES = [
  ...['plpgsql.so', 'dict_snowball.so'].map((name) => `${POSTGRES}/lib/${name}`),
  ...['/usr/share/postgresql/15', '/usr/share/mysql', '/usr/share/zoneinfo', '/usr/bin/mariadb-install-db'],
  ...['/etc/passwd', '/etc/group'],
];

/** Imports it into the daemon, in a few seconds: programs, the libraries that they need, and their files. */
export async function importServersImage(environment: NodeJS.ProcessEnv): Promise<void> {
  const { stdout } = await run('ldd', PROGRAMS, { maxBuffer: 1e7 });
  const libraries = [...stdout.matchAll(/(\/\S+\.so\S*) \(0x/g)].map(([, path]) => String(path));
  const paths = [...new Set([...PROGRAMS, ...FILES, ...libraries])].map((path) => `'.${path}'`).join(' ');
  const temporary = `mkdir -p "$T/tmp" && chmod 1777 "$T/tmp"`;
  await run(
    'sh',
    [
      '-ec',
      `T=$(mktemp -d); ${temporary}; { tar -C / --dereference --hard-dereference -c ${paths} -C "$T" ./tmp; } | docker import - ${SERVERS_IMAGE}; rm -r "$T"`,
    ],
    { env: environment },
  );
}
