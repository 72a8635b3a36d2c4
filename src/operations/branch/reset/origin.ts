import type { Branch } from '../../../engines/facets/copies.ts';
import type { Context } from '../../../runtime/context.ts';
import { UserError } from '../../../runtime/errors.ts';
import { findLoadableSave } from '../../save/saves.ts';
import { restoreSave } from '../create/from-branch.ts';
import type { OpenedBranches } from '../open-branches.ts';

interface OfOrigin {
  target: string;
  owner?: string | undefined;
}

/** Finds the saves that branches were made from, to which a reset returns them. Throws where one is gone. */
export async function assertOrigins(
  { context }: Pick<OpenedBranches, 'context'>,
  { target, owner }: OfOrigin,
  branches: Branch[],
): Promise<void> {
  for (const { name, origin } of branches) {
    if (!origin) continue;
    await findLoadableSave(context, { target, id: origin.save, branch: origin.branch, owner }).catch((error) => {
      throw error instanceof UserError && error.code === 'save_missing' ? originGone(target, name, error) : error;
    });
  }
}

/** Returns a branch to the save that it was made from. */
export function resetToOrigin(
  context: Context,
  { target, owner }: OfOrigin,
  { name, origin }: { name: string; origin: NonNullable<Branch['origin']> },
): Promise<{ swapMs: number | null }> {
  return restoreSave(context, { target, owner, branch: name, save: origin.save, saveOf: origin.branch });
}

function originGone(target: string, name: string, cause: UserError): UserError {
  return new UserError('save_missing', `This machine no longer has the save that branch "${name}" was made from`, {
    hint: `Return to a save of the branch (tool back ${target} --branch ${name}), or drop it and create it again`,
    cause,
  });
}
