import { isDeepStrictEqual } from 'node:util';
import { UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { connect } from '../connection/connect.ts';
import { quoteName, quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import { withDatabase } from '../connection/url.ts';
import { withoutEventTriggers } from '../restore/event-triggers.ts';
import { alterSet } from './alter-set.ts';
import {
  attempt,
  JOINING_LISTS,
  lostGrantsQuery,
  type ObjectOwnership,
  readOwnership,
  runCarryOver,
  warnLostGrants,
  warnNotCarried,
} from './carry-over.ts';
import { openMeanwhile } from './swap-session.ts';

export interface Inheritance {
  /** The destination as it is, whose owner, grants, settings and limits its successor takes over. */
  from: string | null;
  to: string;
  /** Connects to the new database. */
  url: DatabaseUrl;
  /** The source's settings, for a destination that was not there. */
  settings: string[];
  /** Owner of the objects, and of a database that did not exist; default: the owner of the destination. */
  role?: string | undefined;
  /** The new database is a copy of a base copy. */
  copied?: boolean | undefined;
  /** Result of `readBefore` of the destination. Default: it is read now. */
  before?: Promise<Before> | undefined;
  /** Makes the loading role the owner of the new database's objects. */
  settle?: Settle | undefined;
}

/** In a session of the loading role on the new database. */
export type Settle = (session: PostgresSession) => Promise<void>;

/**
 * A destination keeps its own owner, settings and grants: they belong to the place, not to the snapshot. What the
 * server refuses is a warning: the rows are restored, and a role with more rights can do the rest.
 */
export async function inherit(context: EngineContext, server: PostgresSession, inheritance: Inheritance) {
  const { from, to, settings } = inheritance;
  const failures: string[] = [];
  const each = async (statements: string[]): Promise<void> => {
    const texts = await Promise.all(statements.map((statement) => attempt(server, statement)));
    failures.push(...texts.filter((text) => text !== null));
  };
  const old = from === null ? null : await readDatabase(server, from);
  if (from === null || !old) {
    failures.push(...(await giveTo(context, server, inheritance)));
    await each(settings.map((setting) => alterSet({ database: to, setting })));
    await each([`GRANT CONNECT, TEMPORARY ON DATABASE ${quoteName(to)} TO PUBLIC`]);
    return warnNotCarried(context, failures);
  }
  const name = quoteName(to);
  await each([`ALTER DATABASE ${name} OWNER TO ${quoteName(old.owner)}`]);
  const owner = inheritance.role ?? old.owner;
  failures.push(...(await inheritObjects(context, { ...inheritance, from, owner })));
  const grants = old.grants.map(
    ({ role, privilege, grantable }) =>
      `GRANT ${privilege} ON DATABASE ${name} TO ${role === null ? 'PUBLIC' : quoteName(role)}${grantable ? ' WITH GRANT OPTION' : ''}`,
  );
  await each([
    `REVOKE ALL ON DATABASE ${name} FROM PUBLIC, SESSION_USER, ${quoteName(old.owner)}`,
    ...grants,
    ...settingStatements(old, to),
    `ALTER DATABASE ${name} CONNECTION LIMIT ${old.connection_limit}`,
  ]);
  warnNotCarried(context, failures);
}

async function settled(session: PostgresSession, settle: Settle = async () => {}): Promise<void> {
  await settle(session);
}

/** A database that was not there, with all that is in it. */
async function giveTo(context: EngineContext, server: PostgresSession, { to, url, role: owner, settle }: Inheritance) {
  if (owner === undefined && !settle) return [];
  await using session = await connect(context, withDatabase(url, to), { settings: CARRYING });
  await settled(session, settle);
  if (owner === undefined) return [];
  const failure = await attempt(server, `ALTER DATABASE ${quoteName(to)} OWNER TO ${quoteName(owner)}`);
  return [
    ...(failure ? [failure] : []),
    ...(await withoutEventTriggers(session, () => runCarryOver(session, { owner, ownership: null }))),
  ];
}

async function inheritObjects(
  context: EngineContext,
  { from, to, url, owner, copied, before, settle }: Inheritance & { from: string; owner: string },
): Promise<string[]> {
  await using opening = openMeanwhile(connect(context, withDatabase(url, to), { settings: CARRYING }));
  const { ownership, unread } = await (before ?? readBefore(context, withDatabase(url, from)));
  const session = await opening.session;
  await settled(session, settle);
  // As in a copy of the destination, which takes nothing over.
  if (ownership && isDeepStrictEqual(ownership, await readOwnership(session))) return [];
  const failures = await withoutEventTriggers(session, () => runCarryOver(session, { owner, ownership, copied }));
  if (!ownership) return [...failures, `the grants of ${from}: ${unread}`];
  const lost = await session.query<{ name: string }>(lostGrantsQuery(ownership));
  warnLostGrants(
    context,
    lost.map(({ name }) => name),
  );
  return failures;
}

const CARRYING = {
  ...{ row_security: 'off', statement_timeout: '0', lock_timeout: '0', synchronous_commit: 'off' },
  ...JOINING_LISTS,
};

interface Before {
  ownership: ObjectOwnership | null;
  unread: string;
}

/** The destination may take no connection any more, which must not cost the restored rows. */
export async function readBefore(context: EngineContext, url: DatabaseUrl): Promise<Before> {
  try {
    await using session = await connect(context, url, { settings: CARRYING });
    return { ownership: await readOwnership(session), unread: '' };
  } catch (error) {
    if (!(error instanceof UserError) || context.signal.aborted) throw error;
    return { ownership: null, unread: error.details[0] ?? error.message };
  }
}

export function settingStatements({ settings }: OldDatabase, database: string): string[] {
  return settings.map(({ role, setting }) => alterSet({ database, setting, role }));
}

export interface OldDatabase {
  owner: string;
  connection_limit: number;
  settings: OldSetting[];
  grants: Grant[];
}

export async function readDatabase(server: PostgresSession, name: string): Promise<OldDatabase | undefined> {
  const [old] = await server.query<OldDatabase>(`
    SELECT pg_get_userbyid(d.datdba) AS owner, d.datconnlimit AS connection_limit,
      coalesce((SELECT json_agg(json_build_object('role', r.rolname, 'setting', c))
        FROM pg_db_role_setting s CROSS JOIN unnest(s.setconfig) c LEFT JOIN pg_roles r ON r.oid = s.setrole
        WHERE s.setdatabase = d.oid AND (s.setrole = 0 OR r.oid IS NOT NULL)), '[]') AS settings,
      coalesce((SELECT json_agg(json_build_object('role', CASE WHEN a.grantee = 0 THEN NULL ELSE pg_get_userbyid(a.grantee) END,
          'privilege', a.privilege_type, 'grantable', a.is_grantable))
        FROM aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a), '[]') AS grants
    FROM pg_database d WHERE d.datname = ${quoteText(name)}`);
  return old;
}

interface OldSetting {
  role: string | null;
  /** `name=value` */
  setting: string;
}

interface Grant {
  /** `null` for everybody. */
  role: string | null;
  privilege: string;
  grantable: boolean;
}
