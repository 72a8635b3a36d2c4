import type { WarningEvent } from '../../../results/events.ts';
import { boundedList } from '../../../text/bounded-list.ts';
import { quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import { attempt } from './carry-over.ts';
import { readDatabase, settingStatements } from './inherit.ts';
import { systemObjects } from './ownable.ts';

export interface RightsCheck {
  /** On another database of the server. */
  server: PostgresSession;
  /** On the destination, if it takes connections. */
  inside: PostgresSession | null;
  destination: string;
}

/**
 * Warns of properties that the role cannot carry over to the database that replaces the destination; changes nothing.
 */
export async function checkRights({ server, inside, destination }: RightsCheck): Promise<WarningEvent[]> {
  const lacking = [
    ...(await refusedSettings(server, destination)),
    ...(inside
      ? [...(await foreignDefaults(inside)), ...(await grantsOfServer(inside))]
      : ['its grants, since it takes no connections']),
    ...(await refusedTablespace(server, destination)),
  ];
  return lacking.map((what) => ({
    event: 'warning',
    code: 'not_carried_over',
    message: `Cannot be carried over to the new ${destination}: ${what}`,
  }));
}

/**
 * Returns the settings that the server refuses, tried in a transaction that is rolled back: permission depends on the
 * setting, its extension and grants.
 */
async function refusedSettings(server: PostgresSession, destination: string): Promise<string[]> {
  const old = await readDatabase(server, destination);
  const refused: string[] = [];
  await server.execute('BEGIN');
  try {
    for (const statement of old ? settingStatements(old, destination) : []) {
      await server.execute('SAVEPOINT setting');
      const failure = await attempt(server, statement);
      await server.execute('ROLLBACK TO SAVEPOINT setting');
      if (failure) refused.push(failure);
    }
  } finally {
    await server.execute('ROLLBACK');
  }
  return refused;
}

async function foreignDefaults(inside: PostgresSession): Promise<string[]> {
  const rows = await inside.query<{ role: string }>(`
    SELECT DISTINCT pg_get_userbyid(defaclrole) AS role FROM pg_default_acl
    WHERE NOT pg_has_role(defaclrole, 'USAGE') ORDER BY 1`);
  return rows.map(({ role }) => `the default privileges of ${role}, of which the role is not a member`);
}

/** Objects of the server are its superuser's. */
async function grantsOfServer(inside: PostgresSession): Promise<string[]> {
  const rows = await inside.query<{ name: string }>(`
    SELECT lower(o.granted_on) || ' ' || o.identity AS name FROM (${systemObjects(null)}) o
    WHERE NOT pg_has_role(o.owner, 'USAGE') ORDER BY 1`);
  const names = rows.map(({ name }) => name);
  return names.length === 0 ? [] : [`grants and revokes on objects of the server: ${boundedList(names, NAMED)}`];
}

const NAMED = 5;

async function refusedTablespace(server: PostgresSession, destination: string): Promise<string[]> {
  const tablespace = await readTablespace(server, destination);
  return tablespace && !tablespace.allowed
    ? [`the tablespace ${tablespace.name}, in which the role may not create`]
    : [];
}

export interface Tablespace {
  name: string;
  allowed: boolean;
}

/** Returns the tablespace of the database; `null` for the default of the server. */
export async function readTablespace(server: PostgresSession, database: string): Promise<Tablespace | null> {
  const [row] = await server.query<Tablespace>(`
    SELECT t.spcname AS name, has_tablespace_privilege(t.oid, 'CREATE') AS allowed
    FROM pg_database d JOIN pg_tablespace t ON t.oid = d.dattablespace
    WHERE d.datname = ${quoteText(database)}
      AND d.dattablespace <> (SELECT dattablespace FROM pg_database WHERE datname = 'template0')`);
  return row ?? null;
}
