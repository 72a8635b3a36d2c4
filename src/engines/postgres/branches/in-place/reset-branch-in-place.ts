import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { BranchReset } from '../../../facets/branch.ts';
import type { BaseCopy } from '../../../facets/copies.ts';
import type { InPlaceChanges } from '../../../facets/reset.ts';
import { branchReplaced, findBranchToReset, RESET_BY_COPY } from '../../../shared/branches.ts';
import { keepBranchOpen } from '../../../shared/keep-branch-open.ts';
import { withExplainedErrors } from '../../connection/explain-errors.ts';
import { quoteText } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import { ConnectionLost } from '../../connection/session-errors.ts';
import { withDatabase } from '../../connection/url.ts';
import { openReaders, type Readers } from '../../dump/unchanged/readers.ts';
import {
  findAuxiliaryDatabases,
  lockDestination,
  lockShared,
  lockWithoutSweep,
  unlockAll,
} from '../../server/server.ts';
import { branchMarkText, writeComment } from '../../swap/mark.ts';
import { openSwapSession } from '../../swap/swap-session.ts';
import { findClosedBase } from '../copy.ts';
import { findBranches, type MarkedBranch } from '../list.ts';
import type { RestoredTables } from './changed-versions.ts';
import { SETTINGS } from './open-base.ts';
import { exchangeRows } from './reset-in-place.ts';

export interface LockedBranch {
  /** The destination. */
  url: DatabaseUrl;
  branch: MarkedBranch;
  base: BaseCopy;
  /** Holds the lock of the branch. */
  server: PostgresSession;
  /** Given if the sessions of the branch stay open. */
  kept?: RestoredTables;
}

/** Makes a branch equal to its base copy, or resolves with the reason why it is unchanged. */
export async function resetBranchInPlace(
  context: EngineContext,
  { url, branch, base, server, kept }: LockedBranch,
  openBranch: () => Promise<Readers>,
): Promise<InPlaceChanges | string> {
  const { mark, database } = branch;
  const marked = await findAuxiliaryDatabases(server, url.database ?? '');
  if (!marked.base) return RESET_BY_COPY.another;
  const readers = await openBranch();
  if (!(await isCopyOfBase(readers.session, { branch, base }))) return RESET_BY_COPY.another;
  const changes = await exchangeRows(context, { url, base: marked.base, server, readers, locked: database, kept });
  if (typeof changes === 'string') return changes;
  const facts = { ...mark.branch, reset_at: context.clock().toISOString() };
  const comment = writeComment(database, branchMarkText({ ...mark, branch: facts }));
  await server.transaction(['SET LOCAL synchronous_commit = off', comment]);
  return changes;
}

/** Reports whether the session is in the branch, and that is a copy of the base copy: versions of rows say nothing about other ones. */
export async function isCopyOfBase(
  session: PostgresSession,
  { branch: { mark, database }, base }: Pick<LockedBranch, 'branch' | 'base'>,
): Promise<boolean> {
  if (mark.loaded_at !== base.loadedAt || mark.snapshot !== base.snapshot) return false;
  const [same] = await session.query<{ same: boolean }>(
    `SELECT oid::int8 IS NOT DISTINCT FROM ${quoteText(`${mark.destination_oid ?? 0}`)}::int8 AS same
    FROM pg_database WHERE datname = current_database() AND datname = ${quoteText(database)}`,
  );
  return same?.same ?? false;
}

export function branchReaders(context: EngineContext, url: DatabaseUrl, database: string): Promise<Readers> {
  return openReaders(context, { url: withDatabase(url, database), settings: SETTINGS });
}

/** Resets a branch with sessions that stay open. After a failure all of them are opened anew; at once where idle ones were lost. */
export async function openBranchReset(context: EngineContext, { url, name }: { url: DatabaseUrl; name: string }) {
  const destination = url.database ?? '';
  let server: PostgresSession | null = null;
  let readers: Readers | null = null;
  /** The database of the last reset. */
  let last: string | null = null;
  const kept: RestoredTables = new Map();
  const find = async (on: PostgresSession, createdAt: BranchReset['createdAt']): Promise<MarkedBranch> =>
    findBranchToReset(await findBranches(on, destination), { name, url, createdAt });
  return keepBranchOpen({
    isOpen: () => server !== null,
    isLost: (error) => error instanceof ConnectionLost,
    explained: (work) => withExplainedErrors({ context, url }, work),
    async close() {
      const open = [readers?.[Symbol.asyncDispose](), server?.close()];
      [server, readers] = [null, null];
      kept.clear();
      await Promise.allSettled(open);
    },
    async reset({ createdAt, accept }) {
      server ??= await openSwapSession(context, url);
      if (last === null) await lockShared(server, destination, context.report);
      else await lockWithoutSweep(server, destination);
      const database = last ?? (await find(server, createdAt)).database;
      await lockDestination(server, database);
      const branch = await find(server, createdAt);
      last = branch.database;
      if (branch.database !== database) throw branchReplaced(name);
      const base = await findClosedBase(server, url);
      accept(base);
      const done = await resetBranchInPlace(context, { url, branch, base, server, kept }, async () => {
        readers ??= await branchReaders(context, url, database);
        return readers;
      });
      if (typeof done !== 'string') await unlockAll(server);
      return done;
    },
  });
}
