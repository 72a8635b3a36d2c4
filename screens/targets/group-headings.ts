import type { TargetRow } from '../../src/results/results.ts';
import type { TargetEntry } from '../../src/state/targets.ts';

export type TargetLine = { heading: TargetRow['type']; count: number } | { entry: TargetEntry };

/** The targets, already sorted by group, with a heading for each group. */
export function targetLines(entries: TargetEntry[], grouped: boolean): TargetLine[] {
  if (!grouped) return entries.map((entry) => ({ entry }));
  return [...Map.groupBy(entries, ({ row }) => row.type)].flatMap(([heading, group]): TargetLine[] => [
    { heading, count: group.length },
    ...group.map((entry) => ({ entry })),
  ]);
}

export function lineOfEntry(headings: number[], index: number): number {
  return index + headings.filter((line, before) => line - before <= index).length;
}

export function headingLines(lines: TargetLine[]): number[] {
  return lines.flatMap((line, index) => ('heading' in line ? [index] : []));
}

/** A line feed cannot be in the name of a target. */
export function keyOfLine(line: TargetLine): string {
  return 'entry' in line ? line.entry.row.name : `\n${line.heading}`;
}
