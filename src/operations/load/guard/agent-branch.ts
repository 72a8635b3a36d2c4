import type { Database } from '../../../engines/open-database.ts';
import { headlineOf } from '../../../repository/headlines/headline.ts';
import type { Manifest } from '../../../repository/manifest/manifest.ts';
import type { Context } from '../../../runtime/context.ts';
import { UserError } from '../../../runtime/errors.ts';
import { isSanitized, trustedKeysOf } from '../../snapshots/signatures.ts';
import { findSnapshot } from '../../snapshots/snapshots.ts';

/**
 * Refuses to add rows of an original to the destination while it is the branch of an agent: the mark of the branch would
 * still name the sanitized snapshot that it was made from, and the agent may read the branch.
 */
export async function assertNoAgentReads(
  context: Context,
  { target, database, manifest }: { target: string; database: Database; manifest: Manifest },
): Promise<void> {
  const branches = await database.branches.list();
  const branch = branches.find(({ current, owner }) => current && owner);
  if (!branch || (await hasSanitizedData(context, target, manifest))) return;
  throw new UserError(
    'originals_not_allowed',
    `The destination is branch "${branch.name}" of ${branch.owner} at present, which could read the rows of the original ${manifest.id} there`,
    { hint: `Choose a sanitized snapshot, or give the destination another branch first: tool branch switch ${target}` },
  );
}

/** A save of a branch has the data of the snapshot that the branch was made from; that of any other save is unknown. */
async function hasSanitizedData(context: Context, target: string, manifest: Manifest): Promise<boolean> {
  if (!manifest.branch) return isSanitized(headlineOf(manifest), trustedKeysOf(context));
  const { snapshot } = manifest.branch;
  const made = snapshot === null ? null : await findSnapshot(context, { target, snapshot }).catch(() => null);
  return made !== null && isSanitized(headlineOf(made.manifest), trustedKeysOf(context));
}
