import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { EXIT, UserError } from '../../../errors.ts';
import type { DatabaseUrl, EngineContext, Replaced } from '../../engine.ts';
import { connectToServer } from '../connection/connect.ts';
import { quoteName, quoteText, type Session, SqlError } from '../connection/session.ts';
import { besideNames, dropDatabase } from '../server.ts';
import { alterSet } from './alter-set.ts';

/** `object_in_use`: somebody is connected to a database that is to be renamed. */
const OBJECT_IN_USE = '55006';
/** How long sessions that come again and again are ended before the swap is given up; the server itself waits 5 s a try. */
const TRIES = 3;
const TERMINATE_EVERY = 100;

export interface Swap {
  server: Session;
  url: DatabaseUrl;
  /** The complete database that takes the destination's name. */
  fresh: string;
  /** Keeps what is replaced. */
  undo: boolean;
}

/**
 * Gives the fresh database the destination's name by renames in one transaction: at every moment the destination is
 * the old one or the new one. What is replaced is kept, or dropped after.
 */
export async function swapDatabases(context: EngineContext, { server, url, fresh, undo }: Swap): Promise<Replaced> {
  const { report, clock } = context;
  const destination = url.database ?? '';
  const names = besideNames(destination);
  const exists = await databaseExists(server, destination);
  const retired = (await databaseExists(server, names.undo)) ? names.fresh() : null;
  report({ event: 'step', step: 'swap', state: 'started', label: `Give it the name ${destination}` });
  const renames = [
    ...(retired ? [rename(names.undo, retired)] : []),
    ...(exists
      ? [rename(destination, names.undo), mark(names.undo, { of: destination, replaced_at: clock().toISOString() })]
      : []),
    rename(fresh, destination),
  ];
  const started = performance.now();
  await renameAll(context, { server, url, renames, databases: [destination, names.undo, fresh] });
  const swapMs = Math.round(performance.now() - started);
  if (retired) await dropDatabase(server, retired);
  if (exists && !undo) await dropDatabase(server, names.undo);
  report({ event: 'step', step: 'swap', state: 'done', label: `${destination} is the new one` });
  return { swapMs, undoDatabase: exists && undo ? names.undo : null };
}

interface Renaming {
  server: Session;
  url: DatabaseUrl;
  renames: string[];
  /** Those whose sessions have to end. */
  databases: string[];
}

/**
 * A database in use cannot be renamed. While the server waits for its sessions to end, holding a lock that keeps new
 * ones out, a second session ends them.
 */
export async function renameAll(context: EngineContext, { server, url, renames, databases }: Renaming): Promise<void> {
  await using other = await connectToServer(context, url);
  const settled = new AbortController();
  const ending = endSessions(other, databases, settled.signal);
  try {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await server.transaction(['SET LOCAL synchronous_commit = on', ...renames]);
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

async function endSessions(other: Session, databases: string[], settled: AbortSignal): Promise<void> {
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

async function sessionsStay(other: Session, databases: string[], cause: SqlError): Promise<UserError> {
  const rows = await other.query<{ who: string }>(`
    SELECT concat_ws(' ', usename, application_name, client_addr) AS who FROM pg_stat_activity
    WHERE datname IN (${databases.map(quoteText).join(', ')})`);
  return new UserError('Sessions on the destination do not end, so it cannot be swapped', {
    code: 'sessions_stay',
    exit: EXIT.failed,
    details: [cause.message, ...rows.slice(0, 10).map(({ who }) => `open: ${who}`)],
    hint: 'The destination is as it was before. Stop what uses it, or load with a role that may end its sessions (pg_signal_backend).',
    cause,
  });
}

export function rename(from: string, to: string): string {
  return `ALTER DATABASE ${quoteName(from)} RENAME TO ${quoteName(to)}`;
}

/** What a kept database is, written where it cannot get lost: on itself. */
export interface KeptMark {
  /** The destination that it was. */
  of: string;
  replaced_at: string;
}

export function mark(database: string, kept: KeptMark): string {
  return `COMMENT ON DATABASE ${quoteName(database)} IS ${quoteText(JSON.stringify({ tool: 'undo', ...kept }))}`;
}

export async function databaseExists(server: Session, name: string): Promise<boolean> {
  return (await server.query(`SELECT FROM pg_database WHERE datname = ${quoteText(name)}`)).length > 0;
}

export interface Inheritance {
  /** The destination as it is, whose owner, settings, limits and grants its successor takes over. */
  from: string | null;
  to: string;
  /** The source's settings, for a destination that was not there. */
  settings: string[];
}

/** A destination keeps its own owner, settings and grants: they belong to the place, not to the snapshot. */
export async function inheritSettings(server: Session, { from, to, settings }: Inheritance): Promise<void> {
  if (from === null) return server.transaction(settings.map((setting) => alterSet({ database: to, setting })));
  const [old] = await server.query<{
    owner: string;
    connection_limit: number;
    settings: OldSetting[];
    grants: Grant[];
  }>(`
    SELECT pg_get_userbyid(d.datdba) AS owner, d.datconnlimit AS connection_limit,
      coalesce((SELECT json_agg(json_build_object('role', nullif(pg_get_userbyid(s.setrole), 'unknown (OID=0)'), 'setting', c))
        FROM pg_db_role_setting s, unnest(s.setconfig) c WHERE s.setdatabase = d.oid), '[]') AS settings,
      coalesce((SELECT json_agg(json_build_object('role', CASE WHEN a.grantee = 0 THEN NULL ELSE pg_get_userbyid(a.grantee) END, 'privilege', a.privilege_type))
        FROM aclexplode(d.datacl) a), 'null') AS grants
    FROM pg_database d WHERE d.datname = ${quoteText(from)}`);
  if (!old) return;
  const name = quoteName(to);
  const grants = old.grants?.map(
    ({ role, privilege }) => `GRANT ${privilege} ON DATABASE ${name} TO ${role === null ? 'PUBLIC' : quoteName(role)}`,
  );
  await server.transaction([
    ...old.settings.map(({ role, setting }) => alterSet({ database: to, setting, role })),
    ...(grants ? [`REVOKE ALL ON DATABASE ${name} FROM PUBLIC`, ...grants] : []),
    `ALTER DATABASE ${name} CONNECTION LIMIT ${old.connection_limit}`,
    `ALTER DATABASE ${name} OWNER TO ${quoteName(old.owner)}`,
  ]);
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
}
