import { UserError } from '../../../runtime/errors.ts';
import { isShadowName } from '../../shared/auxiliary-names.ts';
import { destinationBusy, lockLost } from '../../shared/destination-lock.ts';
import type { LeftSession } from '../../shared/left-sessions.ts';
import { dropListed } from '../catalog/definitions/code.ts';
import { listCode } from '../catalog/definitions/read-definitions.ts';
import type { Collations } from '../catalog/introspect.ts';
import { tablesOf } from '../catalog/tables.ts';
import { inDatabase, plainWord, quoteName, quotePath, quoteText } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { SqlError } from '../connection/session-errors.ts';
import { auxiliaryNames, isReserved, lockName } from './names.ts';

/** In lower case where the server ignores case: the lock and the names beside the destination derive from it. */
export async function destinationName(server: MysqlSession, database: string): Promise<string> {
  const [row] = await server.query<{ name: string }>(
    `SELECT IF(@@lower_case_table_names > 0, LOWER(${quoteText(database)}), ${quoteText(database)}) AS name`,
  );
  return row?.name ?? database;
}

/** The destination as the server compares its name, and the databases beside it. */
export async function readAuxiliaryNames(server: MysqlSession, destination: string) {
  const of = await destinationName(server, destination);
  return { of, ...auxiliaryNames(of) };
}

const LOCK_TIMEOUT = 3;

/** One load at a time: the lock ends with the session, also of a killed run. */
export async function lockDestination(server: MysqlSession, destination: string): Promise<void> {
  if (!(await tryLock(server, destination, { seconds: LOCK_TIMEOUT }))) throw destinationBusy(destination);
}

/** Returns `false` when another session has the lock. */
export async function tryLock(server: MysqlSession, destination: string, { seconds = 0 } = {}): Promise<boolean> {
  const name = await destinationName(server, destination);
  const [row] = await server.query<{ locked: number | null }>(
    `SELECT GET_LOCK(${quoteText(lockName(name))}, ${Number(seconds)}) AS locked`,
  );
  return row?.locked === 1;
}

/** Gives the lock back in a session that goes on. */
export async function unlockDestination(server: MysqlSession, destination: string): Promise<void> {
  const name = await destinationName(server, destination);
  await server.query(`SELECT RELEASE_LOCK(${quoteText(lockName(name))})`);
}

/** Rejects when a proxy has switched the session's connection. */
export async function verifyLock(server: MysqlSession, destination: string): Promise<void> {
  const name = await destinationName(server, destination);
  const [row] = await server.query<{ held: number | null }>(
    `SELECT IS_USED_LOCK(${quoteText(lockName(name))}) = CONNECTION_ID() AS held`,
  );
  if (row?.held === 1) return;
  throw lockLost(destination, { swapped: 'tables', between: 'proxy' });
}

/** By name only: a name never permits a DROP. */
export async function findShadowDatabases(server: MysqlSession, destination: string): Promise<string[]> {
  const { prefix } = await readAuxiliaryNames(server, destination);
  return (await databaseNames(server)).filter(({ compared }) => isShadowName(compared, prefix)).map(({ name }) => name);
}

export interface DatabaseName {
  name: string;
  /** In lower case where the server compares names so. */
  compared: string;
}

export async function databaseNames(server: MysqlSession): Promise<DatabaseName[]> {
  return server.query<DatabaseName>(
    'SELECT SCHEMA_NAME AS name, IF(@@lower_case_table_names > 0, LOWER(SCHEMA_NAME), SCHEMA_NAME) AS compared FROM information_schema.SCHEMATA ORDER BY 1',
  );
}

export async function databaseExists(server: MysqlSession, name: string): Promise<boolean> {
  const rows = await server.query<{ name: string; folded: number }>(
    `SELECT SCHEMA_NAME AS name, @@lower_case_table_names > 0 AS folded FROM information_schema.SCHEMATA WHERE ${inDatabase('SCHEMA_NAME', name)}`,
  );
  return rows.some((row) => row.name === name || row.folded === 1);
}

