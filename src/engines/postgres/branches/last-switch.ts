import type { PostgresSession } from '../connection/session.ts';
import type { AuxiliaryDatabases } from '../server/server.ts';
import { readOid } from '../server/server.ts';
import { type BranchMark, branchMarkText, parseBranchMark, writeComment } from '../swap/mark.ts';
import { databaseExists, readComment, rename } from '../swap/swap.ts';
import { findBranches } from './list.ts';

/** The mark of the destination where it is a branch whose own name is free. */
export async function branchWithFreeName(
  server: PostgresSession,
  { destination, comment }: { destination: string; comment: string | null },
): Promise<BranchMark | null> {
  const mark = parseBranchMark(comment);
  if (mark?.of !== destination || (await databaseExists(server, mark.branch.database))) return null;
  return mark;
}

/** Gives a branch its own name again. */
export function leaveStatements(destination: string, mark: BranchMark): string[] {
  const left = branchMarkText({ ...mark, branch: { ...mark.branch, switched_at: null, previous: null } });
  return [rename(destination, mark.branch.database), writeComment(mark.branch.database, left)];
}

export interface LastSwitch {
  /** Mark of the branch that has the destination's name. */
  mark: BranchMark;
  /** The database that had it before: another branch, or the undo copy. */
  before: { database: string; comment: string | null };
}

/** The switch that an undo reverts; `null` where the last change of the destination was none, or cannot be reverted. */
export async function lastSwitch(
  server: PostgresSession,
  destination: string,
  { undo }: Pick<AuxiliaryDatabases, 'undo'>,
): Promise<LastSwitch | null> {
  const present = await readComment(server, destination);
  const mark = present && (await branchWithFreeName(server, { destination, comment: present.comment }));
  const { switched_at, previous } = mark?.branch ?? {};
  if (!mark || !switched_at || mark.destination_oid !== (await readOid(server, destination))) return null;
  if (undo && Date.parse(undo.mark.replaced_at) > Date.parse(switched_at)) return null;
  if (previous === null) return undo && { mark, before: { database: undo.name, comment: undo.mark.comment } };
  const branch = (await findBranches(server, destination)).find(({ name }) => name === previous);
  if (!branch) return null;
  const comment = (await readComment(server, branch.database))?.comment ?? null;
  return { mark, before: { database: branch.database, comment } };
}
