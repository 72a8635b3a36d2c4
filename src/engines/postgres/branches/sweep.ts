import type { Report } from '../../../runtime/events.ts';
import type { PostgresSession } from '../connection/session.ts';
import { auxiliaryNames, sweepLeftovers, tryLock } from '../server/server.ts';
import { newBranchOf } from '../swap/mark.ts';
import { findBranches } from './list.ts';

/** Drops what killed returns of branches to saves, and killed creations from saves, have left; what is in use stays. */
export async function sweepBranches(server: PostgresSession, destination: string, report: Report): Promise<void> {
  const rows = await server.query<{ name: string; comment: string | null }>(
    `SELECT datname AS name, shobj_description(oid, 'pg_database') AS comment FROM pg_database WHERE datname LIKE '%.tool-new-%'`,
  );
  if (rows.length === 0) return;
  const branches = (await findBranches(server, destination)).map(({ database }) => database);
  const hasRemains = (database: string): boolean =>
    rows.some(({ name }) => name.startsWith(auxiliaryNames(database).prefix));
  const uncreated = rows.flatMap(({ comment }) => newBranchOf(comment, destination) ?? []);
  for (const database of new Set([...branches.filter(hasRemains), ...uncreated])) {
    await tryLock(server, database, () => sweepLeftovers(server, database, report));
  }
}
