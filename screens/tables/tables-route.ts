import type { TextEdit } from '../../components/text-edit.ts';
import type { SnapshotRow, SnapshotTable } from '../../src/results/results.ts';
import type { ListState } from '../../src/state/list.ts';
import { tablesOf } from '../../src/state/snapshots.ts';
import { filtered } from '../app/lists/filter.ts';
import type { Model } from '../app/model.ts';

export interface TablesRoute {
  screen: 'tables';
  target: string;
  snapshot: SnapshotRow;
  list: ListState;
  typing: TextEdit | null;
  /** Names of the tables to load. */
  marked: string[];
}

/** The tables that the filter lets through. */
export function tablesInView({ snapshots }: Model, route: TablesRoute): SnapshotTable[] {
  const { found } = tablesOf(snapshots.getState(), { target: route.target, snapshot: route.snapshot.id });
  return filtered(route, found ?? [], ({ table }) => [table]);
}
