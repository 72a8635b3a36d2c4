import type { DestinationState } from '../../../results/load-results.ts';
import { EXIT, UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { connect, connectToServer } from '../connection/connect.ts';
import { quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import { profile } from '../profile.ts';
import { spaceOf } from '../server/space.ts';

export interface InspectedDestination {
  user: string;
  superuser: boolean;
  /** The role may create a role and become the owner of its objects. */
  mayCreateRoles: boolean;
  destination: DestinationState;
  /** The role may create a database and rename the destination. */
  maySwap: boolean;
  whyNot: string;
  extensions: string[];
  roles: string[];
  /** Bytes free where the server keeps its data; `null` when unknown. */
  freeBytes: number | null;
}

export async function inspectDestination(context: EngineContext, url: DatabaseUrl): Promise<InspectedDestination> {
  await using opened = await openForInspection(context, url);
  return opened.facts;
}

export interface OpenedDestination extends AsyncDisposable {
  facts: InspectedDestination;
  /** On another database of the server where the role may swap. */
  session: PostgresSession;
  /** The session is on the destination: the role may connect to no other database. */
  isOwn: boolean;
}

export async function openForInspection(context: EngineContext, url: DatabaseUrl): Promise<OpenedDestination> {
  if (url.database === null) {
    throw new UserError('url_invalid', `The destination ${url.display} names no database`, {
      exit: EXIT.configuration,
      hint: 'Add its name at the end: postgres://user@host:5432/database. It is created when it does not exist.',
    });
  }
  const { most, lengthOf } = profile.nameLimit;
  if (lengthOf(url.database) > most) {
    throw new UserError('url_invalid', `The destination ${url.display} has a name of more than ${most} bytes`, {
      exit: EXIT.configuration,
      hint: 'Shorten it: the server would cut it, and may then mean another database.',
    });
  }
  try {
    return await inspectIn(context, await connectToServer(context, url), url);
  } catch (thrown) {
    if (!(thrown instanceof UserError) || thrown.code === 'unreachable') throw thrown;
    const only = await inspectIn(context, await connect(context, url), url);
    const whyNot = 'the role may not connect to another database of the server';
    return { ...only, facts: { ...only.facts, maySwap: false, whyNot }, isOwn: true };
  }
}

async function inspectIn(context: EngineContext, session: PostgresSession, url: DatabaseUrl) {
  try {
    const facts = await readFacts(context, session, url);
    return { facts, session, isOwn: false, [Symbol.asyncDispose]: () => session.close() };
  } catch (error) {
    await session.close();
    throw error;
  }
}

interface DestinationRow {
  destination: Pick<DestinationState, 'exists' | 'size_bytes' | 'connections' | 'server_version'>;
  own: Pick<InspectedDestination, 'user' | 'superuser' | 'mayCreateRoles' | 'extensions' | 'roles'>;
  createdb: boolean;
  /** The role may rename the destination, and give another database to its owner. */
  owner: boolean;
  data_directory: string | null;
}

async function readFacts(context: EngineContext, session: PostgresSession, url: DatabaseUrl) {
  const database = quoteText(url.database ?? '');
  const [row] = await session.query<DestinationRow>(`
    SELECT json_build_object('exists', d.oid IS NOT NULL,
        'size_bytes', CASE WHEN has_database_privilege(d.oid, 'CONNECT') THEN pg_database_size(d.oid) END,
        'connections', (SELECT count(*) FROM pg_stat_activity a
          WHERE a.datid = d.oid AND a.pid <> pg_backend_pid() AND a.backend_type = 'client backend'),
        'server_version', split_part(current_setting('server_version'), ' ', 1)) AS destination,
      json_build_object('user', r.rolname, 'superuser', r.rolsuper, 'mayCreateRoles', r.rolsuper OR r.rolcreaterole AND r.rolinherit,
        'extensions', (SELECT coalesce(json_agg(name), '[]') FROM pg_available_extensions),
        'roles', (SELECT json_agg(rolname) FROM pg_roles)) AS own,
      r.rolsuper OR r.rolcreatedb AS createdb,
      d.oid IS NULL OR pg_has_role(d.datdba, 'USAGE') AND
        CASE WHEN current_setting('server_version_num')::int >= 160000 THEN pg_has_role(d.datdba, 'SET') ELSE true END AS owner,
      (SELECT setting FROM pg_settings WHERE name = 'data_directory') AS data_directory
    FROM pg_roles r LEFT JOIN pg_database d ON d.datname = ${database} WHERE r.rolname = current_user`);
  if (!row) throw new Error('pg_roles has no row for the role of the session');
  const { destination, freeBytes } = await spaceOf(context, url, row.data_directory);
  return {
    destination: { url: url.display, ...destination, database: url.database ?? '', ...row.destination },
    ...row.own,
    maySwap: row.createdb && row.owner,
    whyNot: row.createdb ? `the role does not own ${url.database}` : 'the role may not create databases',
    freeBytes,
  };
}
