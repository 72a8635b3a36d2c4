import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { groupsOf } from '../../shared/groups.ts';
import { connect, connectToServer, tryToConnect } from '../connection/connect.ts';
import { failureOf } from '../connection/failure.ts';
import { quoteName, quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import { ConnectionLost, SqlError } from '../connection/session-errors.ts';
import { anyClientTools } from '../connection/tools.ts';
import { withDatabase, withUser } from '../connection/url.ts';
import type { ArchiveDetails } from '../dump/archive.ts';
import { auxiliaryNames } from '../server/server.ts';
import { newRoleName, roleMark } from '../swap/mark.ts';
import { OWNABLE } from '../swap/ownable.ts';
import { openMeanwhile } from '../swap/swap-session.ts';
import { createExtensions } from './create-extensions.ts';
import { disableEventTriggers, withoutEventTriggers } from './event-triggers.ts';

/**
 * A login without rights outside one shadow database, which restores the content of a snapshot: a function of the
 * snapshot could reset a role that is merely set.
 */
export interface TemporaryRole extends AsyncDisposable {
  url: DatabaseUrl;
  /** Gives all that the role owns to its later owner, in a session of the loading role, and drops the role. */
  settle(session: PostgresSession): Promise<void>;
}

interface RoleCreation {
  url: DatabaseUrl;
  /** The shadow database, which belongs to the loading role. */
  shadow: string;
  superuser: boolean;
  extensions: ArchiveDetails['extensions'];
  remoteTables: boolean;
  /** The shadow database is a copy of the base copy, with all of its objects. */
  copied: boolean;
}

/** Creates the role, and what only a superuser may create before it; disposing drops the role of a database that is gone. */
export async function createTemporaryRole(
  context: EngineContext,
  server: PostgresSession,
  creation: RoleCreation,
): Promise<TemporaryRole> {
  const { url, shadow, superuser } = creation;
  const name = newRoleName();
  const role = quoteName(name);
  const password = newPassword();
  let left = true;
  const drop = async (): Promise<void> => {
    if (left) await dropAfterwards(context, url, name);
    left = false;
  };
  const shadowUrl = withDatabase(url, shadow);
  // Opens while the role is created.
  await using preparing = openMeanwhile(connect(context, shadowUrl, { settings: PREPARING }));
  await server.transaction([
    // The rows of a database that is sanitized must not be hidden from its query.
    `CREATE ROLE ${role} LOGIN ${superuser ? 'BYPASSRLS ' : ''}PASSWORD ${quoteText(scramVerifier(password))}`,
    `COMMENT ON ROLE ${role} IS ${quoteText(roleMark(url.database ?? ''))}`,
    `GRANT CONNECT, CREATE, TEMPORARY ON DATABASE ${quoteName(shadow)} TO ${role}`,
    ...(superuser ? [] : [`GRANT ${role} TO CURRENT_USER`]),
  ]);
  try {
    const owners = await prepare(await preparing.session, { ...creation, role: name });
    return {
      url: withUser(shadowUrl, { user: name, password }),
      async settle(session) {
        await giveBack(session, { name, owners, superuser });
        await session.execute(`DROP ROLE ${role}`);
        left = false;
      },
      [Symbol.asyncDispose]: drop,
    };
  } catch (error) {
    await drop();
    throw error;
  }
}

function newPassword(): string {
  return randomBytes(24).toString('base64url');
}

const PREPARING = { statement_timeout: '0', lock_timeout: '0', synchronous_commit: 'off' };

interface Owners {
  /** Owner of the schema `public` before the role received it. */
  publicSchema: string | null;
  /** Owner of all objects in a copy. */
  copy: string | null;
}

async function prepare(
  session: PostgresSession,
  { role, superuser, extensions, remoteTables, copied }: Omit<RoleCreation, 'url' | 'shadow'> & { role: string },
): Promise<Owners> {
  // A copy has event triggers, whose functions would run with the rights of the loading role.
  if (copied) {
    return await withoutEventTriggers(session, async () => ({
      publicSchema: await takePublicSchema(session, role),
      copy: await takeCopy(session, role),
    }));
  }
  const publicSchema = await takePublicSchema(session, role);
  if (superuser) await createExtensions(session, { role, extensions });
  if (superuser && remoteTables) {
    const wrappers = await session.query<{ name: string }>('SELECT fdwname AS name FROM pg_foreign_data_wrapper');
    for (const { name } of wrappers)
      await session.execute(`GRANT USAGE ON FOREIGN DATA WRAPPER ${quoteName(name)} TO ${quoteName(role)}`);
  }
  return { publicSchema, copy: null };
}

/** Resolves with its former owner; `null` where the loading role may not give it away. */
async function takePublicSchema(session: PostgresSession, role: string): Promise<string | null> {
  const [found] = await session.query<{ owner: string }>(
    `SELECT pg_get_userbyid(nspowner) AS owner FROM pg_namespace WHERE nspname = 'public' AND pg_has_role(nspowner, 'USAGE')`,
  );
  if (!found) return null;
  await session.execute(`ALTER SCHEMA public OWNER TO ${quoteName(role)}`);
  return found.owner;
}

/** Makes the role the owner of all that belongs to the owner of the copy's objects, and resolves with that. */
async function takeCopy(session: PostgresSession, role: string): Promise<string | null> {
  const [found] = await session.query<{ owner: string }>(`
    SELECT pg_get_userbyid(o.owner) AS owner FROM (${OWNABLE}) o
    WHERE NOT o.of_extension AND NOT o.follows_table AND o.identity <> 'public' AND o.alter <> 'EVENT TRIGGER'
    GROUP BY o.owner ORDER BY count(*) DESC LIMIT 1`);
  if (!found) return null;
  await transfer(session, { from: found.owner, to: role });
  return found.owner;
}

/** Objects in one transaction, each of which takes a lock. */
const BATCH = 100;

async function transfer(session: PostgresSession, { from, to }: { from: string; to: string }): Promise<void> {
  const rows = await session.query<{ statement: string }>(`
    SELECT format('ALTER %s %s OWNER TO %I', o.alter, o.identity, ${quoteText(to)}) AS statement FROM (${OWNABLE}) o
    WHERE o.owner = (SELECT oid FROM pg_roles WHERE rolname = ${quoteText(from)})
      AND NOT o.of_extension AND NOT o.follows_table AND o.identity <> 'public' AND o.alter <> 'EVENT TRIGGER'
    ORDER BY o.rank, o.objid`);
  const statements = rows.map(({ statement }) => statement);
  for (const some of groupsOf(statements, BATCH)) await session.transaction(some);
}

interface GiveBackOptions {
  name: string;
  owners: Owners;
  superuser: boolean;
}

/** out_of_memory: one transaction cannot lock so many tables. */
const TOO_MANY_LOCKS = '53200';

async function giveBack(session: PostgresSession, { name, owners, superuser }: GiveBackOptions): Promise<void> {
  const role = quoteName(name);
  const enabling = await disableEventTriggers(session);
  if (owners.publicSchema !== null)
    await session.execute(`ALTER SCHEMA public OWNER TO ${quoteName(owners.publicSchema)}`);
  const [self] = await session.query<{ name: string }>('SELECT current_user AS name');
  const owner = owners.copy ?? self?.name ?? '';
  const reassign = `REASSIGN OWNED BY ${role} TO ${quoteName(owner)}`;
  await session.execute(reassign).catch(async (error) => {
    if (!(error instanceof SqlError && error.sqlstate === TOO_MANY_LOCKS)) throw error;
    await transfer(session, { from: name, to: owner });
    await session.execute(reassign);
  });
  if (superuser) {
    const oid = (of: string): string => `(SELECT oid FROM pg_roles WHERE rolname = ${quoteText(of)})`;
    await session.execute(`UPDATE pg_extension SET extowner = ${oid(self?.name ?? '')} WHERE extowner = ${oid(name)}`);
  }
  await session.execute(`DROP OWNED BY ${role}`);
  for (const statement of enabling) await session.execute(statement);
}

const CLEAN_UP_TIMEOUT = 20_000;

async function dropAfterwards(context: EngineContext, url: DatabaseUrl, name: string): Promise<void> {
  const clean: EngineContext = { ...context, signal: AbortSignal.timeout(CLEAN_UP_TIMEOUT) };
  try {
    await using server = await connectToServer(clean, url);
    await server.execute(`DROP ROLE IF EXISTS ${quoteName(name)}`);
  } catch {
    const message = `Could not drop the role ${name}; the next load into ${url.display} does`;
    context.report({ event: 'warning', code: 'leftover', message });
  }
}

/** Failures of a login with a name and a password that the server does not know, where passwords are what it asks for. */
const ASKS_FOR_PASSWORD = new Set(['wrong_password', 'user_unknown']);

/** Reports whether a new role could log in like the loading role, by a login with an unused name. */
export async function admitsNewRoles(context: EngineContext, url: DatabaseUrl): Promise<boolean> {
  // A service file may have a password, which comes before ours.
  if (url.parameters.service !== undefined) return false;
  const place = withDatabase(url, auxiliaryNames(url.database ?? '').shadow());
  const unknown = withUser(place, { user: newRoleName(), password: newPassword() });
  const session = await tryToConnect(context, unknown, { tools: await anyClientTools(context) });
  if (session instanceof ConnectionLost) return ASKS_FOR_PASSWORD.has(failureOf(session, url) ?? '');
  await session.close();
  return false;
}

const ITERATIONS = 4096;

/**
 * A password as the server stores it: the password itself is in no statement, and so in no log of the server.
 * https://www.rfc-editor.org/rfc/rfc5802#section-3
 */
function scramVerifier(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
  const [clientKey, serverKey] = ['Client Key', 'Server Key'].map((text) =>
    createHmac('sha256', salted).update(text).digest(),
  );
  const storedKey = createHash('sha256')
    .update(clientKey ?? '')
    .digest('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${serverKey?.toString('base64')}`;
}
