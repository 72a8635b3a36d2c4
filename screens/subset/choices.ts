import { nextPercentage } from '../../src/operations/subset/next-percentage.ts';
import type { SubsetChoices } from '../../src/operations/subset/save-subset.ts';
import type { PlannedSubset } from '../../src/operations/subset/subset.ts';

/** The settings that the screen can change. */
export function choicesOf({
  subset_tables = [],
  copy_tables = [],
  excluded_tables = [],
}: PlannedSubset['settings']): SubsetChoices {
  return { subset_tables, copy_tables, excluded_tables };
}

export function toggleExcluded(choices: SubsetChoices, table: string): SubsetChoices {
  const { excluded_tables } = without(choices, table);
  const isExcluded = choices.excluded_tables.includes(table);
  return { ...without(choices, table), excluded_tables: isExcluded ? excluded_tables : [...excluded_tables, table] };
}

export function toggleCopied(choices: SubsetChoices, table: string): SubsetChoices {
  const { copy_tables } = without(choices, table);
  const isCopied = choices.copy_tables.includes(table);
  return { ...without(choices, table), copy_tables: isCopied ? copy_tables : [...copy_tables, table] };
}

/** The next larger or smaller percentage; `null` where there is none. */
export function stepShare(choices: SubsetChoices, table: string, direction: 1 | -1): SubsetChoices | null {
  const percent = subsetTarget(choices, table)?.percent;
  if (percent === undefined) return null;
  const next = nextPercentage(percent, direction);
  if (next === undefined) return null;
  return {
    ...choices,
    subset_tables: choices.subset_tables.map((target) =>
      target.table === table ? { ...target, percent: next } : target,
    ),
  };
}

function without(choices: SubsetChoices, table: string): SubsetChoices {
  const others = (tables: string[]): string[] => tables.filter((other) => other !== table);
  return { ...choices, copy_tables: others(choices.copy_tables), excluded_tables: others(choices.excluded_tables) };
}

export function subsetTarget({ subset_tables }: SubsetChoices, table: string) {
  return subset_tables.find((target) => target.table === table);
}
