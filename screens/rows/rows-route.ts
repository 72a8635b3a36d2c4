import type { SnapshotRow } from '../../src/results/results.ts';
import type { RowsResult } from '../../src/results/rows-results.ts';
import type { FetchState } from '../app/lists/fetched.ts';
import type { GridState } from '../app/lists/grid-keys.ts';

declare module '../app/route.ts' {
  interface Routes {
    rows: RowsRoute;
  }
}

export interface RowsRoute extends FetchState<RowsResult>, GridState {
  screen: 'rows';
  target: string;
  snapshot: SnapshotRow;
  table: string;
  revealed: boolean;
  /** Rows before the first one of the page. */
  skip: number;
}
