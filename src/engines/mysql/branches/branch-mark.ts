import * as v from 'valibot';
import { parseRecord } from '../swap/record.ts';

/** Mark of a branch: the comment of its table `tool-mark`, which is part of no snapshot and no swap. */
const branchMarkSchema = v.object({
  /** `dropped`: what a killed drop has left. */
  tool: v.picklist(['branch', 'dropped']),
  /** The destination. */
  of: v.string(),
  name: v.string(),
  created_at: v.string(),
  reset_at: v.nullable(v.string()),
  repository: v.nullable(v.string()),
  git_branch: v.nullable(v.string()),
  /** The agent that created it; `null` for a person. */
  owner: v.optional(v.nullable(v.string()), null),
  /** Token of the git working tree that it belongs to. */
  tree: v.optional(v.nullable(v.string()), null),
  expires_at: v.optional(v.nullable(v.string()), null),
  protected: v.optional(v.boolean(), false),
  /** Another branch, and the save of it with the content of this one; `null`: the base copy. */
  origin: v.optional(v.nullable(v.object({ branch: v.string(), save: v.string() })), null),
  /** Snapshot of the base copy that it was made from. */
  snapshot: v.nullable(v.string()),
  loaded_at: v.string(),
  /** Its own name, which is free while it is the destination. */
  database: v.optional(v.string()),
  /** Time of the switch of the destination to it; `null` once its content was replaced there. */
  switched_at: v.optional(v.nullable(v.string()), null),
  /** The branch that was the destination before. */
  previous: v.optional(v.nullable(v.string()), null),
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
