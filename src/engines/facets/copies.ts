/** A copy of a destination as its last load left it; refuses connections. */
export interface BaseCopy {
  name: string;
  /** The snapshot's id. */
  snapshot: string | null;
  loadedAt: string;
  /** The load lacked rows or objects of the snapshot. */
  partial: boolean;
  sizeBytes: number | null;
  /** Why no reset can use it; `null` where one can. */
  outdated: string | null;
  /** No change of it is known: branches can be made from it. */
  closed: boolean;
}

export interface BaseCopies {
  base: BaseCopy | null;
  spare: BaseCopy | null;
}

/** A separate database that was made from the base copy of a destination. */
export interface Branch extends NewBranch {
  name: string;
  /** The destination has the name of its database at present. */
  current: boolean;
  createdAt: string;
  resetAt: string | null;
  /** The snapshot's id; `null` where another load has replaced its content since. */
  snapshot: string | null;
  /** The state of another branch that it was made from; absent or `null`: the base copy. */
  origin?: BranchOrigin | null;
  sizeBytes: number | null;
  /** Without blocks shared with the base copy; `null` where the server cannot tell. */
  ownBytes: number | null;
  clients: number;
  /** Client sessions since it was created or reset; `null` where the server does not count them. */
  sessions: number | null;
}

export interface BranchOrigin {
  branch: string;
  /** Id of the save of that branch. */
  save: string;
}

/** The record of a new branch in its mark. */
export interface NewBranch {
  /** Name of the database: that of the destination after a switch. */
  database: string;
  repository: string | null;
  gitBranch: string | null;
  /** The agent that has created it, which alone may reset and drop it; absent or `null` for none. */
  owner?: string | null;
  /** Token of the git working tree that it belongs to; absent or `null` for none. */
  tree?: string | null;
  /** Time from which `branch prune` removes it; absent or `null` for never. */
  expiresAt?: string | null;
  /** Dropped and reset only on explicit request. */
  isProtected?: boolean;
}

/** All databases that were made from a destination, or for it. */
export interface AllCopies extends BaseCopies {
  branches: Branch[];
}

/** A branch that a restore gives other content, or creates. */
export interface RestoredBranch {
  /** Name of the destination that it is a branch of. */
  of: string;
  name: string;
  /** At the swap, another branch of its name is refused. */
  createdAt: string;
  /** The snapshot that its new content is from. */
  snapshot: string | null;
  /** It does not exist yet. Owner, grants and settings are those of the database `inheritsFrom`. */
  creation?: (NewBranch & { origin: BranchOrigin; inheritsFrom: string }) | undefined;
}
