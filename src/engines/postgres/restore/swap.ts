import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { UserError } from '../../../runtime/errors.ts';
import { startStep } from '../../../runtime/events.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ReplaceResult } from '../../facets/restore.ts';
import { connect, connectToServer } from '../connection/connect.ts';
import { type PsqlSession, quoteName, quoteText, SqlError } from '../connection/session.ts';
import { withDatabase } from '../connection/url.ts';
import { type BaseMark, writeComment, writeMark } from '../mark.ts';
import { type Beside, besideNames, dropMarked, findBeside, verifyLock } from '../server/server.ts';
import { alterSet } from './alter-set.ts';
import { checkSwap } from './blockers.ts';
import {
  attempt,
  lostGrantsQuery,
  type Ownership,
  readOwnership,
  runCarryOver,
  warnLostGrants,
  warnNotCarried,
} from './carry-over.ts';
import { withoutEventTriggers } from './event-triggers.ts';

/** `object_in_use`: a session uses a database that is to be renamed. */
const OBJECT_IN_USE = '55006';
/** Attempts before the swap fails because sessions keep reconnecting; the server itself waits 5 s in each. */
const TRIES = 3;
const TERMINATE_EVERY = 100;

export interface Swap {
  server: PsqlSession;
  url: DatabaseUrl;
  /** The complete database that takes the destination's name. */
  fresh: string;
  /** Keeps what is replaced. */
  undo: boolean;
  /** A new base copy of the fresh database, or `kept` where that is made from the present one. Default: none remains. */
  base?: NewBase | 'kept' | undefined;
  /** Comment of the new database; default: that of the replaced one. */
  comment?: (() => string | null) | undefined;
  /** Ends sessions that stand in the way, and opens while other work is done; default: one of its own. */
  second?: Promise<PsqlSession> | undefined;
}

export interface NewBase {
  /** The copy, under the name of a shadow database. */
  database: string;
  mark: BaseMark;
}

/**
 * Gives the fresh database the destination's name by renames in one transaction: at every moment the destination is
 * the old one or the new one. What is replaced is kept, or dropped after; an undo copy goes only when another takes
 * its place. A base copy and a spare of the replaced database go.
 */
export async function swapDatabases(
  context: EngineContext,
  { server, url, fresh, undo, base, comment, second }: Swap,
): Promise<ReplaceResult> {
  const { report, clock } = context;
  const destination = url.database ?? '';
  const names = besideNames(destination);
  await verifyLock(server, destination);
  await checkSwap(server, { destination, undo, base: base !== undefined });
  const old = await readComment(server, destination);
  const beside = await findBeside(server, destination);
  const outdated = base === 'kept' ? [beside.spare] : [beside.base, beside.spare];
  const retired = [old && beside.undo, ...outdated]
    .filter((one) => one !== null)
    .map(({ name, mark }) => ({ from: name, to: names.fresh(), mark }));
  const swapped = startStep(report, 'swap', `Switch ${destination} to the restored database`);
  const kept = {
    tool: 'undo',
    of: destination,
    replaced_at: clock().toISOString(),
    comment: old?.comment ?? null,
  } as const;
  const renames = [
    ...retired.flatMap(({ from, to, mark }) => [rename(from, to), writeMark(to, { ...mark, tool: 'new' })]),
    ...(old ? [rename(destination, names.undo), writeMark(names.undo, kept)] : []),
    rename(fresh, destination),
    writeComment(destination, comment ? comment() : (old?.comment ?? null)),
    ...(await baseStatements(server, { base, beside, fresh, name: names.base })),
  ];
  const databases = [destination, fresh, ...retired.map(({ from }) => from)];
  const started = performance.now();
  await renameAll(context, { server, url, renames, databases, second: await second });
  const swapMs = Math.round(performance.now() - started);
  swapped(`Switched ${destination} to the restored database`);
  for (const { to } of retired) await dropMarked(server, { name: to, destination, report });
  const dropped = old && !undo && (await dropMarked(server, { name: names.undo, destination, report }));
  return { swapMs, undoDatabase: old && !dropped ? names.undo : null };
}

