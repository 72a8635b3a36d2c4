import * as v from 'valibot';
import { BRANCH_ENTRIES } from '../../shared/branches.ts';
import { parseRecord } from '../swap/record.ts';

/** Mark of a branch: the comment of its table `tool-mark`, which is part of no snapshot and no swap. */
const branchMarkSchema = v.object({
  /** `dropped`: what a killed drop has left. */
  tool: v.picklist(['branch', 'dropped']),
  /** The destination. */
  of: v.string(),
  ...BRANCH_ENTRIES,
  /** Snapshot of the base copy that it was made from. */
  snapshot: v.nullable(v.string()),
  loaded_at: v.string(),
  /** Its own name, which is free while it is the destination. */
  database: v.optional(v.string()),
});

export type BranchMark = v.InferOutput<typeof branchMarkSchema>;

/** Returns the mark for a branch with other content: no undo reverts the switch to it. */
export function withoutSwitch(mark: BranchMark): BranchMark {
  return { ...mark, switched_at: null, previous: null };
}

/** Characters of the comment of a table. */
const MOST = 2048;

export function branchMarkText(mark: BranchMark): string {
  const text = JSON.stringify(mark);
  return text.length <= MOST ? text : JSON.stringify({ ...mark, repository: null });
}

/** `null` of any other comment. */
export function parseBranchMark(comment: string): BranchMark | null {
  return parseRecord(branchMarkSchema, comment);
}
