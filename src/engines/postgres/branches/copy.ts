import type { DatabaseUrl } from '../../database-url.ts';
import type { BaseCopy, BranchOrigin, NewBranch } from '../../facets/copies.ts';
import { closedBase } from '../../shared/base-copies.ts';
import type { PostgresSession } from '../connection/session.ts';
import { readOid } from '../server/server.ts';
import { type BranchFacts, branchMarkText } from '../swap/mark.ts';
import { findBaseCopies, readSessions } from './base-copies.ts';

/** The base copy of a destination that branches are made from; rejects where there is none, or it may have been changed. */
export async function findClosedBase(server: PostgresSession, url: DatabaseUrl): Promise<BaseCopy> {
  return closedBase(await findBaseCopies(server, url.database ?? ''), url);
}

export interface BranchMarkRequest {
  destination: string;
  /** The copy, by its present name. */
  database: string;
  /** The origin of the copy. */
  base: Pick<BaseCopy, 'snapshot' | 'loadedAt' | 'partial'>;
  branch: Omit<BranchFacts, 'sessions'>;
}

interface CreatedBranch extends NewBranch {
  name: string;
  createdAt: string;
  origin?: BranchOrigin;
}

/** The facts of a branch that nobody has reset or switched to yet. */
export function newBranchFacts(created: CreatedBranch): Omit<BranchFacts, 'sessions'> {
  const { name, createdAt, database, repository, gitBranch, origin = null } = created;
  const { owner = null, tree = null, expiresAt = null, isProtected = false } = created;
  return {
    ...{ name, database, repository, git_branch: gitBranch, owner, tree, origin },
    ...{ expires_at: expiresAt, protected: isProtected, created_at: createdAt },
    ...{ cloned: false, reset_at: null, switched_at: null, previous: null },
  };
}

/** The comment that marks a new copy of the base copy as a branch. */
export async function branchComment(
  server: PostgresSession,
  { destination, database, base, branch }: BranchMarkRequest,
): Promise<string> {
  return branchMarkText({
    of: destination,
    snapshot: base.snapshot,
    loaded_at: base.loadedAt,
    partial: base.partial,
    destination_oid: await readOid(server, database),
    former_oid: null,
    branch: { ...branch, sessions: await readSessions(server, database) },
  });
}
