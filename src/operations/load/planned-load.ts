import type { RestoredBranch } from '../../engines/facets/copies.ts';
import type { RestorePlan } from '../../engines/facets/restore.ts';
import type { LoadPlan } from '../../results/load-results.ts';
import type { SnapshotSelector } from '../../text/snapshot-selector.ts';
import type { Planned } from '../planned.ts';
import type { TrustChoice } from '../snapshots/signatures.ts';

export interface BranchToCreate extends NonNullable<RestoredBranch['creation']> {
  createdAt: string;
}

export interface LoadRequest extends TrustChoice {
  target: string;
  /** Default 0. Ignored with `file`. */
  snapshot?: SnapshotSelector;
  /** Id of a save to load instead of a snapshot: the base copy and the spare of the last load remain. */
  save?: string;
  /** With `save`, one of this branch: replaces its database, without an undo copy. */
  branch?: string;
  /** The branch that the save is of; default: `branch`. */
  saveOf?: string;
  /** `branch` does not exist yet, and is created. */
  creates?: BranchToCreate;
  /** The agent that makes the request: its own branches only. */
  owner?: string | undefined;
  /** Takes the original where a sanitized one would be taken. */
  original?: boolean;
  /** Only these tables, and those that they need; the others are made without rows. */
  tables?: string[];
  /** With `tables`: replaces their rows in the present destination, and nothing else. */
  only?: boolean;
  /** With `only` and one table: replaces only the rows with these primary keys. */
  rows?: string[] | undefined;
  /** A `.sql` file to run instead of a snapshot. */
  file?: string;
  /** With `file`: on the database as it is. */
  noDrop?: boolean;
  /** With `file`: on the source database. */
  source?: boolean;
  /** Connection URL that wins over every configured destination. */
  destdb?: string;
  /** `false` keeps no undo copy. Default `true`. */
  undo?: boolean;
  /** Keeps a base copy for `tool reset`; default: `keep_base` of the target or of `defaults`. */
  keepBase?: boolean;
  /** Keeps a spare beside the base copy; default: `keep_spare`. */
  spare?: boolean;
  /** Makes the base copy that branches are made from, and does not replace the destination. */
  onlyBase?: boolean;
  inPlace?: boolean;
  /** Loads all tables, even where a base copy has most of them. */
  full?: boolean;
  /** After errors: restores the rest, and leaves it to be inspected or swaps it in. Default: the first error ends the load. */
  keepGoing?: 'inspect' | 'swap' | undefined;
  /** Creates tables whose rows are outside the database too: FEDERATED and the like. */
  remoteTables?: boolean;
  /** Restores the content with the rights of the loading user, where one of its own would restore it. */
  allowSuperuser?: boolean;
  /** Lets the events of the snapshot run in the destination. */
  events?: boolean;
  /** Runs the configured steps of `after_load`. Default `true`. */
  afterLoad?: boolean;
  /** `false` makes no automatic save. Default: `saves.before`. */
  autosave?: boolean;
  cpus?: number;
}

export interface PlannedLoad extends Planned<LoadRequest, LoadPlan> {
  /** The engine's plan of the restore; `null` for an SQL file. */
  restore: RestorePlan | null;
}
