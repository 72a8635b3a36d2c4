import type { OpenChanges } from '../../src/operations/changes/changes.ts';
import { type ChangeEntry, changeEntries, entryName } from '../../src/operations/changes/list-text.ts';
import type { RunState } from '../../src/state/run.ts';
import type { FetchState } from '../app/lists/fetched.ts';
import { type FilterState, filtered } from '../app/lists/filter.ts';
import { selectedItem } from '../app/lists/in-view.ts';

/** Changes in a destination, or in a branch, since an earlier state. Both states can be read until the user leaves. */
export interface ChangesRoute extends FetchState<OpenChanges>, FilterState {
  screen: 'changes';
  target: string;
  branch?: string;
  /** Name of a save. Default: the last load. */
  since?: string;
  /** Progress of the reading. */
  state: RunState;
  /** Values that look like personal data are shown. */
  revealed: boolean;
}

export function entriesInView(route: ChangesRoute): ChangeEntry[] {
  const entries = route.found ? changeEntries(route.found.result) : [];
  return filtered(route, entries, (entry) => [entryName(entry), entry.kind]);
}

export function selectedEntry(route: ChangesRoute): ChangeEntry | null {
  return selectedItem(entriesInView(route), ({ id }) => id, route.list);
}