interface BaseStatements extends Pick<Swap, 'base' | 'fresh'> {
  beside: Beside;
  /** Name of the base copy. */
  name: string;
}

/** The mark names the database that becomes the destination, so that a base copy of another one is recognized. */
async function baseStatements(server: PsqlSession, { base, beside, fresh, name }: BaseStatements): Promise<string[]> {
  if (base === undefined) return [];
  const mark = base === 'kept' ? beside.base?.mark : base.mark;
  if (!mark) throw new Error('the base copy is gone');
  const destination_oid = await readOid(server, fresh);
  const marked = writeMark(name, { ...mark, destination_oid });
  return base === 'kept' ? [marked] : [rename(base.database, name), marked];
}

interface RenameRequest {
  server: PsqlSession;
  url: DatabaseUrl;
  renames: string[];
  /** Databases whose sessions have to end. */
  databases: string[];
  /** A session that ends them; default: one of its own. */
  second?: PsqlSession | undefined;
}

/**
 * A database in use cannot be renamed. While the server waits for its sessions to end, holding a lock that keeps new
 * ones out, a second session ends them.
 */
export async function renameAll(context: EngineContext, { server, renames, ...others }: RenameRequest): Promise<void> {
  const statements = ['SET LOCAL synchronous_commit = on', ...renames];
  await withoutSessions(context, others, () => server.transaction(statements));
}

/** Does what the server refuses while sessions use the databases: ends them meanwhile, and tries again. */
export async function withoutSessions(
  context: EngineContext,
  { url, databases, second }: Pick<RenameRequest, 'url' | 'databases' | 'second'>,
  work: () => Promise<void>,
): Promise<void> {
  await using own = second ? null : await connectToServer(context, url);
  const other = second ?? own;
  if (!other) throw new Error('there is no second session');
  const settled = new AbortController();
  const ending = endSessions(other, databases, settled.signal);
  try {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof SqlError && error.sqlstate === OBJECT_IN_USE)) throw error;
        if (attempt === TRIES) throw await sessionsStay(other, databases, error);
      }
    }
  } finally {
    settled.abort();
    await ending;
  }
}

