import type { SnapshotRow, SnapshotTable } from '../../src/results/results.ts';
import { tablesOf } from '../../src/state/snapshots.ts';
import { type FilterState, filtered } from '../app/lists/filter.ts';
import type { Model } from '../app/model.ts';

export interface TablesRoute extends FilterState {
  screen: 'tables';
  target: string;
  snapshot: SnapshotRow;
  /** Names of the tables to load. */
  marked: string[];
}

/** The tables that the filter lets through. */
export function tablesInView({ snapshots }: Model, route: TablesRoute): SnapshotTable[] {
  const { found } = tablesOf(snapshots.getState(), { target: route.target, snapshot: route.snapshot.id });
  return filtered(route, found ?? [], ({ table }) => [table]);
}
