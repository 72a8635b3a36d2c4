import * as v from 'valibot';
import { type CodeDefinitions, codeDefinitionsSchema } from '../catalog/definitions/definitions.ts';
import { routineGrantSchema } from './routine-grants.ts';

/** The table of an undo copy that says what it is, and what besides tables belongs to it. */
export const UNDO_COPY = 'tool-kept';

export const undoCopySchema = v.object({
  /** The destination that it was. */
  of: v.string(),
  replaced_at: v.string(),
  code: codeDefinitionsSchema,
  grants: v.optional(v.array(routineGrantSchema), []),
  /** The mark of the branch that it was. */
  mark: v.optional(v.nullable(v.string()), null),
  has_base: v.optional(v.boolean(), false),
  /** With `rows`: the branch that they are of; `null`: the destination was none. */
  rows_of: v.exactOptional(
    v.nullable(v.object({ name: v.string(), created_at: v.string(), reset_at: v.nullable(v.string()) })),
  ),
  /** It has the rows of these tables only; `name` is that in the snapshot. */
  rows: v.exactOptional(
    v.array(
      v.object({
        name: v.string(),
        table: v.string(),
        columns: v.array(v.string()),
        /** The next value of AUTO_INCREMENT. */
        counter: v.string(),
      }),
    ),
  ),
});
export type RowsOf = NonNullable<v.InferOutput<typeof undoCopySchema>['rows_of']>;
export type UndoTable = NonNullable<v.InferOutput<typeof undoCopySchema>['rows']>[number];
export interface UndoCopyRecord extends Omit<v.InferInput<typeof undoCopySchema>, 'code'> {
  code: CodeDefinitions;
}