async function endSessions(other: PsqlSession, databases: string[], settled: AbortSignal): Promise<void> {
  const list = databases.map(quoteText).join(', ');
  while (!settled.aborted) {
    // Refused where the role may not end a session; the rename then says what stands in its way.
    await other
      .query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname IN (${list}) AND pid <> pg_backend_pid() AND backend_type = 'client backend'`,
      )
      .catch(() => {});
    await setTimeout(TERMINATE_EVERY, undefined, { signal: settled }).catch(() => {});
  }
}

async function sessionsStay(other: PsqlSession, databases: string[], cause: SqlError): Promise<UserError> {
  const rows = await other.query<{ who: string }>(`
    SELECT concat_ws(' ', usename, application_name, client_addr) AS who FROM pg_stat_activity
    WHERE datname IN (${databases.map(quoteText).join(', ')})`);
  return new UserError('Sessions on the destination do not end, so it cannot be swapped', {
    code: 'sessions_stay',
    details: [cause.message, ...rows.slice(0, 10).map(({ who }) => `open: ${who}`)],
    hint: 'The destination is unchanged. Stop its clients, or load with a role that may end its sessions (pg_signal_backend).',
    cause,
  });
}

export function rename(from: string, to: string): string {
  return `ALTER DATABASE ${quoteName(from)} RENAME TO ${quoteName(to)}`;
}

export async function databaseExists(server: PsqlSession, name: string): Promise<boolean> {
  return (await server.query(`SELECT FROM pg_database WHERE datname = ${quoteText(name)}`)).length > 0;
}

/** `null` when it does not exist. */
export async function readOid(server: PsqlSession, name: string): Promise<number | null> {
  const [row] = await server.query<{ oid: number }>(
    `SELECT oid::int8 AS oid FROM pg_database WHERE datname = ${quoteText(name)}`,
  );
  return row?.oid ?? null;
}

/** The comment of a database; `null` when it does not exist. */
export async function readComment(server: PsqlSession, name: string): Promise<{ comment: string | null } | null> {
  const [row] = await server.query<{ comment: string | null }>(
    `SELECT shobj_description(oid, 'pg_database') AS comment FROM pg_database WHERE datname = ${quoteText(name)}`,
  );
  return row ?? null;
}

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
  /** Makes the loading role the owner of the new database's objects. */
  settle?: Settle | undefined;
}

/** In a session of the loading role on the new database. */
export type Settle = (session: PsqlSession) => Promise<void>;

/**
 * A destination keeps its own owner, settings and grants: they belong to the place, not to the snapshot. What the
 * server refuses is a warning: the rows are restored, and a role with more rights can do the rest.
 */
export async function inherit(context: EngineContext, server: PsqlSession, inheritance: Inheritance): Promise<void> {
  const { from, to, settings } = inheritance;
  const failures: string[] = [];
  const each = async (statements: string[]): Promise<void> => {
    for (const statement of statements)
      failures.push(...[await attempt(server, statement)].filter((text) => text !== null));
  };
  const old = from === null ? null : await readDatabase(server, from);
  if (from === null || !old) {
    failures.push(...(await giveTo(context, server, inheritance)));
    await each(settings.map((setting) => alterSet({ database: to, setting })));
    return warnNotCarried(context, failures);
  }
  const name = quoteName(to);
  await each([`ALTER DATABASE ${name} OWNER TO ${quoteName(old.owner)}`]);
  const owner = inheritance.role ?? old.owner;
  failures.push(...(await inheritObjects(context, { ...inheritance, from, owner })));
  const grants = old.grants?.map(
    ({ role, privilege, grantable }) =>
      `GRANT ${privilege} ON DATABASE ${name} TO ${role === null ? 'PUBLIC' : quoteName(role)}${grantable ? ' WITH GRANT OPTION' : ''}`,
  );
  await each([
    ...(grants ? [`REVOKE ALL ON DATABASE ${name} FROM PUBLIC, ${quoteName(old.owner)}`, ...grants] : []),
    ...settingStatements(old, to),
    `ALTER DATABASE ${name} CONNECTION LIMIT ${old.connection_limit}`,
  ]);
  warnNotCarried(context, failures);
}

async function settled(session: PsqlSession, settle: Settle = async () => {}): Promise<void> {
  await settle(session);
}

/** A database that was not there, with all that is in it. */
async function giveTo(
  context: EngineContext,
  server: PsqlSession,
  { to, url, role: owner, settle }: Inheritance,
): Promise<string[]> {
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
  { from, to, url, owner, copied, settle }: Inheritance & { from: string; owner: string },
): Promise<string[]> {
  const opening = connect(context, withDatabase(url, to), { settings: CARRYING });
  const { ownership, unread } = await readBefore(context, withDatabase(url, from)).catch(async (error) => {
    await opening.then((opened) => opened.close()).catch(() => {});
    throw error;
  });
  await using session = await opening;
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

const CARRYING = { row_security: 'off', statement_timeout: '0', lock_timeout: '0', synchronous_commit: 'off' };

/** The destination may take no connection any more, which must not cost the restored rows. */
async function readBefore(
  context: EngineContext,
  url: DatabaseUrl,
): Promise<{ ownership: Ownership | null; unread: string }> {
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
  grants: Grant[] | null;
}

export async function readDatabase(server: PsqlSession, name: string): Promise<OldDatabase | undefined> {
  const [old] = await server.query<OldDatabase>(`
    SELECT pg_get_userbyid(d.datdba) AS owner, d.datconnlimit AS connection_limit,
      coalesce((SELECT json_agg(json_build_object('role', r.rolname, 'setting', c))
        FROM pg_db_role_setting s CROSS JOIN unnest(s.setconfig) c LEFT JOIN pg_roles r ON r.oid = s.setrole
        WHERE s.setdatabase = d.oid AND (s.setrole = 0 OR r.oid IS NOT NULL)), '[]') AS settings,
      coalesce((SELECT json_agg(json_build_object('role', CASE WHEN a.grantee = 0 THEN NULL ELSE pg_get_userbyid(a.grantee) END,
          'privilege', a.privilege_type, 'grantable', a.is_grantable))
        FROM aclexplode(d.datacl) a), 'null') AS grants
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
