import { structuredPatch } from 'diff';

/** An unchanged, added or removed line; `number` is its line in its own text, from 0. */
export interface DiffLine {
  kind: 'same' | 'added' | 'removed';
  number: number;
}

const CONTEXT = 2;

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
