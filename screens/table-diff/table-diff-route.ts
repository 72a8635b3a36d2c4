import type { TableDiff } from '../../src/results/diff-results.ts';
import type { ListState } from '../../src/state/list.ts';
import type { FetchState } from '../app/lists/fetched.ts';

declare module '../app/route.ts' {
  interface Routes {
    'table-diff': TableDiffRoute;
  }
}

export interface TableDiffRoute extends FetchState<TableDiff> {
  screen: 'table-diff';
  target: string;
  /** Ids of the snapshots. */
  a: string;
  b: string;
  table: string;
  revealed: boolean;
  list: ListState;
}
