import type { SnapshotRow } from '../../src/results/results.ts';
import type { RowsResult } from '../../src/results/rows-results.ts';
import type { ListState } from '../../src/state/list.ts';
import type { FetchState } from '../app/lists/fetched.ts';
import type { Model } from '../app/model.ts';

declare module '../app/route.ts' {
  interface Routes {
    rows: RowsRoute;
  }
}

export interface RowsRoute extends FetchState<RowsResult> {
  screen: 'rows';
  target: string;
  snapshot: SnapshotRow;
  table: string;
  revealed: boolean;
  /** Columns that are scrolled out at the left. */
  scrolled: number;
  list: ListState;
}

/** By whole columns; one always stays. */
export function scrollColumns({ navigation }: Model, route: RowsRoute, by: number): void {
  const last = Math.max(0, (route.found?.columns.length ?? 1) - 1);
  navigation.replace({ ...route, scrolled: Math.min(last, Math.max(0, route.scrolled + by)) });
}
