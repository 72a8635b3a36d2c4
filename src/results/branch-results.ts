import * as v from 'valibot';
import { databaseCopy } from './database-copies.ts';
import { describe, flag, number, optional, orNull, text, texts, warnings } from './fields.ts';
import { automaticSaves, destinationState, maybeRestoredBy } from './load-results.ts';
import { snapshotRow } from './results.ts';

export const branchRow = v.object({
  name: text,
  database: describe(text, 'Name of the database; that of the destination after a switch.'),
  url: describe(text, 'Without password.'),
  current: describe(flag, "The destination's name leads to it."),
  created_at: text,
  reset_at: orNull(text),
  last_used_at: describe(orNull(text), 'Not used after this time; `null` where the server cannot tell.'),
  clients: describe(number, 'Open sessions.'),
  size_bytes: orNull(number),
  own_bytes: describe(orNull(number), 'Without blocks shared with the base copy; `null` where unknown.'),
  snapshot: describe(orNull(text), 'Id of the snapshot; `null` where another load has replaced the content.'),
  repository: describe(orNull(text), 'The git repository and branch in which it was created.'),
  git_branch: orNull(text),
  tree: describe(orNull(text), 'Folder of the git working tree of this repository that has it.'),
  tree_token: describe(orNull(text), 'Of the working tree that it was created for.'),
  expires_at: describe(orNull(text), '`tool branch prune` drops it from then on.'),
  protected: describe(flag, 'Dropped and reset with --unprotect only.'),
  owner: describe(orNull(text), 'The agent that has created it (tool mcp); `null` for a person.'),
  origin: describe(
    orNull(v.object({ branch: text, save: text })),
    'The branch that it was created from, and the id of the save with its content then; `null`: the base copy.',
  ),
});

export type BranchRow = v.InferOutput<typeof branchRow>;

const targetBranch = v.object({ target: text, ...branchRow.entries });

export type TargetBranch = v.InferOutput<typeof targetBranch>;

export const branchList = v.object({
  branches: v.array(targetBranch),
  errors: describe(v.array(v.object({ target: text, message: text })), 'Targets whose server could not be asked.'),
});

export type BranchList = v.InferOutput<typeof branchList>;

const branchesOfTarget = { target: text, destination: destinationState, unverified_sources: texts };

const branchDatabase = v.object({ name: text, database: text });

export type BranchDatabase = v.InferOutput<typeof branchDatabase>;

export const branchCreatePlan = v.object({
  ...branchesOfTarget,
  base: describe(orNull(databaseCopy), '`null` where it has to be loaded first.'),
  load: describe(orNull(snapshotRow), 'The snapshot to load as the base copy.'),
  from: optional(describe(branchRow, 'The branch whose present state is taken, with --from.')),
  ...maybeRestoredBy,
  branches: v.array(branchDatabase),
  existing: describe(v.array(branchDatabase), 'Left as they are, with --reuse.'),
  needs_bytes: orNull(number),
  git_branch: orNull(text),
  steps: texts,
  warnings,
});

export type BranchCreatePlan = v.InferOutput<typeof branchCreatePlan>;

const createdBranch = v.object({ ...branchDatabase.entries, url: text, created: flag });

export const branchCreateResult = v.object({
  target: text,
  snapshot: orNull(text),
  branches: v.array(createdBranch),
  environment: optional(describe(v.record(text, text), 'URLs with passwords, by variable; with --env, not in JSON.')),
});

export type BranchCreateResult = v.InferOutput<typeof branchCreateResult>;

export interface BranchUrl extends BranchDatabase {
  target: string;
  url: string;
  /** The URL contains the password. */
  password: boolean;
}

export const branchResetPlan = v.object({
  ...branchesOfTarget,
  base: describe(orNull(databaseCopy), '`null` where the branches return to the saves that they were created from.'),
  branches: v.array(branchRow),
  needs_bytes: orNull(number),
  automatic_saves: automaticSaves,
  steps: texts,
  warnings: optional(warnings),
});

export type BranchResetPlan = v.InferOutput<typeof branchResetPlan>;

const branchReset = {
  way: describe(
    v.picklist(['in_place', 'copy', 'restore']),
    '`in_place`: one transaction exchanged the rows that differed; `copy`: a copy of the base copy replaced the branch; `restore`: the save that it was created from was restored.',
  ),
  way_reason: describe(orNull(text), 'Why it was by a copy.'),
};

