import { createHash, randomBytes } from 'node:crypto';
import { redact } from '../../../process/redact.ts';
import { UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { RestoreRequest, RestorerRequest, RestoringUser } from '../../facets/restore.ts';
import { reportSwept } from '../../shared/swap-incomplete.ts';
import type { Helper } from '../catalog/definitions/code.ts';
import { type Flavour, readServer } from '../catalog/introspect.ts';
import { readGrants, readRights } from '../catalog/rights/rights.ts';
import { connect, connectToServer } from '../connection/connect.ts';
import { quoteAccount, quoteText } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { SqlError } from '../connection/session-errors.ts';
import { withDatabase, withUser } from '../connection/url.ts';
import { destinationName, readAuxiliaryNames } from '../server/server.ts';

/**
 * A user with rights on one shadow database and nothing else, who restores the content of a snapshot: no file, no other
 * database, no event until all else is verified.
 */
export interface TemporaryUser extends AsyncDisposable {
  url: DatabaseUrl;
  helper: Helper;
  permitEvents(): Promise<void>;
}

const RIGHTS = [
  ...['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'CREATE', 'DROP', 'REFERENCES', 'INDEX', 'ALTER', 'LOCK TABLES'],
  ...['CREATE TEMPORARY TABLES', 'CREATE VIEW', 'SHOW VIEW', 'CREATE ROUTINE', 'ALTER ROUTINE', 'EXECUTE', 'TRIGGER'],
];
/** The history of a table keeps old values, which the sanitization removes. */
const RIGHTS_OF_FLAVOUR: Record<Flavour, string[]> = { mariadb: ['DELETE HISTORY'], mysql: [] };
const EVENT = 'EVENT';

/** Chooses the user that restores the content, by the rights of the loading user. */
export async function chooseRestorer(
  context: EngineContext,
  { url, allowSuperuser, remoteTables, builtHere, neverInPlace }: RestorerRequest,
): Promise<RestoringUser> {
  const loading = (reason: string): RestoringUser => ({ user: 'loading', name: url.user ?? '', reason });
  if (allowSuperuser) return loading('--allow-superuser was given');
  if (remoteTables && builtHere)
    return loading('--remote-tables was given, and the snapshot was built on this machine');
  await using server = await connectToServer(context, url);
  const shadow = (await readAuxiliaryNames(server, url.database ?? '')).shadow();
  const rights = await readRights(server);
  if (!rights.onServer('CREATE USER') || !rights.onTable('mysql', 'user', 'SELECT'))
    return loading('the user may not create users');
  const may = (right: string): boolean => rights.onDatabase(shadow, right);
  if (![...RIGHTS, EVENT].every(may) || !(await mayGrant(server)))
    return loading('the user may not grant rights on the shadow database');
  // Queries of a sanitization run as the same user.
  if (neverInPlace && (await refusesFunctions(server)))
    return loading('the server lets only a superuser create functions (log_bin_trust_function_creators is off)');
  return { user: 'temporary', superuser: true };
}

async function refusesFunctions(server: MysqlSession): Promise<boolean> {
  const [row] = await server.query<{ refuses: number }>(
    'SELECT @@log_bin = 1 AND @@log_bin_trust_function_creators = 0 AS refuses',
  );
  return Number(row?.refuses) === 1;
}

async function mayGrant(server: MysqlSession): Promise<boolean> {
  return (await readGrants(server)).some((line) => line.includes(' ON *.* TO ') && line.endsWith(' WITH GRANT OPTION'));
}

/** Creates the user under the destination's lock; disposing drops it. */
export async function createTemporaryUser(
  context: EngineContext,
  server: MysqlSession,
  { url, builtHere = false, shadow }: Pick<RestoreRequest, 'url' | 'builtHere'> & { shadow: string },
): Promise<TemporaryUser> {
  const prefix = prefixOf(await destinationName(server, url.database ?? ''));
  await sweepUsers(context, server, prefix);
  const [self] = await server.query<{ host: string }>("SELECT SUBSTRING_INDEX(CURRENT_USER(), '@', -1) AS host");
  const name = `${prefix}${randomBytes(4).toString('hex')}`;
  const account = quoteAccount(name, self?.host ?? '%');
  const rights = await readRights(server);
  // With all kinds of characters that a policy may require.
  const password = `${randomBytes(21).toString('base64url')}-aA1`;
  const grant = (some: string[]): string => `GRANT ${some.join(', ')} ON ${rights.inGrant(shadow)}.* TO ${account}`;
  const drop = (): Promise<void> => dropAfterwards(context, { server, url, account });
  await server.execute(`CREATE USER ${account} IDENTIFIED BY ${quoteText(password)}`).catch((error) => {
    throw error instanceof SqlError ? refused(url, [redact(error.message)], error) : error;
  });
  try {
    const { flavour } = await readServer(server);
    await server.execute(grant([...RIGHTS, ...RIGHTS_OF_FLAVOUR[flavour]]));
    const shadowUrl = withDatabase(url, shadow);
    const restoring = withUser(shadowUrl, { user: name, password });
    await verifyLogin(context, url, restoring);
    let session: Promise<MysqlSession> | undefined;
    const open = (): Promise<MysqlSession> => {
      session ??= connect(context, shadowUrl);
      return session;
    };
    return {
      url: restoring,
      helper: { open, account, views: builtHere },
      async permitEvents() {
        await server.execute(grant([EVENT]));
      },
      async [Symbol.asyncDispose]() {
        await session?.then((opened) => opened.close()).catch(() => {});
        await drop();
      },
    };
  } catch (error) {
    await drop();
    throw error;
  }
}

/** Names of users have at most 32 characters. */
function prefixOf(destination: string): string {
  return `tool-load-${createHash('sha256').update(destination).digest('hex').slice(0, 8)}-`;
}

/** Drops the users of killed loads into the destination: of such a name, without rights on the server. */
async function sweepUsers({ report }: EngineContext, server: MysqlSession, prefix: string): Promise<void> {
  const rows = await server.query<{ name: string; host: string }>(`
    SELECT User AS name, Host AS host FROM mysql.user u WHERE User REGEXP ${quoteText(`^${prefix}[0-9a-f]{8}$`)}
      AND NOT EXISTS (SELECT 1 FROM information_schema.USER_PRIVILEGES p
        WHERE p.GRANTEE = CONCAT(QUOTE(u.User), '@', QUOTE(u.Host)) AND p.PRIVILEGE_TYPE <> 'USAGE')`);
  const swept: string[] = [];
  for (const { name, host } of rows) {
    await server.execute(`DROP USER IF EXISTS ${quoteAccount(name, host)}`);
    swept.push(name);
  }
  reportSwept(report, swept);
}

async function verifyLogin(context: EngineContext, url: DatabaseUrl, restoring: DatabaseUrl): Promise<void> {
  const session = await connect(context, restoring).catch((error) => {
    throw error instanceof UserError ? refused(url, error.details, error) : error;
  });
  await session.close();
}

function refused(url: DatabaseUrl, details: string[], cause: Error): UserError {
  return new UserError(
    'temporary_user_refused',
    `The temporary user of the load cannot be created on the server of ${url.display}, or cannot connect`,
    {
      details,
      hint: 'The destination is unchanged. Restore with the rights of the loading user: --allow-superuser.',
      cause,
    },
  );
}

interface DropOptions {
  server: MysqlSession;
  url: DatabaseUrl;
  account: string;
}

const CLEAN_UP_TIMEOUT = 20_000;

/** With a session of its own where that of the run is gone. */
async function dropAfterwards({ report }: EngineContext, { server, url, account }: DropOptions): Promise<void> {
  const statement = `DROP USER IF EXISTS ${account}`;
  try {
    await server.execute(statement).catch(async () => {
      await using other = await connectToServer({ signal: AbortSignal.timeout(CLEAN_UP_TIMEOUT) }, url);
      await other.execute(statement);
    });
  } catch {
    const message = `Could not drop the user ${account}; the next load into ${url.display} does`;
    report({ event: 'warning', code: 'leftover', message });
  }
}
