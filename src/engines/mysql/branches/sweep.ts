import { redact } from '../../../process/redact.ts';
import { EXIT, UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl, EngineContext } from '../../engine.ts';
import { connectToServer } from '../connection/connect.ts';
import { SqlError } from '../connection/session.ts';
import { withDatabase } from '../connection/url.ts';
import { branchesWithLeftovers, readMarkText } from '../restore/beside.ts';
import { parseBranchMark } from '../restore/branch-mark.ts';
import { sweepLeftovers } from '../restore/swap/leftovers.ts';
import { dropDatabase, tryLock } from '../server/server.ts';
import { findMarks } from './list.ts';

/** Settles and drops what killed commands have left of branches of the destination; what is in use stays. */
export async function sweepBranches(context: EngineContext, url: DatabaseUrl): Promise<void> {
  const destination = url.database ?? '';
  await using server = await connectToServer(context, url);
  for (const branch of await branchesWithLeftovers(server, destination)) {
    // A session of its own gives the lock back.
    await using own = await connectToServer(context, url, { several: true });
    if (await tryLock(own, branch)) await sweepLeftovers(context, { server: own, url: withDatabase(url, branch) });
  }
  for (const { database, mark } of await findMarks(server, destination)) {
    if (mark.tool !== 'dropped') continue;
    await using own = await connectToServer(context, url);
    if (!(await tryLock(own, database))) continue;
    const present = await readMarkText(own, database);
    if (present === null || parseBranchMark(present)?.tool !== 'dropped') continue;
    await dropDatabase(own, database).catch((error) => {
      if (!(error instanceof SqlError)) throw error;
      const message = `Could not drop ${database}: ${redact(error.message)}. The next command for branches of ${destination} tries again`;
      context.report({ event: 'warning', code: 'leftover', message });
    });
  }
}

export function branchChanged(name: string): UserError {
  return new UserError(`The database of branch "${name}" was renamed meanwhile`, {
    code: 'plan_outdated',
    exit: EXIT.failed,
    hint: 'Run the command again.',
  });
}
