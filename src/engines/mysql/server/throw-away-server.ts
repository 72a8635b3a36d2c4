import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ServerHome } from '../../shared/server/server-home.ts';
import { serverNotStarted, startServer } from '../../shared/server/start-server.ts';
import { runSupervised } from '../../shared/server/supervised-server.ts';
import type { Flavour } from '../catalog/introspect.ts';
import { quoteName, quoteText } from '../connection/quote.ts';
import { parseMysqlUrl } from '../connection/url.ts';
import type { ServerPrograms } from './server-programs.ts';
import { createServerProof } from './server-proof.ts';

export interface ThrowAwayServer extends AsyncDisposable {
  directory: string;
  url(database: string): DatabaseUrl;
}

/** Nothing waits for the disk: the data are temporary. */
const SETTINGS = [
  '--bind-address=127.0.0.1',
  '--skip-name-resolve',
  '--skip-log-bin',
  '--local-infile=ON',
  '--event-scheduler=OFF',
  '--performance-schema=OFF',
  '--innodb-flush-log-at-trx-commit=0',
  '--innodb-buffer-pool-size=128M',
  '--max-allowed-packet=1G',
];

const OWN_SETTINGS: Record<Flavour, string[]> = {
  // Without links, DATA DIRECTORY names no other folder.
  mariadb: ['--loose-innodb-flush-method=nosync', '--skip-symbolic-links'],
  // The default folder exists in packaged installations only.
  mysql: ['--secure-file-priv=NULL', '--mysqlx=OFF'],
};

export function temporarySettings(flavour: Flavour): string[] {
  return [...SETTINGS, ...OWN_SETTINGS[flavour]];
}

/** Prefix of the databases that the account may access. */
export const SCRATCH = 'sanitize';
const EVERYTHING = "GRANT ALL ON *.* TO tool@'%' WITH GRANT OPTION";
const OWN_DATABASES = `GRANT ALL ON ${quoteName(`${SCRATCH}%`)}.* TO tool@'%'`;

const PRODUCT = 'MySQL or MariaDB';
/** No clean shutdown: the files are removed. */
const AT_ONCE = 'KILL';

export interface ThrowAwayOptions {
  /** Includes reading and writing files of this machine. */
  superuser?: boolean;
}

/**
 * A server on a free port of this machine. It runs code of a snapshot: by default the account has rights on its own
 * databases only, none on files, settings or accounts.
 */
export async function startThrowAwayServer(
  context: EngineContext,
  programs: ServerPrograms,
  { superuser = false }: ThrowAwayOptions = {},
): Promise<ThrowAwayServer> {
  const password = randomBytes(16).toString('hex');
  const proof = createServerProof();
  const urlOn = (port: number, database: string): DatabaseUrl =>
    parseMysqlUrl(`mysql://tool:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`);
  const { port, directory, stop } = await startServer(context, {
    engine: 'mysql',
    product: PRODUCT,
    deadlineMs: 60_000,
    lastSignal: AT_ONCE,
    async prepare(home, port) {
      await initialise(context, programs, home);
      const { directory } = home;
      // The only way in: root has a random password, and the socket is private.
      const account = `CREATE USER tool@'%' IDENTIFIED BY ${quoteText(password)}`;
      const statements = [account, superuser ? EVERYTHING : OWN_DATABASES, proof.statement];
      await home.write('users.sql', `${statements.join(';\n')};\n`);
      return [
        programs.server,
        '--no-defaults',
        ...placesIn(directory),
        `--init-file=${join(directory, 'users.sql')}`,
        `--socket=${join(directory, 'socket')}`,
        `--pid-file=${join(directory, 'pid')}`,
        `--port=${port}`,
        ...temporarySettings(programs.flavour),
      ];
    },
    isReady: (_, port) => proof.isGiven(urlOn(port, ''), context.signal).catch(() => false),
  });
  return { directory, url: (database) => urlOn(port, database), [Symbol.asyncDispose]: () => stop(AT_ONCE) };
}

/** Creates the first files of a server. Its users cannot log in. */
export async function initialise(
  context: EngineContext,
  { server, installer }: ServerPrograms,
  { directory, user }: ServerHome,
): Promise<void> {
  const options = ['--no-defaults', ...placesIn(directory)];
  const result = await runSupervised(context, {
    words: installer
      ? [installer, ...options, '--auth-root-authentication-method=socket', '--skip-test-db']
      : [server, ...options, '--initialize', '--secure-file-priv=NULL'],
    directory,
    user,
  });
  if (result.exitCode !== 0) throw serverNotStarted(PRODUCT, 'its first files could not be made', result);
}

/** The folder of the data within that of the server. */
export const DATA = 'data';

export function placesIn(directory: string): string[] {
  return [`--datadir=${join(directory, DATA)}`, `--tmpdir=${directory}`];
}
