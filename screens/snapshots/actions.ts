import { comparedText } from '../../src/presentation/diff.ts';
import type { TransferKind } from '../../src/presentation/transfer.ts';
import type { DiffResult, SnapshotRow, SnapshotTable } from '../../src/results/results.ts';
import { emptyList } from '../../src/state/list.ts';
import { notFetched, showWhileFetching } from '../app/fetched.ts';
import { contextOf, type Model, quietly } from '../app/model.ts';
import { refreshSnapshots } from '../app/refresh.ts';
import { transferRun } from '../run/definitions.ts';
import { begin } from '../run/run-route.ts';
import { type SnapshotsRoute, snapshotsRoute } from './snapshots-route.ts';

export function openTarget(model: Model, name: string): void {
  model.navigation.push(snapshotsRoute(name));
  void refreshSnapshots(model, name);
}

const MARKS = 2;

/** Marks the selected snapshot, or removes its mark; a third mark replaces the oldest. */
export function mark(model: Model, route: SnapshotsRoute): void {
  const { snapshot } = contextOf(model);
  if (snapshot) model.navigation.replace({ ...route, marked: toggled(route.marked, snapshot.id).slice(-MARKS) });
}

export function toggled(marked: string[], id: string): string[] {
  return marked.includes(id) ? marked.filter((other) => other !== id) : [...marked, id];
}

export function openTables(model: Model, { target }: SnapshotsRoute): void {
  const { snapshot } = contextOf(model);
  if (!snapshot) return;
  const selection = { list: emptyList, typing: null, marked: [] };
  showWhileFetching(
    model,
    { screen: 'tables', target, snapshot, ...selection, ...notFetched<SnapshotTable[]>() },
    (signal) => model.operations.listTables(quietly(signal), { target, snapshot: snapshot.id }),
  );
}

export function compare(model: Model, { target, marked }: SnapshotsRoute): void {
  const { snapshot } = contextOf(model);
  if (!snapshot) return;
  const { rows = [] } = model.snapshots.getState().targets[target] ?? {};
  const [older, newer] = compared(rows, { selected: snapshot, marked });
  const title = comparedText(older, newer);
  const request = { target, a: older.id, ...(newer && { b: newer.id }) };
  showWhileFetching(model, { screen: 'diff', target, title, list: emptyList, ...notFetched<DiffResult>() }, (signal) =>
    model.operations.diff(quietly(signal), request),
  );
}

/** The marked ones, or the marked and the selected one, the older first; else the selected one alone. */
function compared(
  rows: SnapshotRow[],
  { selected, marked }: { selected: SnapshotRow; marked: string[] },
): [SnapshotRow, SnapshotRow?] {
  const ids = new Set(marked.length < MARKS && marked.length > 0 ? [...marked, selected.id] : marked);
  const [newer, older] = rows.filter(({ id }) => ids.has(id));
  return newer && older ? [older, newer] : [selected];
}

export function transfer(model: Model, kind: TransferKind, target: string): void {
  const { snapshot } = contextOf(model);
  if (snapshot) begin(model, transferRun(model, kind, { target, snapshot }));
}
