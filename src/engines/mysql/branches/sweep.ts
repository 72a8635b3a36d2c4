import { redact } from '../../../process/redact.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { connectToServer } from '../connection/connect.ts';
import { quoteText } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { ConnectionLost, onRefusal } from '../connection/session-errors.ts';
import { withDatabase } from '../connection/url.ts';
import { databaseExists, dropDatabase, dropEmpty, tryLock } from '../server/server.ts';
import { sweepLeftovers } from '../swap/leftovers.ts';
import { branchesWithLeftovers, listShadowDatabases, readMarkText } from '../swap/shadow-databases.ts';
import { UNDO_COPY } from '../swap/undo-copy.ts';
import { parseBranchMark } from './branch-mark.ts';
import { findBranches, findMarks } from './list.ts';
import { type BranchAddress, unpackBranch } from './pack.ts';

/** Settles and drops what killed commands have left of branches of the destination; what is in use stays. */
export async function sweepBranches(context: EngineContext, url: DatabaseUrl): Promise<void> {
  const destination = url.database ?? '';
  await using server = await connectToServer(context, url);
  const left = (await listShadowDatabases(server, destination)).leftovers.length > 0 ? [destination] : [];
  const branches = (await findBranches(server, destination)).map(({ database }) => database);
  for (const database of [...left, ...(await branchesWithLeftovers(server, { destination, branches }))]) {
    // A session of its own gives the lock back.
    await using own = await connectToServer(context, url, { several: true });
    if (await tryLock(own, database)) await sweepLeftovers(context, { server: own, url: withDatabase(url, database) });
  }
  for (const { database, mark } of await findMarks(server, destination)) {
    if (mark.tool === 'dropped') await sweepDropped(context, { url, database });
    else if (mark.database && mark.database !== database) await sweepEmpty(context, { url, database: mark.database });
  }
  for (const database of await packedBranches(server, destination)) await sweepPacked(context, { url, database });
}

async function sweepDropped(context: EngineContext, { url, database }: BranchAddress): Promise<void> {
  await using own = await connectToServer(context, url);
  if (!(await tryLock(own, database))) return;
  const present = await readMarkText(own, database);
  if (present === null || parseBranchMark(present)?.tool !== 'dropped') return;
  await dropDatabase(own, database).catch(
    onRefusal(({ message }) => warnLeft(context, url, `Could not drop ${database}: ${redact(message)}`)),
  );
}

/** The former place of a branch that is the destination. */
async function sweepEmpty(context: EngineContext, { url, database }: BranchAddress): Promise<void> {
  await using own = await connectToServer(context, url);
  if (!(await databaseExists(own, database)) || !(await tryLock(own, database))) return;
  await dropEmpty(own, database);
}

async function packedBranches(server: MysqlSession, destination: string): Promise<string[]> {
  const branches = (await findBranches(server, destination)).filter(({ current }) => !current);
  const rows = await server.query<{ home: string }>(
    `SELECT TABLE_SCHEMA AS home FROM information_schema.TABLES WHERE TABLE_NAME = ${quoteText(UNDO_COPY)}`,
  );
  const packed = new Set(rows.map(({ home }) => home));
  return branches.map(({ database }) => database).filter((database) => packed.has(database));
}

async function sweepPacked(context: EngineContext, { url, database }: BranchAddress): Promise<void> {
  await using own = await connectToServer(context, url);
  if (!(await tryLock(own, database))) return;
  await unpackBranch(context, own, { url, database }).catch((error) => {
    context.signal.throwIfAborted();
    if (error instanceof ConnectionLost || !(error instanceof Error)) throw error;
    warnLeft(context, url, `Could not recreate the code of ${database}: ${redact(error.message)}`);
  });
}

function warnLeft({ report }: EngineContext, { database }: DatabaseUrl, what: string): void {
  const message = `${what}. The next command for branches of ${database} tries again`;
  report({ event: 'warning', code: 'leftover', message });
}
