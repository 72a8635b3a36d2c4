/** A snapshot of a target: index (0 is the newest), id, or the newest one that the filter matches. */
export type SnapshotSelector = number | string | SnapshotFilter;

/** The git branch of the build, a tag, or a migration that was applied. */
export interface SnapshotFilter {
  by: (typeof MARKS)[keyof typeof MARKS];
  value: string;
}

const MARKS = { '@': 'branch', '#': 'tag', '+': 'migration' } as const;

/** Splits `app@main` into `app` and `@main`, and `app:ID` into `app` and `ID`: names of targets contain no mark. */
export function splitSelector(word: string): string[] {
  const at = word.search(/[@#+:]/);
  return at < 1 ? [word] : [word.slice(0, at), word.slice(word[at] === ':' ? at + 1 : at)];
}

/** Up to five digits are an index, `latest` is the newest; any other word is an id, which may consist of digits too. */
export function toSelector(word: string): SnapshotSelector {
  const [mark = '', value] = [word[0], word.slice(1)];
  if (Object.hasOwn(MARKS, mark)) return { by: MARKS[mark as keyof typeof MARKS], value };
  if (word === 'latest') return 0;
  return /^\d{1,5}$/.test(word) ? Number(word) : word;
}
