import { chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { freePort } from '../../shared/server/free-port.ts';
import {
  findOwnServer,
  type OwnServerOptions,
  runOwnServer,
  type ServerKind,
  stopOwnServer,
} from '../../shared/server/own-server.ts';
import { type Flavour, LABELS } from '../catalog/introspect.ts';
import { ConnectionLost } from '../connection/session-errors.ts';
import { parseMysqlUrl, withDatabase } from '../connection/url.ts';
import type { ServerPrograms } from '../server/server-programs.ts';
import { createServerProof, type ServerProof } from '../server/server-proof.ts';
import { DATA, placesIn, temporarySettings } from '../server/throw-away-server.ts';
import { USER } from './accounts.ts';

export const PID_FILE = 'pid';

/** A clean shutdown has no use where the files are removed: the one that needs it waits for it. */
const KIND: ServerKind = {
  pidFile: PID_FILE,
  argumentOf: (directory) => `--datadir=${join(directory, DATA)}`,
  signals: ['SIGKILL'],
  lastSignal: 'KILL',
};

export function findServer(context: EngineContext, directory: string): Promise<number | null> {
  return findOwnServer(context, KIND, directory);
}

export function stopServer(context: EngineContext, directory: string): Promise<void> {
  return stopOwnServer(context, KIND, directory);
}

interface ServerOptions extends Pick<OwnServerOptions, 'home' | 'detached' | 'removes'> {
  programs: Pick<ServerPrograms, 'flavour' | 'server'>;
  /** Default: a free one. */
  port: number | null;
  settings: string[];
  database: string;
  password: string;
  /** Run before the server accepts connections; one of them makes the user with the password. */
  statements: string[];
}

const SETTINGS = [
  // No user of this machine comes in by a file.
  '--socket=',
  '--innodb-doublewrite=OFF',
  '--innodb-buffer-pool-load-at-startup=OFF',
  '--innodb-buffer-pool-dump-at-shutdown=OFF',
];
/** Each copy of an image has the log. Nothing in an image begins a replication, or sets a variable. */
const OWN_SETTINGS: Record<Flavour, string[]> = {
  mariadb: ['--innodb-log-file-size=16M', '--skip-slave-start'],
  // The option had another name before MySQL 8.0.26.
  mysql: [
    ...['--loose-innodb-redo-log-capacity=32M', '--persisted-globals-load=OFF'],
    ...['--loose-skip-replica-start', '--loose-skip-slave-start'],
  ],
};

/** A folder without files, for what may not come from an image. */
const NOTHING = 'nothing';
const STATEMENTS = 'statements.sql';

/** Starts a server on the data of a folder, and waits until it accepts connections. */
export async function runServer(context: EngineContext, options: ServerOptions) {
  const { programs, home, settings, database, password, statements } = options;
  const { directory, user } = home;
  const port = options.port ?? (await freePort());
  const nothing = join(directory, NOTHING);
  await mkdir(nothing, { mode: 0o700 });
  if (user) await chown(nothing, user.uid, user.gid);
  const proof = createServerProof();
  await home.write(STATEMENTS, [...statements, proof.statement].map((statement) => `${statement};\n`).join(''));
  const words: OwnServerOptions['words'] = [
    programs.server,
    '--no-defaults',
    ...placesIn(directory),
    `--pid-file=${join(directory, PID_FILE)}`,
    `--init-file=${join(directory, STATEMENTS)}`,
    `--port=${port}`,
    `--plugin-dir=${nothing}`,
    `--secure-file-priv=${nothing}`,
    ...SETTINGS,
    ...OWN_SETTINGS[programs.flavour],
    ...temporarySettings(programs.flavour),
    ...settings,
  ];
  const address = `127.0.0.1:${port}/${encodeURIComponent(database)}`;
  const url = parseMysqlUrl(`mysql://${USER}:${password}@${address}`);
  const { signal } = context;
  const server = await runOwnServer(context, KIND, {
    ...options,
    product: LABELS[programs.flavour],
    words,
    isReady: () => admitsUser(proof, withDatabase(url, null), signal),
  });
  await home.write(STATEMENTS, '');
  return { ...server, port, url };
}

/**
 * Rejects where the server refuses the user: it goes on after a statement that has failed, and the accounts may then be
 * others.
 */
async function admitsUser(proof: ServerProof, url: DatabaseUrl, signal: AbortSignal): Promise<boolean> {
  try {
    return await proof.isGiven(url, signal);
  } catch (error) {
    if (error instanceof ConnectionLost && error.errno === null) return false;
    throw error;
  }
}
