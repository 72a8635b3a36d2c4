import type { EngineContext } from '../../engine-context.ts';
import type { RestoreRun } from '../../facets/restore.ts';
import { branchReplaced, databaseTaken, newBranchFacts } from '../../shared/branches.ts';
import { readOid } from '../server/server.ts';
import { branchMarkText, parseBranchMark } from '../swap/mark.ts';
import { databaseExists, type NewComment, readComment } from '../swap/swap.ts';
import { readSessions } from './base-copies.ts';
import { branchComment } from './copy.ts';

/** The mark of a branch for its new content; `undefined` of a destination, which keeps its comment. */
export function restoredBranchComment(
  { clock }: EngineContext,
  { url, branch }: Pick<RestoreRun, 'url' | 'branch'>,
): NewComment | undefined {
  if (!branch) return;
  const { of, name, createdAt, snapshot, creation } = branch;
  if (creation) {
    return async (server, shadow) => {
      if (await databaseExists(server, creation.database)) throw databaseTaken(creation.database, name);
      const { database } = creation;
      const facts = { ...newBranchFacts({ ...creation, name, createdAt }), database, cloned: false };
      const base = { snapshot, loadedAt: '', partial: false };
      return branchComment(server, { destination: of, database: shadow, base, branch: facts });
    };
  }
  return async (server, shadow) => {
    const present = parseBranchMark((await readComment(server, url.database ?? ''))?.comment ?? null);
    // Switched to, dropped or made again meanwhile.
    if (present?.of !== of || present.branch.name !== name) throw branchReplaced(name);
    if (present.branch.created_at !== createdAt) throw branchReplaced(name);
    const { tool: _, replaced_at: __, comment: ___, ...mark } = present;
    return branchMarkText({
      ...{ ...mark, snapshot, partial: false, former_oid: null, destination_oid: await readOid(server, shadow) },
      branch: {
        ...{ ...present.branch, cloned: false, switched_at: null, previous: null },
        ...{ reset_at: clock().toISOString(), sessions: await readSessions(server, shadow) },
      },
    });
  };
}
