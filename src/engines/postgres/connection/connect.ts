import { redact } from '../../../process/redact.ts';
import { type ConnectionFailure, statusOfFailure } from '../../../results/connection-failures.ts';
import { EXIT, UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl, EngineContext } from '../../engine.ts';
import { anyClientTools, type ClientTools } from '../tools.ts';
import { failureIn } from './failure.ts';
import { ConnectionLost, openSession, type PsqlSession, type PsqlSessionOptions, quoteText } from './session.ts';
import { connectionOf, withDatabase } from './url.ts';

/** Databases that are always there to be connected to while another one is made, renamed or dropped. */
export const MAINTENANCE_DATABASES = ['postgres', 'template1'];

/** How `pg_isready` says that a server answers. https://www.postgresql.org/docs/current/app-pg-isready.html */
const READY = 0;

interface ConnectOptions extends Pick<PsqlSessionOptions, 'settings'> {
  tools?: ClientTools;
}

/** A session on the database of the URL; an error of exit 4 says whether server, database or credentials are at fault. */
export async function connect(
  context: EngineContext,
  url: DatabaseUrl,
  options: ConnectOptions = {},
): Promise<PsqlSession> {
  const tools = options.tools ?? (await anyClientTools(context));
  const { runner, report, signal } = context;
  try {
    return await openSession({ runner, report, signal, psql: tools.psql, url, settings: options.settings ?? {} });
  } catch (thrown) {
    if (!(thrown instanceof ConnectionLost)) throw thrown;
    throw await explain(context, { url, tools, words: thrown.message });
  }
}

/** A session on a database of the server that is not the one of the URL. */
export async function connectToServer(
  context: EngineContext,
  url: DatabaseUrl,
  options: ConnectOptions = {},
): Promise<PsqlSession> {
  const tools = options.tools ?? (await anyClientTools(context));
  const candidates = MAINTENANCE_DATABASES.filter((database) => database !== url.database);
  let failure: unknown;
  for (const database of candidates) {
    try {
      const { runner, report, signal } = context;
      const elsewhere = withDatabase(url, database);
      return await openSession({
        runner,
        report,
        signal,
        psql: tools.psql,
        url: elsewhere,
        settings: options.settings ?? {},
      });
    } catch (thrown) {
      if (!(thrown instanceof ConnectionLost)) throw thrown;
      failure ??= thrown;
    }
  }
  throw await explain(context, { url, tools, words: failure instanceof Error ? failure.message : String(failure) });
}

interface FailedConnection {
  url: DatabaseUrl;
  tools: ClientTools;
  /** psql's. */
  words: string;
}

/** The error of a connection that could not be made. */
async function explain(context: EngineContext, failed: FailedConnection): Promise<UserError> {
  const { url, words } = failed;
  const failure = await findFailure(context, failed);
  const { code, message, hint } = ERRORS[failure] ?? ERRORS[statusOfFailure(failure)] ?? UNREACHABLE;
  const details = linesOf(words);
  return new UserError(message(url), { code, exit: EXIT.unreachable, details, hint });
}

/** psql's words without empty lines and secrets. */
export function linesOf(words: string): string[] {
  return redact(words)
    .split('\n')
    .filter((line) => line.trim() !== '');
}

interface ConnectionError {
  code: string;
  message: (url: DatabaseUrl) => string;
  hint: string;
}

const UNREACHABLE: ConnectionError = {
  code: 'unreachable',
  message: ({ display }) => `Cannot reach the server of ${display}`,
  hint: 'Is the server running, and host and port right? Is a VPN needed? Then: tool targets',
};

/** By failure, else by the status that the failure gives. */
const ERRORS: Record<string, ConnectionError> = {
  unreachable: UNREACHABLE,
  missing: {
    code: 'database_missing',
    message: ({ database, display }) => `The database "${database}" does not exist on the server of ${display}`,
    hint: 'Check the name at the end of the URL; psql --list shows the databases of the server.',
  },
  denied: {
    code: 'denied',
    message: ({ display }) => `The server refuses the connection to ${display}`,
    hint: 'Check user and password of the URL, and whether the server lets this machine in (pg_hba.conf).',
  },
  too_many_connections: {
    code: 'too_many_connections',
    message: ({ display }) => `The server of ${display} has no free connection slots`,
    hint: 'Close connections, or raise max_connections of the server. Then try again.',
  },
};

/** Why a connection could not be made: by psql's words, else by asking what still works. */
export async function findFailure(
  context: EngineContext,
  { url, tools, words }: FailedConnection,
): Promise<ConnectionFailure> {
  const known = failureIn(words, url);
  if (known) return known;
  const connection = connectionOf(url);
  const ready = await context.runner.run(
    { file: tools.pg_isready, ...connection, args: ['--quiet', '--timeout=3', ...connection.args] },
    { signal: context.signal },
  );
  if (ready.exitCode !== READY) return 'unreachable';
  return (await isMissing(context, url, tools)) ? 'database_missing' : 'denied';
}

async function isMissing(context: EngineContext, url: DatabaseUrl, tools: ClientTools): Promise<boolean> {
  if (url.database === null) return false;
  const { runner, report, signal } = context;
  for (const database of MAINTENANCE_DATABASES) {
    const session = await openSession({
      runner,
      report,
      signal,
      psql: tools.psql,
      url: withDatabase(url, database),
    }).catch(() => null);
    if (!session) continue;
    await using open = session;
    const rows = await open.query(`SELECT FROM pg_database WHERE datname = ${quoteText(url.database)}`);
    return rows.length === 0;
  }
  return false;
}
