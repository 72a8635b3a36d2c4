import * as v from 'valibot';
import { describe, flag, number, orNull, text } from './fields.ts';

export const databaseCopy = v.object({
  database: text,
  snapshot: describe(orNull(text), 'The id of the snapshot; `null` when unknown.'),
  loaded_at: text,
  partial: describe(flag, 'The load lacked rows or objects of the snapshot.'),
  size_bytes: orNull(number),
  outdated: describe(orNull(text), 'Why it cannot be used; `null` where it can.'),
});

export type DatabaseCopy = v.InferOutput<typeof databaseCopy>;

/** Copies of a destination as its last load left it. */
export const databaseCopies = v.object({ base: orNull(databaseCopy), spare: orNull(databaseCopy) });

export type DatabaseCopies = v.InferOutput<typeof databaseCopies>;

/** Totals of the branches that do not have the destination's name. */
const branchTotals = v.object({
  count: number,
  size_bytes: orNull(number),
  own_bytes: describe(orNull(number), 'Without blocks that they share with the base copy.'),
});

export type BranchTotals = v.InferOutput<typeof branchTotals>;

/** All databases of the server that were made for a destination, or from it. */
export const destinationCopies = v.object({ ...databaseCopies.entries, branches: orNull(branchTotals) });

export type DestinationCopies = v.InferOutput<typeof destinationCopies>;