export const branchResetResult = v.object({
  target: text,
  snapshot: orNull(text),
  branches: v.array(v.object({ ...branchDatabase.entries, ...branchReset, swap_ms: orNull(number) })),
  undo_database: orNull(text),
});

export type BranchResetResult = v.InferOutput<typeof branchResetResult>;

export const branchServePlan = v.object({
  ...branchesOfTarget,
  base: databaseCopy,
  branches: v.array(branchRow),
  steps: texts,
  warnings: optional(warnings),
});

export type BranchServePlan = v.InferOutput<typeof branchServePlan>;

export const branchServeResult = v.object({ target: text, in_place: number, by_copy: number });

export type BranchServeResult = v.InferOutput<typeof branchServeResult>;

export const branchDropPlan = v.object({
  ...branchesOfTarget,
  branches: v.array(branchRow),
  frees_bytes: orNull(number),
});

export type BranchDropPlan = v.InferOutput<typeof branchDropPlan>;

export const branchDropResult = v.object({ target: text, dropped: v.array(branchDatabase) });

export type BranchDropResult = v.InferOutput<typeof branchDropResult>;

const prunedBranches = v.object({
  ...branchDropPlan.entries,
  why: v.record(text, text),
  kept: v.array(v.object({ name: text, why: text })),
});

export const branchPrunePlan = v.object({ targets: v.array(prunedBranches), frees_bytes: orNull(number) });

export type BranchPrunePlan = v.InferOutput<typeof branchPrunePlan>;

export const branchPruneResult = v.object({
  dropped: v.array(v.object({ target: text, ...branchDatabase.entries })),
});

export type BranchPruneResult = v.InferOutput<typeof branchPruneResult>;

const previous = describe(orNull(text), 'The branch that the destination is at present.');

export const branchSwitchPlan = v.object({
  ...branchesOfTarget,
  branch: branchRow,
  previous,
  automatic_saves: automaticSaves,
  steps: texts,
  warnings: optional(warnings),
});

export type BranchSwitchPlan = v.InferOutput<typeof branchSwitchPlan>;

export const branchSwitchResult = v.object({
  target: text,
  destination: text,
  branch: text,
  previous: orNull(text),
  swap_ms: orNull(number),
  undo_database: orNull(text),
});

export type BranchSwitchResult = v.InferOutput<typeof branchSwitchResult>;

const checkout = {
  git_branch: describe(orNull(text), 'Git branch of the current folder; `null` for a detached HEAD.'),
  action: describe(
    v.picklist(['none', 'restore', 'switch', 'tree']),
    '`restore`: the database of before the first switch; `tree`: the working tree gets a database of its own.',
  ),
  why: describe(orNull(text), 'Why nothing is to be done; `null` otherwise.'),
  tree: describe(
    orNull(v.object({ folder: text, file: text, branch: text })),
    'The linked working tree, and its file with the URL of the branch; `null` otherwise.',
  ),
};

export const branchCheckoutPlan = v.object({
  ...branchesOfTarget,
  destination: describe(orNull(destinationState), '`null` where nothing is to be done, whatever is in it.'),
  ...checkout,
  previous,
  creates: describe(flag, 'The branch is to be created.'),
  steps: texts,
  warnings,
});

export type BranchCheckoutPlan = v.InferOutput<typeof branchCheckoutPlan>;

export const branchCheckoutResult = v.object({
  target: text,
  ...checkout,
  destination: describe(text, 'URL without password.'),
  created: flag,
});

export type BranchCheckoutResult = v.InferOutput<typeof branchCheckoutResult>;

export const branchHookResult = v.object({
  target: text,
  file: describe(text, 'Path of the hook.'),
  action: describe(
    v.picklist(['create', 'add', 'replace', 'remove', 'delete', 'none']),
    '`add` and `replace` change an existing file; `delete` removes it.',
  ),
});

export type BranchHookResult = v.InferOutput<typeof branchHookResult>;

export const branchHookPlan = v.object({
  ...branchHookResult.entries,
  text: describe(text, 'The lines of the file that are written or removed.'),
  destination: orNull(destinationState),
  unverified_sources: texts,
  warnings,
});

export type BranchHookPlan = v.InferOutput<typeof branchHookPlan>;
