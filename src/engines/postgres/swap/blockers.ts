import type { WarningEvent } from '../../../results/events.ts';
import { UserError } from '../../../runtime/errors.ts';
import { baseNameTaken, undoNameTaken } from '../../shared/auxiliary-names.ts';
import { quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import { auxiliaryNames, findAuxiliaryDatabases } from '../server/server.ts';

interface Blocker {
  database: string;
  what: string;
  /** The database cannot even be renamed; otherwise only dropping it is impossible. */
  renaming: boolean;
}

/**
 * Finds objects that keep databases from being renamed or dropped, although no client is connected. PostgreSQL 13 shows
 * the number of a subscription to superusers only.
 */
async function findBlockers(server: PostgresSession, databases: string[]): Promise<Blocker[]> {
  const list = databases.map(quoteText).join(', ');
  return server.query<Blocker>(`
    SELECT database, format('the prepared transaction %L', gid) AS what, true AS renaming
    FROM pg_prepared_xacts WHERE database IN (${list})
    UNION ALL
    SELECT database, format('the active replication slot %L', slot_name), true
    FROM pg_replication_slots WHERE active AND database IN (${list})
    UNION ALL
    SELECT d.datname, format('the subscription %L', s.subname), EXISTS (
      SELECT FROM pg_stat_subscription w JOIN pg_stat_activity a ON a.pid = w.pid
      WHERE w.subname = s.subname AND a.datname = d.datname)
    FROM pg_database d JOIN pg_subscription s ON s.subdbid = d.oid
    WHERE d.datname IN (${list})
    UNION ALL
    SELECT datname, 'its mark as a template', false FROM pg_database WHERE datistemplate AND datname IN (${list})`);
}

export interface SwapCheck {
  destination: string;
  /** Keeps the replaced database. */
  undo: boolean;
  /** Keeps a base copy or a spare. */
  base?: boolean;
}

/**
 * Rejects where a swap would fail in the end, after hours; returns warnings of databases that cannot be dropped then.
 * Also names databases that look like the program's own, but carry no mark.
 */
export async function checkSwap(server: PostgresSession, { destination, undo, base = false }: SwapCheck) {
  const names = auxiliaryNames(destination);
  const auxiliary = await findAuxiliaryDatabases(server, destination);
  const exists = (await server.query(`SELECT FROM pg_database WHERE datname = ${quoteText(destination)}`)).length > 0;
  if (exists && auxiliary.foreign.includes(names.undo)) throw undoNameTaken(names.undo, destination);
  const taken = base && [names.base, names.spare].find((name) => auxiliary.foreign.includes(name));
  if (taken) throw baseNameTaken(taken, destination);
  const lasting = [exists ? auxiliary.undo : null, auxiliary.base, auxiliary.spare].flatMap((one) => one?.name ?? []);
  const renamed = [...(exists ? [destination] : []), ...lasting];
  const dropped = [
    ...lasting,
    ...auxiliary.leftovers.map(({ name }) => name),
    ...(exists && !undo ? [destination] : []),
  ];
  const involved = [...new Set([...renamed, ...dropped])];
  const blockers = involved.length > 0 ? await findBlockers(server, involved) : [];
  const stops = blockers.filter(({ database, renaming }) => renaming && renamed.includes(database));
  if (stops.length > 0) throw cannotRename(destination, stops);
  return [
    ...blockers
      .filter(({ database }) => dropped.includes(database))
      .map(({ database, what }) => leftover(`${database} cannot be dropped because of ${what}: it is kept`)),
    ...auxiliary.foreign
      .filter((name) => name.startsWith(names.prefix))
      .map((name) => leftover(`${name} has the name of a shadow database, but not its mark: it is kept`)),
  ];
}

function leftover(message: string): WarningEvent {
  return { event: 'warning', code: 'leftover', message };
}

function cannotRename(destination: string, stops: Blocker[]): UserError {
  return new UserError('swap_blocked', `The database "${destination}" cannot be swapped`, {
    details: stops.map(({ database, what }) => `${database} cannot be renamed because of ${what}`),
    hint: 'End it first: COMMIT PREPARED or ROLLBACK PREPARED; ALTER SUBSCRIPTION … DISABLE; stop what reads the replication slot.',
  });
}
