import type { TextEdit } from '../../components/text-edit.ts';
import type { SnapshotRow, SnapshotTable } from '../../src/results/results.ts';
import { type ListState, matchesFilter } from '../../src/state/list.ts';
import { tablesOf } from '../../src/state/snapshots.ts';
import type { Model } from '../app/model.ts';

declare module '../app/route.ts' {
  interface Routes {
    tables: TablesRoute;
  }
}

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
export function tablesInView({ snapshots }: Model, { target, snapshot, list, typing }: TablesRoute): SnapshotTable[] {
  const filter = typing?.text ?? list.filter;
  const { found } = tablesOf(snapshots.getState(), { target, snapshot: snapshot.id });
  return (found ?? []).filter(({ table }) => filter === '' || matchesFilter(filter, [table]));
}
