import * as v from 'valibot';

const LONGEST_TEXT = 1000;

/** Text of a repository or a database that people read: one line, bounded. */
export const line = lineOf(LONGEST_TEXT);

export function lineOf(most: number) {
  return v.pipe(
    v.string(),
    v.maxLength(most, `must be shorter than ${most} characters`),
    v.check((text) => !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(text), 'must be one line'),
  );
}

/** The git repository in whose folder a snapshot was built. */
export const gitStateSchema = v.object({
  /** Address of the remote `origin` without credentials; `null` without one. */
  repository: v.nullable(line),
  /** `null` for a detached HEAD. */
  branch: v.nullable(line),
  /** `null` before the first commit. */
  commit: v.nullable(v.pipe(v.string(), v.regex(/^[0-9a-f]{40,64}$/, 'must be a commit'))),
  /** Without changed and untracked files. `null` in new snapshots: git runs filters of the repository to compare files. */
  clean: v.nullable(v.boolean()),
});

export type GitState = v.InferOutput<typeof gitStateSchema>;

/** The text as a manifest may keep it; `null` when it does not fit. */
export function fittingLine(text: string): string | null {
  return v.is(line, text) ? text : null;
}

/** The state as a manifest may keep it; what does not fit is `null`. */
export function fittingGitState(state: GitState): GitState {
  const { repository, branch, commit } = gitStateSchema.entries;
  const fitting = <T>(schema: v.GenericSchema<T | null>, value: T | null): T | null =>
    v.is(schema, value) ? value : null;
  return {
    repository: fitting(repository, state.repository),
    branch: fitting(branch, state.branch),
    commit: fitting(commit, state.commit),
    clean: state.clean,
  };
}
