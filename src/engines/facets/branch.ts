import type { DestinationState } from '../../results/load-results.ts';
import type { Semaphore } from '../../runtime/semaphore.ts';
import type { DatabaseUrl } from '../database-url.ts';
import type { WithoutUrl } from '../engine-context.ts';
import type { BaseCopy, Branch, NewBranch } from './copies.ts';
import type { InPlaceChanges } from './reset.ts';
import type { ReplaceResult } from './restore.ts';

/** Branches of a destination. Each change is made under the lock of the destination. */
export interface BranchFacet {
  list(): Promise<Branch[]>;
  /** Rejects where the disk has no space for the copies of the base copy that exist at the same time. */
  plan(copies: BranchPlanRequest['copies']): Promise<BranchPlan>;
  /** Creates the whole branch, or nothing. Rejects where the name is in use. */
  create(creation: WithoutUrl<BranchCreation>): Promise<void>;
  /** Makes the spare that a branch has taken again. A failure is a warning. Does nothing where the destination is in use by another run. */
  replaceTakenSpare(): Promise<void>;
  /**
   * Exchanges the rows that differ from the base copy, or replaces the branch by a new copy of that, in one swap; a failure
   * leaves the old one. Only a branch that is the destination leaves an undo copy. A second call resets it again.
   */
  reset(reset: WithoutUrl<BranchReset>): Promise<ResetBranch>;
  /** Opens what resets a branch in place again and again, with connections that stay open. Nothing is connected yet. */
  keepOpen(name: string): Promise<OpenBranchReset>;
  /** Drops the database for good, with its sessions. `false` where it is gone, so that a second call does nothing. */
  drop(name: string): Promise<boolean>;
  /**
   * Gives the branch the destination's name in one swap, and the database that has it the undo copy's, or its own where
   * it is a branch. A failure changes nothing. Rejects for the branch that has the name.
   */
  switchTo(name: string): Promise<SwitchResult>;
}

export interface BranchRequest {
  /** The destination. */
  url: DatabaseUrl;
  name: string;
}

export interface BranchPlanRequest {
  url: DatabaseUrl;
  /** Returns the number of copies of the base copy that exist at the same time, given the present branches. */
  copies: (present: Branch[]) => number;
}

export interface BranchPlan {
  destination: DestinationState;
  base: BaseCopy | null;
  branches: Branch[];
  /** The server asks the file system for clones, which share the blocks of the base copy. */
  clones: boolean;
  /** Disk space of the copies, for which there is room as far as the server can tell; clones count as one copy. */
  needsBytes: number | null;
}

export interface BranchCreation extends BranchRequest, NewBranch {
  /** Owner of the objects; by default the owner of the destination. */
  role?: string | undefined;
  /** Called with the base copy; throws where it is not the planned one. */
  accept: (base: BaseCopy) => void;
  /** Runs the copy when it is its turn: more branches are in work than copies. */
  inTurn: Semaphore;
  /** Renames the spare of the destination where there is one, instead of copying the base copy. */
  mayTakeSpare?: boolean | undefined;
}

export interface BranchReset extends BranchRequest {
  /** Time of the planned branch: another one of its name is refused under the lock. */
  createdAt: string;
  accept: (base: BaseCopy) => void;
  role?: string | undefined;
  /** Replaces the database even where a reset in place is possible. */
  copy?: boolean | undefined;
}

export interface ResetBranch extends ReplaceResult {
  /** The changes of a reset in place, or why it was by a copy. */
  inPlace: InPlaceChanges | string;
}

export interface OpenBranchReset extends AsyncDisposable {
  /** Resets in place, or resolves with the reason for which nothing was changed. One call at a time. */
  reset(reset: Omit<BranchReset, 'url' | 'name' | 'role' | 'copy'>): Promise<InPlaceChanges | string>;
}

export interface SwitchResult extends ReplaceResult {
  /** The branch that had the destination's name before, which has its own name again. */
  previous: string | null;
}
