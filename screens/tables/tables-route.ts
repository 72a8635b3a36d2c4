import type { TextEdit } from '../../components/text-edit.ts';
import type { SnapshotRow, SnapshotTable } from '../../src/results/results.ts';
import { type ListState, matchesFilter } from '../../src/state/list.ts';
import type { FetchState } from '../app/lists/fetched.ts';

declare module '../app/route.ts' {
  interface Routes {
    tables: TablesRoute;
  }
}

export interface TablesRoute extends FetchState<SnapshotTable[]> {
  screen: 'tables';
  target: string;
  snapshot: SnapshotRow;
  list: ListState;
  typing: TextEdit | null;
  /** Names of the tables to load. */
  marked: string[];
}

/** The tables that the filter lets through. */
export function tablesInView({ found, list, typing }: TablesRoute): SnapshotTable[] {
  const filter = typing?.text ?? list.filter;
  return (found ?? []).filter(({ table }) => filter === '' || matchesFilter(filter, [table]));
}
