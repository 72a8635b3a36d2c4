import * as v from 'valibot';
import { type CodeDefinitions, codeDefinitionsSchema } from '../catalog/definitions/definitions.ts';
import { routineGrantSchema } from './routine-grants.ts';

const pathSchema = v.strictTuple([v.string(), v.string()]);
const renameSchema = v.object({ from: pathSchema, to: pathSchema });
/** From one table to another, each a database and a name. */
export type Rename = v.InferOutput<typeof renameSchema>;
const counterSchema = v.object({ table: pathSchema, next: v.pipe(v.string(), v.regex(/^\d{1,20}$/)) });
/** The next value of an AUTO_INCREMENT column. */
export type Counter = v.InferOutput<typeof counterSchema>;

/**
 * Journal of a swap, written beside the destination before the swap changes it: tables change places in one statement
 * or their rows in one transaction, views, triggers and routines cannot. The statement that moves the tables also moves
 * the journal, so that its place shows whether they have moved.
 */
export const journalSchema = v.object({
  /** The destination; journals of former versions do not say it. */
  of: v.optional(v.string()),
  /** The destination was created for the swap. */
  made: v.boolean(),
  /** The code of the destination as it was, and as it is to be. */
  before: codeDefinitionsSchema,
  after: codeDefinitionsSchema,
  definers: v.picklist(['mine', 'theirs']),
  /** Rights on routines of the destination, which go with the routines. */
  grants: v.optional(v.array(routineGrantSchema), []),
  /** Renames after the swap, all in one statement, after which the undo copy is the replaced database. */
  later: v.optional(v.array(renameSchema), []),
  /** Counters to be set before these renames, where rows were exchanged instead of tables. */
  counters: v.optional(v.array(counterSchema), []),
  /** Only rows of some tables were replaced: the code stays; `before` has the triggers that the swap drops. */
  rows_only: v.optional(v.boolean(), false),
  /** An undo copy that is obsolete once the tables have moved. */
  obsolete: v.nullable(v.string()),
});
export interface Journal extends Omit<v.InferInput<typeof journalSchema>, 'before' | 'after'> {
  before: CodeDefinitions;
  after: CodeDefinitions;
}

/** The names of the journal before the tables have moved, after it, and when everything else has been done as well. */
export const PENDING = 'tool-journal';
export const MOVED = 'tool-journal-moved';
export const DONE = 'tool-journal-done';