/** `ER_DBACCESS_DENIED_ERROR`, `ER_SPECIFIC_ACCESS_DENIED_ERROR`, `ER_ACCESS_DENIED_ERROR`. */
const ACCESS_DENIED = new Set([1044, 1227, 1045]);

export async function createDatabase(
  server: MysqlSession,
  { name, collations: { charset, collation } }: { name: string; collations: Collations },
): Promise<void> {
  try {
    await server.execute(
      `CREATE DATABASE ${quoteName(name)} CHARACTER SET ${plainWord(charset)} COLLATE ${plainWord(collation)}`,
    );
  } catch (error) {
    throw mayNotCreate(name, error) ?? error;
  }
}

export function mayNotCreate(name: string, error: unknown): UserError | null {
  if (!(error instanceof SqlError && ACCESS_DENIED.has(error.errno))) return null;
  return new UserError('may_not_create', `The user may not create the database "${name}"`, {
    details: [error.message],
    hint: `A load needs a second database beside the destination: GRANT ALL ON ${quoteName(grantPattern(name))}.* TO the user.`,
    cause: error,
  });
}

/** In a GRANT the name is a pattern. */
function grantPattern(name: string): string {
  return `${name.replace(/\.tool-.*$/, '').replaceAll(/[_%\\]/g, '\\$&')}%`;
}

/** Sessions on a database; a `Sleep` may hold a lock of its transaction or of LOCK TABLES. */
export function findSessions(server: MysqlSession, name: string): Promise<LeftSession[]> {
  return server
    .query<{ id: number; text: string; busy: number }>(
      `SELECT ID AS id, CONCAT_WS(' ', USER, COMMAND, LEFT(INFO, 200)) AS text, COMMAND NOT IN ('Sleep', 'Quit') AS busy
        FROM information_schema.PROCESSLIST WHERE ${inDatabase('DB', name)} AND ID <> CONNECTION_ID()`,
    )
    .then((rows) => rows.map(({ id, text, busy }) => ({ id: Number(id), text, busy: Number(busy) === 1 })));
}

export async function endSession(server: MysqlSession, id: number): Promise<void> {
  await server.execute(`KILL ${Number(id)}`).catch(() => {});
}

/** Seconds that a DROP waits for transactions; the server's default is a day or more. */
const DROP_WAIT = 10;

/**
 * Ends the sessions on the database, which would delay the drop. The mark is dropped last, so that an interrupted
 * drop leaves a marked database.
 */
export async function dropDatabase(server: MysqlSession, name: string): Promise<void> {
  for (const { id } of await findSessions(server, name)) await endSession(server, id);
  await server.execute(`SET SESSION lock_wait_timeout = ${DROP_WAIT}, foreign_key_checks = 0`);
  await dropListed(server, await listCode(server, name), name);
  const others = (await tablesOf(server, name)).filter((table) => !isReserved(table));
  if (others.length > 0) {
    const paths = others.map((table) => quotePath(name, table));
    await server.execute(`DROP TABLE IF EXISTS ${paths.join(', ')}`);
  }
  await server.execute(`DROP DATABASE IF EXISTS ${quoteName(name)}`);
}

export async function dropEmpty(server: MysqlSession, name: string): Promise<void> {
  if (await isEmpty(server, name)) await server.execute(`DROP DATABASE IF EXISTS ${quoteName(name)}`);
}

export async function isEmpty(server: MysqlSession, name: string): Promise<boolean> {
  const [row] = await server.query<{ objects: number }>(`
    SELECT (SELECT COUNT(*) FROM information_schema.TABLES WHERE ${inDatabase('TABLE_SCHEMA', name)})
      + (SELECT COUNT(*) FROM information_schema.ROUTINES WHERE ${inDatabase('ROUTINE_SCHEMA', name)})
      + (SELECT COUNT(*) FROM information_schema.EVENTS WHERE ${inDatabase('EVENT_SCHEMA', name)}) AS objects`);
  return Number(row?.objects) === 0;
}
