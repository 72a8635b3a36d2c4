import type { SubsetChoices } from '../../src/operations/subset/save-subset.ts';
import type { PlannedSubset } from '../../src/operations/subset/subset.ts';
import { type SubsetTreeRow, subsetTree } from '../../src/operations/subset/text.ts';
import type { ListState } from '../../src/state/list.ts';
import type { FetchState } from '../app/lists/fetched.ts';
import { selectedItem } from '../app/lists/in-view.ts';
import type { ShownPlan } from '../app/operations.ts';

/** The plan of a subset, which can be changed before it is made. */
export interface SubsetRoute extends FetchState<ShownPlan<PlannedSubset>> {
  screen: 'subset';
  target: string;
  /** `null` until the configured ones are known. */
  choices: SubsetChoices | null;
  /** The target has no subset: its settings are suggested. */
  suggested: boolean;
  /** The choices differ from the configured ones. */
  changed: boolean;
  /** The plan shown is older than the last change. */
  counting: boolean;
  list: ListState;
}

export function subsetRows({ found }: SubsetRoute): SubsetTreeRow[] {
  return subsetTree(found?.shown.tables ?? []);
}

export function selectedTable(route: SubsetRoute): SubsetTreeRow | null {
  return selectedItem(subsetRows(route), ({ table }) => table, route.list);
}
