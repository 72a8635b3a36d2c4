import * as v from 'valibot';
import { describe, text, texts } from './fields.ts';

/** A table that another one is not whole without. */
const neededTable = v.object({
  table: text,
  needed_by: text,
  why: describe(
    v.picklist(['reference', 'part']),
    '`reference`: `needed_by` refers to it; `part`: it is a partition of `needed_by`, or inherits from it.',
  ),
});

export type NeededTable = v.InferOutput<typeof neededTable>;

/** The tables of a load that were selected, those that they require, and those that are created without rows. */
export const tableSelection = v.object({ chosen: texts, needed: v.array(neededTable), empty: texts });

export type TableSelection = v.InferOutput<typeof tableSelection>;
