import type { Report } from '../../../runtime/events.ts';
import type { PostgresSession } from '../connection/session.ts';
import { auxiliaryNames, sweepLeftovers, tryLock } from '../server/server.ts';
import { findBranches } from './list.ts';

/** Drops what killed returns of branches to their saves have left; what is in use stays. */
export async function sweepBranches(server: PostgresSession, destination: string, report: Report): Promise<void> {
  const rows = await server.query<{ name: string }>(
    `SELECT datname AS name FROM pg_database WHERE datname LIKE '%.tool-new-%'`,
  );
  if (rows.length === 0) return;
  for (const { database } of await findBranches(server, destination)) {
    const { prefix } = auxiliaryNames(database);
    if (!rows.some(({ name }) => name.startsWith(prefix))) continue;
    await tryLock(server, database, () => sweepLeftovers(server, database, report));
  }
}
