/** A line that stays, comes or goes; `number` is its line in the file that it stands in. */
export interface DiffLine {
  kind: 'same' | 'added' | 'removed';
  number: number;
}

/** How many lines around a change are shown. */
const CONTEXT = 2;

/** Beyond so many pairs of lines, all that lies between the first and the last change counts as changed. */
const MAX_PAIRS = 4_000_000;

/** What changed between two texts, with some lines around each change. */
export function diffTexts(before: string, after: string): DiffLine[] {
  return diffLines(linesOf(before), linesOf(after));
}

function linesOf(text: string): string[] {
  return text.replace(/\n$/, '').split('\n');
}

/** The same of their lines. */
export function diffLines(before: string[], after: string[]): DiffLine[] {
  let head = 0;
  while (head < Math.min(before.length, after.length) && before[head] === after[head]) head += 1;
  let tail = 0;
  const most = Math.min(before.length, after.length) - head;
  while (tail < most && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const middle = changedLines(before.slice(head, before.length - tail), after.slice(head, after.length - tail)).map(
    (line) => ({ ...line, number: line.number + head }),
  );
  if (middle.length === 0) return [];
  const around = (from: number, to: number): DiffLine[] =>
    Array.from({ length: Math.max(0, to - from) }, (_, index) => ({ kind: 'same', number: from + index }));
  const end = after.length - tail;
  return withinContext([
    ...around(Math.max(0, head - CONTEXT), head),
    ...middle,
    ...around(end, Math.min(after.length, end + CONTEXT)),
  ]);
}

/** Lines of `after` count for what stays. */
function changedLines(before: string[], after: string[]): DiffLine[] {
  const line = (kind: DiffLine['kind'], number: number): DiffLine => ({ kind, number });
  if (before.length * after.length > MAX_PAIRS) {
    return [...before.map((_, at) => line('removed', at)), ...after.map((_, at) => line('added', at))];
  }
  const common = commonLengths(before, after);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      lines.push(line('same', j));
      i += 1;
      j += 1;
    } else if (i < before.length && (j === after.length || (common[i + 1]?.[j] ?? 0) >= (common[i]?.[j + 1] ?? 0))) {
      lines.push(line('removed', i));
      i += 1;
    } else {
      lines.push(line('added', j));
      j += 1;
    }
  }
  return lines;
}

/** How many lines the two have in common from each pair of places on. */
function commonLengths(before: string[], after: string[]): number[][] {
  const lengths = Array.from({ length: before.length + 1 }, () => new Array<number>(after.length + 1).fill(0));
  for (let i = before.length - 1; i >= 0; i -= 1) {
    const [row, below] = [lengths[i] ?? [], lengths[i + 1] ?? []];
    for (let j = after.length - 1; j >= 0; j -= 1) {
      row[j] = before[i] === after[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return lengths;
}

function withinContext(lines: DiffLine[]): DiffLine[] {
  const changes = lines.flatMap(({ kind }, index) => (kind === 'same' ? [] : [index]));
  return lines.filter((_, index) => changes.some((change) => Math.abs(change - index) <= CONTEXT));
}
