import { quoteText } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import type { Relation } from '../../dump/unchanged/count-rows.ts';
import type { Blocks, VisibilityMap, VisibilityMaps } from '../../dump/unchanged/visibility-maps.ts';
import type { SequenceState } from './base-evidence.ts';
import type { SeenChanges } from './evidence-schema.ts';
import { type Places, RANGE } from './row-places.ts';

/** A table with other row versions than the base copy. */
export interface ChangedVersions extends Relation {
  /** Versions that only the database has. */
  fresh: number;
  /** Versions that only the base copy has; `null` where reading them there shows how many they are. */
  missing: number | null;
  /** Rows in the base copy. */
  rows: number;
  /** It has another file, so that places of rows say nothing. */
  rewritten: boolean;
  /** Some values are stored apart from their rows. */
  toasted: boolean;
  bytes: number;
  /** Facts of its last reset, if they are known: then only later versions are fresh. */
  kept?: RestoredRows | undefined;
  /** Blocks in which alone its rows may be others than those of the base copy, if that is known. */
  blocks?: Blocks[] | undefined;
  places?: VersionPlaces | undefined;
}

/** Places of versions, in the blocks that may have changed. */
export interface VersionPlaces {
  fresh: Places;
  old: Places;
  /** Gone since the last reset; `null` where the places of then are unknown. */
  missing: Places | null;
  /** Known ones outside of these blocks. */
  rest: Places;
}

export interface FoundChanges extends Omit<SeenChanges, 'tables'> {
  /** The 32 bits of which `xid` consists. */
  border: string;
  tables: ChangedVersions[];
  /** The base copy and the history of the server, in which alone facts of earlier resets are true. */
  history: string;
  /** Relations whose rows are those of the base copy, or will be. */
  relations: Relation[];
  maps: VisibilityMaps;
  /** Sequences with another value, each with that of the base copy. */
  sequences: SequenceState[];
  /** See the same rows as long as the transaction lasts, and keep others from changing them. */
  sessions: PostgresSession[];
}

/**
 * What is known of a relation since the last reset over the same sessions: its rows were those of the base copy. Rows that
 * were written again have other places and versions, and would be read and compared anew at each later reset.
 */
export interface RestoredRows {
  filenode: number;
  /** The one of `FoundChanges`. */
  history: string;
  /** Versions from this transaction on, which has an epoch, are newer than the reset. */
  border: string;
  /** Places of all rows, if a reset has written some. */
  places: Places | null;
  /** Places of rows that were written again, each with that in the base copy. */
  moved: Map<number, string>;
  /** Read before its rows were found to be those of the base copy, or made so. */
  map: VisibilityMap | undefined;
}

/** By oid. A relation without an entry is compared with the base copy alone. */
export type RestoredTables = Map<number, RestoredRows>;

/** Rows up to which exchanging them takes less time than a copy. */
export const MOST_ROWS = 100_000;

/** Places that are kept of all tables. */
export const MOST_PLACES = 4_000_000;

/** Reports whether to read all places of a table: few take no longer than a count. */
export function keepsPlaces({ pages, rows, keeps }: { pages: number; rows: number; keeps: boolean }): boolean {
  return pages <= RANGE || (keeps && rows <= MOST_PLACES);
}

/** Condition on a row version that is not older than the border. */
export function isFresh(border: string): string {
  return `age(xmin) <= (SELECT age(${quoteText(border)}::xid))`;
}
