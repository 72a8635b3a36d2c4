import type { TargetRow } from '../../src/results.ts';
import type { TargetEntry } from '../../src/state/targets.ts';

/** A line of the list of targets: a target, or the heading of a group. */
export type TargetLine = { heading: TargetRow['type']; count: number } | { entry: TargetEntry };

export const GROUP_NAMES: Record<TargetRow['type'], string> = {
  local: 'Local',
  cloud: 'Cloud',
  share: 'Shared',
};

/** Targets that come group by group, with a heading over each group. */
export function targetLines(entries: TargetEntry[]): TargetLine[] {
  return [...Map.groupBy(entries, ({ row }) => row.type)].flatMap(([heading, group]): TargetLine[] => [
    { heading, count: group.length },
    ...group.map((entry) => ({ entry })),
  ]);
}

/** A heading's is none that a target can have. */
export function keyOfLine(line: TargetLine): string {
  return 'entry' in line ? line.entry.row.name : `\n${line.heading}`;
}
