import type { DatabaseUrl } from '../../database-url.ts';
import type { BaseCopy } from '../../facets/copies.ts';
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
