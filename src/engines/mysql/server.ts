import { EXIT, UserError } from '../../errors.ts';
import type { Collations } from './catalogue.ts';
import { quoteName, quoteText, type Session, SqlError } from './connection/session.ts';
import { besideNames, lockName } from './names.ts';

/** How many seconds a session that has ended, or was killed, may hold its lock until the server has noticed. */
const LOCK_TIMEOUT = 3;

/** One load at a time into a destination: the lock lives as long as the session, so a killed run leaves none. */
export async function lockDestination(server: Session, destination: string): Promise<void> {
  const [row] = await server.query<{ locked: number | null }>(
    `SELECT GET_LOCK(${quoteText(lockName(destination))}, ${LOCK_TIMEOUT}) AS locked`,
  );
  if (row?.locked === 1) return;
  throw new UserError(`Another load into "${destination}" is going on`, {
    code: 'destination_busy',
    exit: EXIT.refused,
    hint: 'Wait for it to end, or stop it; then try again.',
  });
}

/** Databases that loads into the destination have made beside it, by name. */
export async function findBeside(server: Session, destination: string): Promise<string[]> {
  const { prefix } = besideNames(destination);
  const rows = await server.query<{ name: string }>(
    `SELECT SCHEMA_NAME AS name FROM information_schema.SCHEMATA WHERE LEFT(SCHEMA_NAME, ${prefix.length}) = ${quoteText(prefix)} ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

export async function databaseExists(server: Session, name: string): Promise<boolean> {
  const rows = await server.query(`SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ${quoteText(name)}`);
  return rows.length > 0;
}

/** `ER_DBACCESS_DENIED_ERROR`, `ER_SPECIFIC_ACCESS_DENIED_ERROR`, `ER_ACCESS_DENIED_ERROR`. */
const ACCESS_DENIED = new Set([1044, 1227, 1045]);

export async function createDatabase(
  server: Session,
  { name, collations: { charset, collation } }: { name: string; collations: Collations },
): Promise<void> {
  try {
    await server.execute(`CREATE DATABASE ${quoteName(name)} CHARACTER SET ${charset} COLLATE ${collation}`);
  } catch (error) {
    if (!(error instanceof SqlError && ACCESS_DENIED.has(error.errno))) throw error;
    throw new UserError(`The user may not make the database "${name}"`, {
      code: 'may_not_create',
      exit: EXIT.failed,
      details: [error.message],
      hint: `A load needs a second database beside the destination: GRANT ALL ON \`${grantPattern(name)}\`.* TO the user.`,
      cause: error,
    });
  }
}

/** In a GRANT a name is a pattern. */
function grantPattern(name: string): string {
  return `${name.replace(/\.tool-.*$/, '').replaceAll(/[_%\\]/g, '\\$&')}%`;
}

/** Ends what still works on it, which the server otherwise finishes first, and drops it. */
export async function dropDatabase(server: Session, name: string): Promise<void> {
  const sessions = await server.query<{ id: number }>(
    `SELECT ID AS id FROM information_schema.PROCESSLIST WHERE DB = ${quoteText(name)} AND ID <> CONNECTION_ID()`,
  );
  for (const { id } of sessions) await server.execute(`KILL ${id}`).catch(() => {});
  await server.execute('SET foreign_key_checks = 0');
  await server.execute(`DROP DATABASE IF EXISTS ${quoteName(name)}`);
}

/** Drops a database that holds nothing: whoever has filled it since keeps it. */
export async function dropEmpty(server: Session, name: string): Promise<void> {
  const [row] = await server.query<{ objects: number }>(`
    SELECT (SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = ${quoteText(name)})
      + (SELECT COUNT(*) FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = ${quoteText(name)}) AS objects`);
  if (Number(row?.objects) === 0) await server.execute(`DROP DATABASE IF EXISTS ${quoteName(name)}`);
}
