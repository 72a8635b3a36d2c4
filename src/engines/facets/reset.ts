import type { Manifest } from '../../repository/manifest/manifest.ts';
import type { WarningEvent } from '../../results/events.ts';
import type { DestinationState } from '../../results/load-results.ts';
import type { DatabaseUrl } from '../database-url.ts';
import type { BaseCopy } from './copies.ts';

export interface DestinationResetRequest {
  url: DatabaseUrl;
  /** Makes the next spare after the swap. */
  spare: boolean;
}

export interface ResetRun extends DestinationResetRequest {
  undo: boolean;
  /** Called under the lock with the base copy; throws where it is not the planned one. */
  accept: (base: BaseCopy) => void;
  /** The data that the base copy was loaded with, where it is known: `ReplaceResult.evidence` is about it. */
  manifest?: Manifest;
  /** Owner of the objects; by default the owner of the replaced database. */
  role?: string | undefined;
}

export interface InPlaceReset {
  url: DatabaseUrl;
  accept: ResetRun['accept'];
  /** The plan's `seen`. */
  seen?: unknown;
}

/** Row versions that differ from those of the base copy; what was changed, once it is done. */
export interface InPlaceChanges {
  tables: { table: string; delete: number; insert: number }[];
  sequences: number;
}

export interface PlannedInPlace extends InPlaceChanges {
  /** Plain data by which the reset need not look again where nothing has happened meanwhile. */
  seen?: unknown;
}

export interface Resettable {
  /** The changes of a reset in place, or why there is none. */
  inPlace: PlannedInPlace | string;
  destination: DestinationState;
  base: BaseCopy;
  /** The spare is renamed, the base copy is copied. */
  from: 'base' | 'spare';
  by: 'files' | 'rows';
  /** Databases to make, of the size of the base copy. */
  copies: number;
  warnings: WarningEvent[];
}
