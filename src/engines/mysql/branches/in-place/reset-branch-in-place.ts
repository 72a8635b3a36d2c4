import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { BranchReset } from '../../../facets/branch.ts';
import type { InPlaceChanges } from '../../../facets/reset.ts';
import { closedBase } from '../../../shared/base-copies.ts';
import { branchReplaced, findBranchToReset, RESET_BY_COPY } from '../../../shared/branches.ts';
import { prepareSession } from '../../../shared/connection/prepare-session.ts';
import { keepBranchOpen } from '../../../shared/keep-branch-open.ts';
import { connectToServer } from '../../connection/connect.ts';
import { withExplainedErrors } from '../../connection/explain-errors.ts';
import { MARK, quotePath, quoteText } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { ConnectionLost } from '../../connection/session-errors.ts';
import { withDatabase } from '../../connection/url.ts';
import { lockDestination, unlockDestination } from '../../server/server.ts';
import { SETTINGS } from '../../swap/row-exchange.ts';
import { findBaseCopies } from '../base/base-copies.ts';
import { branchMarkText } from '../branch-mark.ts';
import { findBranches, type MarkedBranch } from '../list.ts';
import { exchangeRows, openResetSession, type RowExchange } from './reset-in-place.ts';
import { recordUnwrittenBranch, type Unwritten, unwrittenOf } from './unwritten-tables.ts';

interface BranchInPlace extends Pick<RowExchange, 'server' | 'seen' | 'keep'> {
  /** The destination. */
  url: DatabaseUrl;
  /** Its database, whose lock the session on the server gets. */
  database: string;
  accept: BranchReset['accept'];
  /** Finds the branch under the lock; rejects for another one. */
  find: () => Promise<MarkedBranch>;
  /** Opens a session of the branch, or returns the one that stays open. */
  open: () => Promise<MysqlSession>;
}

/** Makes a branch equal to its base copy, or resolves with the reason why it is unchanged. */
export async function resetBranchInPlace(
  context: EngineContext,
  { url, database, server, seen, keep, accept, find, open }: BranchInPlace,
): Promise<InPlaceChanges | string> {
  const destination = url.database ?? '';
  await lockDestination(server, database);
  const { mark, ...found } = await find();
  if (found.database !== database) throw branchReplaced(found.name);
  const base = closedBase(await findBaseCopies(server, destination), url);
  accept(base);
  if (mark.loaded_at !== base.loadedAt || mark.snapshot !== base.snapshot) return RESET_BY_COPY.another;
  const reset = { database, destination, base };
  const changes = await exchangeRows(context, { server, session: await open(), reset, seen, keep });
  if (typeof changes === 'string') return changes;
  const comment = branchMarkText({ ...mark, reset_at: context.clock().toISOString() });
  await server.execute(`ALTER TABLE ${quotePath(database, MARK)} COMMENT = ${quoteText(comment)}`);
  await unlockDestination(server, database);
  return changes;
}

/** Resets a branch by sessions of its own. */
export async function tryBranchInPlace(
  context: EngineContext,
  branch: Pick<BranchInPlace, 'url' | 'database' | 'accept'> & {
    find: (server: MysqlSession) => Promise<MarkedBranch>;
  },
): Promise<InPlaceChanges | string> {
  const { url, database, accept, find } = branch;
  const destination = url.database ?? '';
  await using server = await openServer(context, url);
  await using opened = new AsyncDisposableStack();
  return await resetBranchInPlace(context, {
    ...{ url, database, server, seen: null, accept, find: () => find(server) },
    keep: ({ base, id, branch }, states) =>
      recordUnwrittenBranch(server, { destination, database: base, base: id, branch, states }),
    open: async () => opened.use(await openResetSession(context, withDatabase(url, database))),
  });
}

async function openServer(context: EngineContext, url: DatabaseUrl): Promise<MysqlSession> {
  const server = await connectToServer(context, url, { several: true });
  // Its own statements wait no longer either.
  return prepareSession(server, (session) => session.execute(SETTINGS));
}

export async function openBranchReset(context: EngineContext, { url, name }: { url: DatabaseUrl; name: string }) {
  const destination = url.database ?? '';
  let server: MysqlSession | null = null;
  let session: MysqlSession | null = null;
  let seen: Unwritten | null = null;
  const find = async (on: MysqlSession, createdAt: BranchReset['createdAt']): Promise<MarkedBranch> =>
    findBranchToReset(await findBranches(on, destination), { name, url, createdAt });
  return keepBranchOpen({
    isOpen: () => server !== null,
    isLost: (error) => error instanceof ConnectionLost,
    explained: (work) => withExplainedErrors({ context, url }, work),
    async close() {
      const open = [session?.close(), server?.close()];
      [server, session] = [null, null];
      await Promise.allSettled(open);
    },
    async reset({ createdAt, accept }) {
      server ??= await openServer(context, url);
      const own = server;
      const { database } = await find(own, createdAt);
      return resetBranchInPlace(context, {
        ...{ url, database, server: own, seen, accept, find: () => find(own, createdAt) },
        async keep({ id }, states) {
          seen = unwrittenOf(id, states);
        },
        async open() {
          session ??= await openResetSession(context, withDatabase(url, database));
          return session;
        },
      });
    },
  });
}
