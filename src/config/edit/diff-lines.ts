import { structuredPatch } from 'diff';

/** A line that stays, comes or goes; `number` is its line, from 0, in the text that it stands in. */
export interface DiffLine {
  kind: 'same' | 'added' | 'removed';
  number: number;
}

/** How many lines around a change are shown. */
const CONTEXT = 2;

/** What changed between two texts, with some lines around each change. */
export function diffLines(before: string, after: string): DiffLine[] {
  const { hunks } = structuredPatch('', '', before, after, undefined, undefined, { context: CONTEXT });
  return hunks.flatMap(({ oldStart, newStart, lines }) => {
    let [old, now] = [oldStart - 1, newStart - 1];
    return lines.flatMap((line): DiffLine[] => {
      switch (line[0]) {
        case '-':
          return [{ kind: 'removed', number: old++ }];
        case '+':
          return [{ kind: 'added', number: now++ }];
        case ' ':
          old += 1;
          return [{ kind: 'same', number: now++ }];
        // `\ No newline at end of file`
        default:
          return [];
      }
    });
  });
}
