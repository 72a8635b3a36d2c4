import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { BranchReset, OpenBranchReset } from '../../../facets/branch.ts';
import type { InPlaceChanges } from '../../../facets/reset.ts';
import { closedBase } from '../../../shared/base-copies.ts';
import {
  branchIsCurrent,
  branchProtected,
  branchReplaced,
  findBranch,
  RESET_BY_COPY,
} from '../../../shared/branches.ts';
import { prepareSession } from '../../../shared/run-together.ts';
import { connectToServer } from '../../connection/connect.ts';
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
  {
    url,
    database,
    accept,
    find,
  }: Pick<BranchInPlace, 'url' | 'database' | 'accept'> & { find: (server: MysqlSession) => Promise<MarkedBranch> },
): Promise<InPlaceChanges | string> {
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

/** Resets a branch with sessions that stay open. After a failure both are opened anew; at once where idle ones were lost. */
export async function keepBranchOpen(
  context: EngineContext,
  { url, name }: { url: DatabaseUrl; name: string },
): Promise<OpenBranchReset> {
  const destination = url.database ?? '';
  let server: MysqlSession | null = null;
  let session: MysqlSession | null = null;
  let seen: Unwritten | null = null;
  const close = async (): Promise<void> => {
    const open = [session?.close(), server?.close()];
    [server, session] = [null, null];
    await Promise.allSettled(open);
  };
  const find = async (on: MysqlSession, createdAt: BranchReset['createdAt']): Promise<MarkedBranch> => {
    const found = findBranch(await findBranches(on, destination), { name, url });
    if (found.createdAt !== createdAt) throw branchReplaced(name);
    if (found.current) throw branchIsCurrent(name, url);
    if (found.isProtected) throw branchProtected(name);
    return found;
  };
  const reset: OpenBranchReset['reset'] = async ({ createdAt, accept }) => {
    try {
      server ??= await openServer(context, url);
      const own = server;
      const { database } = await find(own, createdAt);
      const done = await resetBranchInPlace(context, {
        ...{ url, database, server: own, seen, accept, find: () => find(own, createdAt) },
        async keep({ id }, states) {
          seen = unwrittenOf(id, states);
        },
        async open() {
          session ??= await openResetSession(context, withDatabase(url, database));
          return session;
        },
      });
      if (typeof done === 'string') await close();
      return done;
    } catch (error) {
      await close();
      throw error;
    }
  };
  return {
    reset: (given) => {
      const isKept = server !== null;
      return reset(given).catch((error) => {
        if (!isKept || !(error instanceof ConnectionLost)) throw error;
        return reset(given);
      });
    },
    [Symbol.asyncDispose]: close,
  };
}
