import { resolve } from 'node:path';
import { textEdit } from '../../components/text-edit.ts';
import type { DiffResult, SnapshotRow, SnapshotTable } from '../../src/results.ts';
import { emptyList, selectedIndex } from '../../src/state/list.ts';
import { factsOf } from '../app/facts.ts';
import { showWhileLookingUp } from '../app/look-up.ts';
import { notLookedUp } from '../app/looked-up.ts';
import { type Model, quietly, tablesInView } from '../app/model.ts';
import { type ExportRoute, runRoute, type TablesRoute } from '../app/route.ts';
import { exportWork, transferWork } from '../run/transfer-work.ts';

const MARKS = 2;

/** Marks what is selected, or takes its mark away; of snapshots a third mark takes the place of the oldest. */
export function mark(model: Model): void {
  const route = model.navigation.top();
  if (route.screen === 'tables') {
    const table = selectedTable(route);
    if (table !== null) model.navigation.replace({ ...route, marked: toggled(route.marked, table) });
  }
  const { snapshot } = factsOf(model);
  if (route.screen !== 'snapshots' || !snapshot) return;
  model.navigation.replace({ ...route, marked: toggled(route.marked, snapshot.id).slice(-MARKS) });
}

function toggled(marked: string[], id: string): string[] {
  return marked.includes(id) ? marked.filter((other) => other !== id) : [...marked, id];
}

function selectedTable(route: TablesRoute): string | null {
  const names = tablesInView(route).map(({ table }) => table);
  return names[selectedIndex(names, route.list.selected)] ?? null;
}

export function openTables(model: Model): void {
  const { target, snapshot } = factsOf(model);
  if (!target || !snapshot) return;
  const request = { target: target.row.name, snapshot: snapshot.id };
  showWhileLookingUp(
    model,
    {
      screen: 'tables',
      target: request.target,
      snapshot,
      list: emptyList,
      typing: null,
      marked: [],
      ...notLookedUp<SnapshotTable[]>(),
    },
    (signal) => model.operations.listTables(quietly(signal), request),
  );
}

export function compare(model: Model): void {
  const { target, snapshot, marked } = factsOf(model);
  if (!target || !snapshot) return;
  const { rows = [] } = model.snapshots.getState().targets[target.row.name] ?? {};
  const [older, newer] = compared(rows, { selected: snapshot, marked });
  const title = newer ? `snapshots ${older.index} and ${newer.index}` : `snapshot ${older.index} and the destination`;
  const request = { target: target.row.name, a: older.id, ...(newer && { b: newer.id }) };
  showWhileLookingUp(
    model,
    { screen: 'diff', target: request.target, title, list: emptyList, ...notLookedUp<DiffResult>() },
    (signal) => model.operations.diff(quietly(signal), request),
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

export function transfer(model: Model, kind: 'push' | 'pull'): void {
  const { target, snapshot } = factsOf(model);
  if (!target || !snapshot) return;
  const run = model.runs.begin(transferWork(model, { kind, target: target.row.name, snapshot }));
  model.navigation.push(runRoute(run));
}

export function askExport(model: Model): void {
  const { target, snapshot } = factsOf(model);
  if (!target || !snapshot) return;
  const { name } = target.row;
  const typing = textEdit(`${encodeURIComponent(name)}-${snapshot.id}.zip`);
  model.navigation.push({ screen: 'export', target: name, snapshot, typing });
}

export function beginExport(model: Model, { target, snapshot, typing }: ExportRoute): void {
  const name = typing.text.trim();
  if (name === '') {
    model.navigation.notify({ tone: 'caution', text: 'Type the name of a file' });
    return;
  }
  const run = model.runs.begin(exportWork(model, { target, snapshot, file: resolve(model.cwd, name) }));
  model.navigation.replace(runRoute(run));
}
