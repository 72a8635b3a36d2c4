import type { DestinationState } from '../../results/load-results.ts';
import type { Semaphore } from '../../runtime/semaphore.ts';
import type { DatabaseUrl } from '../database-url.ts';
import type { EngineContext } from '../engine-context.ts';
import type { BaseCopy, Branch } from './copies.ts';
import type { ReplaceResult } from './restore.ts';

/** Each call takes the URL of the destination. */
export interface BranchFacet {
  /** The longest name of a database, in units of `lengthOf`. */
  nameLimit: { most: number; lengthOf: (text: string) => number };
  /** Method by which the server copies the base copy. */
  copiedBy: 'files' | 'rows';
  list(context: EngineContext, url: DatabaseUrl): Promise<Branch[]>;
  /** The URL of another database of the server. */
  urlOf(url: DatabaseUrl, database: string): DatabaseUrl;
  /** Returns the URL as text for other programs, with its password. */
  urlWithPassword(url: DatabaseUrl): string;
  /** Rejects where the disk has no space for the copies of the base copy that exist at the same time. */
  plan(context: EngineContext, request: BranchPlanRequest): Promise<BranchPlan>;
  create(context: EngineContext, creation: BranchCreation): Promise<void>;
  /** Resolves with how long the branch was unavailable, in milliseconds. */
  reset(context: EngineContext, reset: BranchReset): Promise<ReplaceResult>;
  /** `false` where it was gone already. */
  drop(context: EngineContext, request: BranchRequest): Promise<boolean>;
  switchTo(context: EngineContext, request: BranchRequest): Promise<SwitchResult>;
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

export interface BranchCreation extends BranchRequest {
  /** Name of the database. */
  database: string;
  repository: string | null;
  gitBranch: string | null;
  /** Recorded in the mark: only this agent may reset and drop the branch. */
  owner?: string | null;
  /** Owner of the objects; by default the owner of the destination. */
  role?: string | undefined;
  /** Called with the base copy; throws where it is not the planned one. */
  accept: (base: BaseCopy) => void;
  /** Runs the copy when it is its turn: more branches are in work than copies. */
  inTurn: Semaphore;
}

export interface BranchReset extends BranchRequest {
  accept: (base: BaseCopy) => void;
  role?: string | undefined;
}

export interface SwitchResult extends ReplaceResult {
  /** The branch that had the destination's name before, which has its own name again. */
  previous: string | null;
}
