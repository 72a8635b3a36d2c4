import { redact } from '../../../process/redact.ts';
import type { ConnectionFailure } from '../../../results/configuration/connection-failures.ts';
import type { UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { connectionFailed } from '../../shared/connection/connection-failed.ts';
import { failureOf } from './failure.ts';
import { quoteText } from './quote.ts';
import { openSession, type PostgresSession, type SessionOptions } from './session.ts';
import { ConnectionLost } from './session-errors.ts';
import { anyClientTools, type ClientTools } from './tools.ts';
import { connectionEnvironment, withDatabase } from './url.ts';

/** Databases of every server, for sessions that create, rename or drop another one. */
export const MAINTENANCE_DATABASES = ['postgres', 'template1'];

interface ConnectOptions extends Pick<SessionOptions, 'settings' | 'mounts' | 'tablesOnly'> {
  tools?: ClientTools;
}

/** An error of exit 4 tells whether server, database or credentials are at fault. */
export async function connect(context: EngineContext, url: DatabaseUrl, options: ConnectOptions = {}) {
  const tools = options.tools ?? anyClientTools(context);
  const session = await tryToConnect(context, url, { ...options, tools });
  if (!(session instanceof ConnectionLost)) return session;
  throw await explainConnection(context, { url, tools: await tools, cause: session });
}

export async function connectToServer(context: EngineContext, url: DatabaseUrl, options: ConnectOptions = {}) {
  const tools = options.tools ?? anyClientTools(context);
  let cause: ConnectionLost | null = null;
  for (const database of MAINTENANCE_DATABASES.filter((name) => name !== url.database)) {
    const session = await tryToConnect(context, withDatabase(url, database), { ...options, tools });
    if (!(session instanceof ConnectionLost)) return session;
    cause ??= session;
  }
  throw await explainConnection(context, { url, tools: await tools, cause: cause ?? new ConnectionLost() });
}

export async function tryToConnect(
  context: EngineContext,
  url: DatabaseUrl,
  { tools, ...options }: Omit<ConnectOptions, 'tools'> & { tools: ClientTools | Promise<ClientTools> },
): Promise<PostgresSession | ConnectionLost> {
  const psql = Promise.resolve(tools).then((found) => found.psql);
  return await openSession(context, { ...options, psql, url }).catch((error) =>
    error instanceof ConnectionLost ? error : Promise.reject(error),
  );
}

interface RefusedConnection {
  url: DatabaseUrl;
  tools: ClientTools;
  cause: ConnectionLost;
}

async function explainConnection(context: EngineContext, refused: RefusedConnection): Promise<UserError> {
  const { url, cause } = refused;
  const failure = await findFailure(context, refused);
  return connectionFailed(url, { failure, details: linesOf(cause), hints: HINTS, cause });
}

const HINTS = {
  database_missing: 'Check the name at the end of the URL; psql --list shows the databases of the server.',
  denied: 'Check user and password of the URL, and whether the server lets this machine in (pg_hba.conf).',
  too_many_connections: 'Close connections, or raise max_connections of the server. Then try again.',
};

/**
 * Exit code of `pg_isready` for a server that accepts connections.
 * https://www.postgresql.org/docs/current/app-pg-isready.html
 */
const READY = 0;

export async function findFailure(
  context: EngineContext,
  { url, tools, cause }: RefusedConnection,
): Promise<ConnectionFailure> {
  const known = failureOf(cause, url);
  if (known) return known;
  const connection = connectionEnvironment(url);
  const ready = await context.runner.run(
    { file: tools.pg_isready, ...connection, args: ['--quiet', '--timeout=3', ...connection.args] },
    { signal: context.signal },
  );
  if (ready.exitCode !== READY) return 'unreachable';
  return (await isMissing(context, url, tools)) ? 'database_missing' : 'denied';
}

async function isMissing(context: EngineContext, url: DatabaseUrl, tools: ClientTools): Promise<boolean> {
  if (url.database === null) return false;
  for (const database of MAINTENANCE_DATABASES) {
    const session = await tryToConnect(context, withDatabase(url, database), { tools });
    if (session instanceof ConnectionLost) continue;
    await using open = session;
    const rows = await open.query(`SELECT FROM pg_database WHERE datname = ${quoteText(url.database)}`);
    return rows.length === 0;
  }
  return false;
}

export function linesOf({ message }: Error): string[] {
  return redact(message.replaceAll(/^psql: error: /gm, ''))
    .split('\n')
    .filter((line) => line.trim() !== '');
}
