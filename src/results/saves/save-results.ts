import * as v from 'valibot';
import { branchResetPlan, branchResetResult } from '../branch-results.ts';
import { describe, number, optional, orNull, text, texts } from '../fields.ts';
import { loadPlan, loadResult, resetPlan, resetResult, undoPlan } from '../load-results.ts';
import { saveRow } from '../results.ts';
import { allRead } from '../row-reading.ts';

const ofBranch = { branch: optional(describe(text, 'A branch of the destination. Absent: the destination itself.')) };

export const savePlan = v.object({
  target: text,
  ...ofBranch,
  name: text,
  note: orNull(text),
  destination: describe(text, 'The URL of the database that is read, without password.'),
  all_read: describe(orNull(allRead), 'Why all rows are read; `null` where those that are proved unchanged are not.'),
});

export type SavePlan = v.InferOutput<typeof savePlan>;

export const saveResult = v.object({
  target: text,
  ...ofBranch,
  save: saveRow,
  removed: describe(texts, 'Names of older saves that `saves` in the configuration does not keep.'),
});

export type SaveResult = v.InferOutput<typeof saveResult>;

/** The plan and the result of `tool save --remove`. */
export const saveRemoval = v.object({
  target: text,
  save: saveRow,
  frees_bytes: describe(number, 'Bytes that nothing else shares, freed at the latest a day later.'),
});

export type SaveRemoval = v.InferOutput<typeof saveRemoval>;

/** A state to return to. */
export const backPoint = v.object({
  kind: v.picklist(['save', 'load', 'previous']),
  name: describe(text, 'The POINT of `tool back`.'),
  index: optional(describe(number, 'Of a save; 0 is the newest.')),
  created_at: describe(orNull(text), 'Time of the state; of `previous`, when it was replaced.'),
  size_bytes: orNull(number),
  made_by: describe(text, 'The operation, for people.'),
  note: optional(text),
  automatic: saveRow.entries.automatic,
  way: describe(
    v.picklist(['swap', 'in_place', 'copy', 'restore']),
    '`swap`: a database at hand is renamed; `in_place`: rows are replaced in the destination; `copy`: the base copy is copied; `restore`: the save, or the last snapshot, is loaded.',
  ),
  tables: optional(describe(texts, 'Only the rows of these tables come back. Absent: the whole database.')),
  unavailable: optional(describe(text, 'Why it cannot be returned to.')),
});

export type BackPoint = v.InferOutput<typeof backPoint>;

export const backPoints = v.object({
  target: text,
  ...ofBranch,
  destination: describe(text, 'Its URL without password.'),
  points: v.array(backPoint),
});

export type BackPoints = v.InferOutput<typeof backPoints>;

const backPart = v.object({
  tables: describe(
    v.array(v.object({ table: text, insert: orNull(number), update: orNull(number), delete: orNull(number) })),
    'Numbers of rows; `null` where too many differ to be compared. An update without a primary key counts as both others.',
  ),
  rows: optional(describe(texts, 'Keys of the only rows. Absent: all rows of the tables.')),
});

export type BackPart = v.InferOutput<typeof backPart>;

/** The plan of the operation that returns to the point: one of these. */
export const backPlan = v.object({
  target: text,
  ...ofBranch,
  point: describe(text, 'The name of a save, `load` or `previous`.'),
  part: optional(
    describe(backPart, 'With `--table`: what the load of rows changes. Absent: the whole database returns.'),
  ),
  load: optional(loadPlan),
  reset: optional(resetPlan),
  branch_reset: optional(branchResetPlan),
  undo: optional(undoPlan),
});

export type BackPlan = v.InferOutput<typeof backPlan>;

export const backResult = v.object({
  target: text,
  ...ofBranch,
  point: text,
  load: optional(describe(loadResult, 'Of a save, and of `previous`.')),
  reset: optional(describe(resetResult, 'Of `load`.')),
  branch_reset: optional(describe(branchResetResult, 'Of `load`, of a branch.')),
});

export type BackResult = v.InferOutput<typeof backResult>;
