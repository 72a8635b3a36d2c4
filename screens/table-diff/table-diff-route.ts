import type { TextEdit } from '../../components/text-edit.ts';
import type { DiffRecord } from '../../src/operations/snapshots/diff/rows-grid-text.ts';
import type { TableDiff } from '../../src/results/review/diff-results.ts';
import type { ListState } from '../../src/state/list.ts';
import type { FetchState } from '../app/lists/fetched.ts';
import { filtered } from '../app/lists/filter.ts';
import type { GridState } from '../app/lists/grid-keys.ts';
import type { Rows } from '../app/lists/in-view.ts';

/** One table in two states: snapshots, or an earlier state and the destination. */
export interface TableDifference extends Pick<TableDiff, 'definition' | 'rows' | 'rows_not_compared'> {
  records: DiffRecord[];
}

export interface TableDiffRoute extends FetchState<TableDifference>, GridState {
  screen: 'table-diff';
  target: string;
  /** The compared states: `8c41f2ab RAW → 1b2c3d4e RAW`. */
  sides: string;
  /** Name of the table, or of the object whose definition differs. */
  table: string;
  read: (reveal: boolean, signal: AbortSignal) => Promise<Omit<TableDifference, 'records'>>;
  revealed: boolean;
  /** Shows the key and the changed columns only. */
  onlyChanged: boolean;
  /** The pane that the keys move in. */
  pane: 'rows' | 'definition';
  /** Position in the definition. */
  definition: ListState;
  typing: TextEdit | null;
}

/** Counts the columns in view and scrolled out, without the key. */
export function scrollingColumns({ found, onlyChanged }: TableDiffRoute): number {
  const rows = found?.rows;
  if (!rows || found.records.length === 0) return 0;
  return Math.max(1, onlyChanged ? changedIn(found) : rows.columns.length - rows.key.length);
}

/** Counts the columns whose values changed. */
export function changedIn({ records }: Pick<TableDifference, 'records'>): number {
  return new Set(records.flatMap(({ changed }) => [...changed])).size;
}

export interface RecordsInView extends Rows {
  records: DiffRecord[];
}

/** The records that the filter lets through, by their positions among all. */
export function recordsInView(route: TableDiffRoute): RecordsInView {
  const all = (route.found?.records ?? []).map((record, index) => ({ record, id: String(index) }));
  const shown = filtered(route, all, ({ record }) => textsOf(record));
  return { records: shown.map(({ record }) => record), ids: shown.map(({ id }) => id) };
}

function textsOf({ before, after }: DiffRecord): string[] {
  return [...(before ?? []), ...(after ?? [])].map(({ text }) => text);
}

export function definitionOf({ found }: Pick<TableDiffRoute, 'found'>): NonNullable<TableDiff['definition']> {
  return found?.definition ?? [];
}

/** The pane with the keys; there may be one only. */
export function activePane({ found, pane }: TableDiffRoute): TableDiffRoute['pane'] {
  if (definitionOf({ found }).length === 0) return 'rows';
  return (found?.records.length ?? 0) === 0 ? 'definition' : pane;
}
