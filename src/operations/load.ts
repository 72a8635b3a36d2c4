import type { Context } from '../context.ts';
import type { LoadPlan, LoadResult } from './results.ts';
import type { SnapshotSelector } from './snapshots.ts';

export interface LoadRequest {
  target: string;
  /** Default 0. Ignored with `file`. */
  snapshot?: SnapshotSelector;
  /** Takes the original where a sanitized one would be taken. */
  original?: boolean;
  /** A `.sql` file to run instead of a snapshot. */
  file?: string;
  /** With `file`: on the database as it is. */
  noDrop?: boolean;
  /** With `file`: on the source database. */
  source?: boolean;
  /** Connection URL that wins over every configured destination. */
  destdb?: string;
  /** `false` keeps no copy of what is replaced. Default `true`. */
  undo?: boolean;
  inPlace?: boolean;
  cpus?: number;
}

/** A plan to be shown and asked about; `plan` is printable, the rest is for `load`. */
export interface PlannedLoad {
  plan: LoadPlan;
  request: LoadRequest;
}

/** Looks at snapshot and destination, changes nothing. Throws when a guard refuses or the pre-flight fails. */
export async function planLoad(_context: Context, _request: LoadRequest): Promise<PlannedLoad> {
  throw new Error('stub');
}

/** Does what was planned. Steps: `prepare`, `restore`, `index`, `check`, `swap`. */
export async function load(_context: Context, _planned: PlannedLoad): Promise<LoadResult> {
  throw new Error('stub');
}
