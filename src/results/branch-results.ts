import type { DatabaseCopy } from './database-copies.ts';
import type { DestinationState, RestoredBy } from './load-results.ts';
import type { SnapshotRow } from './results.ts';

export interface BranchRow {
  name: string;
  /** Name of the database; that of the destination after a switch. */
  database: string;
  /** Without password. */
  url: string;
  /** The destination's name leads to it. */
  current: boolean;
  created_at: string;
  reset_at: string | null;
  /** Not used after this time; `null` where the server cannot tell. */
  last_used_at: string | null;
  /** Open sessions. */
  clients: number;
  size_bytes: number | null;
  /** Without blocks shared with the base copy; `null` where the server cannot tell. */
  own_bytes: number | null;
  /** Id of the snapshot; `null` where another load has replaced the content. */
  snapshot: string | null;
  /** The git repository and branch in which it was created. */
  repository: string | null;
  git_branch: string | null;
  /** The agent that has created it (tool mcp); `null` for a person. */
  owner: string | null;
}

export interface TargetBranch extends BranchRow {
  target: string;
}

export interface BranchList {
  branches: TargetBranch[];
  /** Targets whose server could not be asked. */
  errors: { target: string; message: string }[];
}

interface BranchesOfTarget {
  target: string;
  destination: DestinationState;
  unverified_sources: string[];
}

export interface BranchDatabase {
  name: string;
  database: string;
}

export interface BranchCreatePlan extends BranchesOfTarget, Partial<RestoredBy> {
  /** `null` where it has to be loaded first. */
  base: DatabaseCopy | null;
  /** The snapshot to load as the base copy. */
  load: SnapshotRow | null;
  branches: BranchDatabase[];
  /** Left as they are, with --reuse. */
  existing: BranchDatabase[];
  needs_bytes: number | null;
  git_branch: string | null;
  steps: string[];
  warnings: { code: string; message: string }[];
}

export interface BranchCreateResult {
  target: string;
  snapshot: string | null;
  branches: (BranchDatabase & { url: string; created: boolean })[];
  /** URLs with passwords, by variable; only with --env, and not in JSON. */
  environment?: Record<string, string>;
}

export interface BranchUrl extends BranchDatabase {
  target: string;
  url: string;
  /** The URL contains the password. */
  password: boolean;
}

export interface BranchResetPlan extends BranchesOfTarget {
  base: DatabaseCopy;
  branches: BranchRow[];
  needs_bytes: number | null;
  steps: string[];
}

export interface BranchResetResult {
  target: string;
  snapshot: string | null;
  branches: (BranchDatabase & { swap_ms: number | null })[];
  undo_database: string | null;
}

export interface BranchDropPlan extends BranchesOfTarget {
  branches: BranchRow[];
  frees_bytes: number | null;
}

export interface BranchDropResult {
  target: string;
  dropped: BranchDatabase[];
}

export interface BranchPrunePlan {
  targets: (BranchDropPlan & { why: Record<string, string>; kept: { name: string; why: string }[] })[];
  frees_bytes: number | null;
}

export interface BranchPruneResult {
  dropped: (BranchDatabase & { target: string })[];
}

export interface BranchSwitchPlan extends BranchesOfTarget {
  branch: BranchRow;
  /** The branch that the destination is at present. */
  previous: string | null;
  steps: string[];
}

export interface BranchSwitchResult {
  target: string;
  destination: string;
  branch: string;
  previous: string | null;
  swap_ms: number | null;
  undo_database: string | null;
}

export interface BranchCheckoutPlan extends BranchesOfTarget {
  /** Git branch of the current folder; `null` for a detached HEAD. */
  git_branch: string | null;
  /** `restore`: the database of before the first switch. */
  action: 'none' | 'restore' | 'switch';
  /** Why nothing is to be done; `null` otherwise. */
  why: string | null;
  /** The branch that the destination is at present. */
  previous: string | null;
  /** The branch is to be created. */
  creates: boolean;
  steps: string[];
  warnings: { code: string; message: string }[];
}

export interface BranchCheckoutResult extends Pick<BranchCheckoutPlan, 'target' | 'git_branch' | 'action' | 'why'> {
  /** URL without password. */
  destination: string;
  created: boolean;
}

export interface BranchHookPlan {
  target: string;
  /** Path of the hook. */
  file: string;
  /** `add` and `replace` change an existing file; `delete` removes it. */
  action: 'create' | 'add' | 'replace' | 'remove' | 'delete' | 'none';
  /** The lines of the file that are written or removed. */
  text: string;
  destination: DestinationState | null;
  unverified_sources: string[];
  warnings: { code: string; message: string }[];
}

export type BranchHookResult = Pick<BranchHookPlan, 'target' | 'file' | 'action'>;
