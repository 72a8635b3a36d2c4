import type { Manifest } from '../../../repository/manifest/manifest.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { BaseCopies, BaseCopy } from '../../facets/copies.ts';
import { closedBase } from '../../shared/base-copies.ts';
import { assertEnoughSpace } from '../../shared/disk-space.ts';
import { quoteName, quoteNumber, quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import { SqlError } from '../connection/session-errors.ts';
import { admitOwner, markNew } from '../server/new-database.ts';
import {
  auxiliaryNames,
  findAuxiliaryDatabases,
  lockingBase,
  readOid,
  SHARED_LOCK_TIMEOUT,
  whileClosed,
} from '../server/server.ts';
import { readSpace } from '../server/space.ts';
import { readDatabase } from '../swap/inherit.ts';
import { isCopyOf, type MarkedDatabase, provisionalLimit, writeMark } from '../swap/mark.ts';
import { rename, withoutSessions } from '../swap/swap.ts';

/** Base copy and spare of a destination, each with whether a reset may use it. */
export async function findBaseCopies(server: PostgresSession, destination: string): Promise<BaseCopies> {
  const present = await findAuxiliaryDatabases(server, destination);
  if (!present.base && !present.spare) return { base: null, spare: null };
  return whileClosed(server, auxiliaryNames(destination).base, async () => {
    const { base, spare } = await findAuxiliaryDatabases(server, destination);
    const oid = await readOid(server, destination);
    return {
      base: base && (await describe(server, base, oid)),
      spare: spare && (await describe(server, spare, oid)),
    };
  });
}

async function describe(server: PostgresSession, { name, mark, own }: MarkedDatabase, oid: number | null) {
  const [row] = await server.query<{ open: boolean; since: string; sessions: number | null; bytes: number | null }>(`
    SELECT datallowconn AS open, ${LAST_CRASH} AS since, ${SESSIONS} AS sessions, CASE WHEN has_database_privilege(oid, 'CONNECT') THEN pg_database_size(oid) END AS bytes
    FROM pg_database d WHERE datname = ${quoteText(name)}`);
  const { snapshot, loaded_at, partial, destination_oid, former_oid, no_crash_since, sessions } = mark;
  const emptied = no_crash_since !== undefined && no_crash_since !== row?.since;
  const used = sessions !== undefined && (row?.sessions ?? 0) > sessions;
  const isOpen = row?.open !== false && !mark.reading;
  const closed = own && !isOpen && !emptied && !used;
  const replaced = !isCopyOf(mark, oid);
  const never = replaced && destination_oid === null && former_oid === null;
  const outdated = !own
    ? 'it belongs to another role'
    : emptied
      ? 'the server has crashed since that load, which empties unlogged tables'
      : never
        ? 'it was made for branches, and the destination was not loaded with it'
        : replaced
          ? 'the destination was replaced since that load, by another load, an undo or a rename'
          : used
            ? 'a client was connected to it since that load, and may have changed it'
            : !closed
              ? 'it accepts connections, so it may have been changed'
              : null;
  return { name, snapshot, loadedAt: loaded_at, partial, sizeBytes: row?.bytes ?? null, outdated, closed };
}

/** Reports whether a base copy has the rows of a snapshot: a whole one, that no steps of after_load have changed. */
export function hasRowsOf({ partial, snapshot, contents }: MarkedDatabase['mark'], { id }: Pick<Manifest, 'id'>) {
  return !partial && snapshot === id && contents?.obstacle === null;
}

/** A crash makes the server begin its statistics again; a person may do so as well. */
const LAST_CRASH = `(SELECT coalesce(extract(epoch FROM stats_reset)::text, '') FROM pg_stat_bgwriter)`;

/** Only of clients. A crash of the server and a reset of its statistics make it 0; before version 14 it is NULL. */
const SESSIONS = `(SELECT (to_jsonb(s) ->> 'sessions')::int8 FROM pg_stat_database s WHERE s.datid = d.oid)`;

export async function readSessions(server: PostgresSession, database: string): Promise<number | null> {
  const [row] = await server.query<{ sessions: number | null }>(
    `SELECT ${SESSIONS} AS sessions FROM pg_database d WHERE datname = ${quoteText(database)}`,
  );
  return row?.sessions ?? null;
}

/** For the mark of a base copy; `null` of a database that a crash would leave as it is. */
export async function noCrashSince(session: PostgresSession): Promise<string | null> {
  const [row] = await session.query<{ since: string }>(
    `SELECT ${LAST_CRASH} AS since WHERE EXISTS (SELECT FROM pg_class WHERE relpersistence = 'u' AND relkind IN ('r', 'S'))`,
  );
  return row?.since ?? null;
}

export interface Copy {
  url: DatabaseUrl;
  from: string;
  /** The name of a shadow database: what a killed run leaves is swept. */
  to: string;
}

/** Up to this size WAL is faster than the checkpoints and file syncs of a file copy. */
const FILE_COPY_FROM_BYTES = 32 * 1024 * 1024;
const FILE_COPY_SINCE = 150_000;
/** `system_error`, `io_error`, `feature_not_supported`, `internal_error` */
const CLONE_REFUSED = new Set(['58000', '58030', '0A000', 'XX000']);

interface CopyFacts {
  open: boolean;
  version: number;
  /** The server can ask the file system for clones, from version 18. */
  clones: boolean;
  bytes: number | null;
}

async function readCopyFacts(server: PostgresSession, from: string): Promise<CopyFacts | undefined> {
  const [facts] = await server.query<CopyFacts>(`
    SELECT datallowconn AS open, current_setting('server_version_num')::int AS version,
      EXISTS (SELECT FROM pg_settings WHERE name = 'file_copy_method' AND 'clone' = ANY (enumvals)) AS clones,
      CASE WHEN has_database_privilege(oid, 'CONNECT') THEN pg_database_size(oid) END AS bytes
    FROM pg_database WHERE datname = ${quoteText(from)}`);
  return facts;
}

function copiesFiles({ bytes, version }: CopyFacts): boolean {
  return (bytes ?? FILE_COPY_FROM_BYTES) >= FILE_COPY_FROM_BYTES && version >= FILE_COPY_SINCE;
}

/** Reports whether the server makes copies of the database as clones where the file system supports them. */
export async function prefersClones(server: PostgresSession, from: string): Promise<boolean> {
  const facts = await readCopyFacts(server, from);
  return facts?.clones === true && copiesFiles(facts);
}

/**
 * Copies a database on its server, with everything but its grants, settings and comment. The copy refuses connections.
 * Resolves with whether the file system has cloned it.
 */
async function copyDatabase(context: EngineContext, server: PostgresSession, { url, from, to }: Copy) {
  const facts = await readCopyFacts(server, from);
  const strategy = facts && copiesFiles(facts) ? ' STRATEGY FILE_COPY' : '';
  const statement = `CREATE DATABASE ${quoteName(to)} TEMPLATE ${quoteName(from)}${strategy} CONNECTION LIMIT ${quoteNumber(provisionalLimit(to))} ALLOW_CONNECTIONS false`;
  const execute = () => server.execute(statement);
  const create = facts?.open === false ? execute : () => withoutSessions(context, { url, databases: [from] }, execute);
  if (!facts?.clones || strategy === '') {
    await create();
    return false;
  }
  await server.execute(`SET file_copy_method = clone`);
  try {
    await create();
    return true;
  } catch (error) {
    if (!(error instanceof SqlError && CLONE_REFUSED.has(error.sqlstate))) throw error;
    // The plan of branches has counted on clones.
    assertEnoughSpace(await readSpace(context, server, url), facts.bytes ?? 0);
    await server.execute(`SET file_copy_method = copy`);
    await create();
    return false;
  }
}

export interface ClosedCopy extends Copy {
  destination: string;
}

/** A marked copy that refuses connections; it belongs to the owner of the destination, as what it is a copy of does. */
export async function createClosedCopy(
  context: EngineContext,
  server: PostgresSession,
  { destination, ...copy }: ClosedCopy,
) {
  await copyDatabase(context, server, copy);
  await markNew(server, copy.to, { of: destination, admits: 'none' });
  const owned = await readDatabase(server, copy.from);
  if (owned) await server.execute(`ALTER DATABASE ${quoteName(copy.to)} OWNER TO ${quoteName(owned.owner)}`);
}

export interface FromBase {
  url: DatabaseUrl;
  base: BaseCopy;
  /** Usable. Default: none. */
  spare?: BaseCopy | null;
  /** The name of a shadow database. */
  to: string;
}

/** A shadow database as the base copy is: the spare, or else a copy. Resolves with whether it was cloned just now. */
export async function newFromBase(context: EngineContext, server: PostgresSession, { url, base, spare, to }: FromBase) {
  const of = url.database ?? '';
  if (spare && (await takeSpare(server, { to, of }))) return false;
  const copying = { base: base.name, timeout: SHARED_LOCK_TIMEOUT, by: 'pg_advisory_lock_shared' } as const;
  const cloned = await lockingBase(server, copying, () => copyDatabase(context, server, { url, from: base.name, to }));
  await markNew(server, to, { of, admits: 'owner' });
  // No client could connect while it was copied, but before.
  const copied = await findBaseCopies(server, of);
  if (copied.base) closedBase(copied, url);
  return cloned;
}

/**
 * Gives the spare the name and state of a shadow database; `false` where that is refused, or a client was connected to it:
 * it is examined when the new name keeps all clients out until the end of the transaction.
 */
async function takeSpare(server: PostgresSession, { to, of }: { to: string; of: string }): Promise<boolean> {
  const { spare } = await findAuxiliaryDatabases(server, of);
  if (!spare) return false;
  await server.execute('BEGIN');
  try {
    await server.execute(rename(spare.name, to));
    const { outdated } = await describe(server, { ...spare, name: to }, await readOid(server, of));
    await server.execute(writeMark(to, { tool: 'new', of }));
    for (const statement of admitOwner(to)) await server.execute(statement);
    await server.execute(outdated === null ? 'COMMIT' : 'ROLLBACK');
    return outdated === null;
  } catch (error) {
    await server.execute('ROLLBACK').catch(() => {});
    if (error instanceof SqlError) return false;
    throw error;
  }
}
