import * as v from 'valibot';
import { UserError } from '../../runtime/errors.ts';
import { boundedList } from '../../text/bounded-list.ts';
import { shell } from '../../text/shell-word.ts';
import type { DatabaseUrl } from '../database-url.ts';
import type { Branch, BranchOrigin, NewBranch } from '../facets/copies.ts';

export function findBranch<Found extends Branch>(branches: Found[], { name, url }: { name: string; url: DatabaseUrl }) {
  const found = branches.find((branch) => branch.name === name);
  if (found) return found;
  throw new UserError('branch_missing', `${url.display} has no branch "${name}"`, {
    details: branches.length > 0 ? [`Branches: ${namesOf(branches)}`] : [],
    hint: 'List the branches: tool branch list. Create one: tool branch create TARGET NAME',
  });
}

interface PlannedReset {
  name: string;
  url: DatabaseUrl;
  createdAt: string;
}

/** Rejects for another branch of that name, for the one that is the destination, and for a protected one. */
export function findBranchToReset<Found extends Branch>(branches: Found[], planned: PlannedReset): Found {
  const { name, url } = planned;
  const found = findBranch(branches, planned);
  if (found.createdAt !== planned.createdAt) throw branchReplaced(name);
  if (found.current) throw branchIsCurrent(name, url);
  if (found.isProtected) throw branchProtected(name);
  return found;
}

const MOST_LISTED = 20;

function namesOf(branches: Branch[]): string {
  return boundedList(
    branches.map(({ name }) => name),
    MOST_LISTED,
  );
}

export function branchExists(name: string): UserError {
  return new UserError('branch_exists', `Branch "${name}" exists`, {
    hint: `Restore it to the base copy: ${shell`tool branch reset TARGET ${name}`}. Or choose another name.`,
  });
}

export function databaseTaken(database: string, name: string): UserError {
  return new UserError('database_name_taken', `The database "${database}" exists, and is not branch "${name}"`, {
    hint: 'Choose another name for the branch.',
  });
}

export function branchIsCurrent(name: string, url: DatabaseUrl): UserError {
  return new UserError('branch_current', `Branch "${name}" is ${url.display} at present`, {
    hint: 'Switch to another branch first (tool branch switch), or undo the switch (tool undo).',
  });
}

export function branchProtected(name: string): UserError {
  return new UserError('branch_protected', `Branch "${name}" is protected`, {
    hint: 'Use another branch, or add --unprotect where a command resets or drops it.',
  });
}

export function branchReplaced(name: string): UserError {
  return new UserError('plan_outdated', `Branch "${name}" was dropped, renamed or created again meanwhile`, {
    hint: 'Run the command again.',
  });
}

/** Reasons for which a branch is replaced, and not reset in place. */
export const RESET_BY_COPY = {
  wanted: '--copy was given',
  current: 'its present state is kept as the undo copy',
  another: 'it is no copy of the present base copy',
};

/** Returns what the mark of a new branch records, before any reset or switch. */
export function newBranchFacts(
  created: Omit<NewBranch, 'database'> & { name: string; createdAt: string; origin?: BranchOrigin | null },
) {
  const { name, createdAt, repository, gitBranch, origin = null } = created;
  const { owner = null, tree = null, expiresAt = null, isProtected = false } = created;
  return {
    ...{ name, repository, git_branch: gitBranch, owner, tree, origin },
    ...{ expires_at: expiresAt, protected: isProtected, created_at: createdAt },
    ...{ reset_at: null, switched_at: null, previous: null },
  };
}

const nullable = v.optional(v.nullable(v.string()), null);

/** The mark of a branch has these on every engine. */
export const BRANCH_ENTRIES = {
  name: v.string(),
  created_at: v.string(),
  reset_at: nullable,
  repository: nullable,
  git_branch: nullable,
  /** The agent that created it; `null` for a person. */
  owner: nullable,
  /** Token of the git working tree that it belongs to. */
  tree: nullable,
  expires_at: nullable,
  protected: v.optional(v.boolean(), false),
  /** Another branch, and the save of it with the content of this one; `null`: the base copy. */
  origin: v.optional(v.nullable(v.object({ branch: v.string(), save: v.string() })), null),
  /** Time of the switch of the destination to it, and the branch that it was before; `null` for none. */
  switched_at: nullable,
  previous: nullable,
};
