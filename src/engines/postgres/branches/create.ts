import type { Report } from '../../../runtime/events.ts';
import { startStep } from '../../../runtime/events.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { BranchCreation } from '../../facets/branch.ts';
import { closedBase, usableSpare } from '../../shared/base-copies.ts';
import { branchExists, databaseTaken, newBranchFacts } from '../../shared/branches.ts';
import type { PostgresSession } from '../connection/session.ts';
import { SqlError } from '../connection/session-errors.ts';
import { auxiliaryNames, lockShared, sweepLeftovers, tryLock, verifyLock } from '../server/server.ts';
import { dropAfterFailure } from '../swap/drop-after-failure.ts';
import { inherit, readBefore } from '../swap/inherit.ts';
import { newBranchOf, writeComment } from '../swap/mark.ts';
import { databaseExists, rename } from '../swap/swap.ts';
import { openSwapSession } from '../swap/swap-session.ts';
import { findBaseCopies, newFromBase } from './base-copies.ts';
import { branchComment } from './copy.ts';
import { findBranches } from './list.ts';

/** `duplicate_database`: another destination's branch got the name meanwhile. */
const EXISTS = '42P04';

/** A branch is complete, with its name and mark, or absent: both come in one transaction, after the copy. */
export async function createBranch(context: EngineContext, creation: BranchCreation): Promise<void> {
  const { url, name, database, role, accept, inTurn, mayTakeSpare = false } = creation;
  const destination = url.database ?? '';
  await using server = await openSwapSession(context, url);
  const made = startStep(context.report, `branch ${name}`, `Create branch ${name} as ${database}`);
  await lockShared(server, destination, context.report);
  await sweepBranches(server, destination, context.report);
  const copies = await findBaseCopies(server, destination);
  const base = closedBase(copies, url);
  const spare = mayTakeSpare ? usableSpare(copies) : null;
  accept(base);
  if ((await findBranches(server, destination)).some((each) => each.name === name)) throw branchExists(name);
  if (await databaseExists(server, database)) throw databaseTaken(database, name);
  const shadow = auxiliaryNames(destination).shadow();
  const from = (await databaseExists(server, destination)) ? destination : null;
  // Read while the base copy is copied.
  const before = from === null ? undefined : readBefore(context, url);
  before?.catch(() => {});
  try {
    const cloned = await inTurn(() => newFromBase(context, server, { url, base, spare, to: shadow }));
    await inherit(context, server, { from, to: shadow, url, settings: [], role, copied: true, before });
    context.signal.throwIfAborted();
    const createdAt = context.clock().toISOString();
    const branch = { ...newBranchFacts({ ...creation, createdAt }), database, cloned };
    const comment = await branchComment(server, { destination, database: shadow, base, branch });
    await verifyLock(server, destination);
    await server.transaction([
      'SET LOCAL synchronous_commit = on',
      rename(shadow, database),
      writeComment(database, comment),
    ]);
  } catch (error) {
    await dropAfterFailure(context, { url, names: [shadow] });
    if (error instanceof SqlError && error.sqlstate === EXISTS) throw databaseTaken(database, name);
    throw error;
  }
  made(`Created branch ${name} as ${database}`);
}

/** Drops what killed returns of branches to saves, and killed creations from saves, have left; what is in use stays. */
async function sweepBranches(server: PostgresSession, destination: string, report: Report): Promise<void> {
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
