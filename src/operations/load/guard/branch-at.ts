import type { Branch } from '../../../engines/facets/copies.ts';
import { type Database, openDatabase } from '../../../engines/open-database.ts';
import { headlineOf } from '../../../repository/headlines/headline.ts';
import type { Manifest } from '../../../repository/manifest/manifest.ts';
import type { Context } from '../../../runtime/context.ts';
import { EXIT, UserError } from '../../../runtime/errors.ts';
import { shell } from '../../../text/shell-word.ts';
import { assertPublishable } from '../../sanitize/ledger/ledger-gate.ts';
import { isSanitized, trustedKeysOf } from '../../snapshots/signatures.ts';
import { findSnapshot } from '../../snapshots/snapshots.ts';
import { findDestinationUrl } from '../configured-destination.ts';
import { createAddressComparison } from './guard.ts';

/** Finds the branch that a destination is: one that has its name at present, or the database of one that `--destdb` names. */
export async function findBranchAt(
  context: Context,
  { database, destdb }: { database: Database; destdb: string | undefined },
): Promise<Branch | null> {
  const current = (await database.branches.list().catch(unlessNoAccess)).find((branch) => branch.current);
  if (current || destdb === undefined) return current ?? null;
  const { engine, url } = database;
  const same = createAddressComparison(context, url);
  for (const name of Object.keys(context.configuration.settings.targets)) {
    const other = findDestinationUrl(context.configuration, name);
    if (!other || other.engine !== url.engine) continue;
    if (!(await same(engine.withDatabase(other, url.database ?? '')))) continue;
    const branches = await openDatabase(context, other).branches.list().catch(unlessNoAccess);
    const found = branches.find((branch) => branch.database === url.database);
    if (found) return found;
  }
  return null;
}

/** A role that may connect to the destination only lists no branches, and can make none. */
function unlessNoAccess(thrown: unknown): Branch[] {
  if (thrown instanceof UserError && thrown.exit === EXIT.unreachable) return [];
  throw thrown;
}

/** Refuses to replace the content of a branch that is protected. */
export function assertDestinationUnprotected(branch: Branch | null): void {
  if (!branch?.isProtected) return;
  throw new UserError('branch_protected', `The destination is the protected branch "${branch.name}" at present`, {
    hint: 'Give the destination another branch first (tool branch switch), or undo the switch (tool undo).',
  });
}

/**
 * Refuses to add rows of an original to the branch of an agent: the mark of the branch would still name the sanitized
 * snapshot that it was made from, and the agent may read the branch.
 */
export async function assertNoAgentReads(
  context: Context,
  { target, branch, manifest }: { target: string; branch: Branch | null; manifest: Manifest },
): Promise<void> {
  if (!branch?.owner) return;
  const made = await findOrigin(context, target, manifest);
  if (made && isSanitized(headlineOf(made), trustedKeysOf(context))) {
    await assertPublishable(context, { manifest: made, sanitized: true });
    return;
  }
  throw new UserError(
    'originals_not_allowed',
    `The destination is branch "${branch.name}" of ${branch.owner} at present, which could read the rows of the original ${manifest.id} there`,
    {
      hint: `Choose a sanitized snapshot, or give the destination another branch first: ${shell`tool branch switch ${target}`}`,
    },
  );
}

/** A save of a branch has the data of the snapshot that the branch was made from; that of any other save is unknown. */
async function findOrigin(context: Context, target: string, manifest: Manifest): Promise<Manifest | null> {
  if (!manifest.branch) return manifest;
  const { snapshot } = manifest.branch;
  return snapshot === null
    ? null
    : ((await findSnapshot(context, { target, snapshot }).catch(() => null))?.manifest ?? null);
}
