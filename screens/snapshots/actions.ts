import { pruneOperation } from '../../src/operations/prune/operation.ts';
import { PRUNE_LINES, PRUNE_QUESTION, PRUNE_RULES } from '../../src/operations/prune/text.ts';
import { annotatedText } from '../../src/operations/snapshots/annotate/text.ts';
import { comparedText } from '../../src/operations/snapshots/diff/diff-text.ts';
import type { TransferKind } from '../../src/operations/snapshots/transfer/transfer-text.ts';
import type { SnapshotRow } from '../../src/results/results.ts';
import type { DiffResult } from '../../src/results/review/diff-results.ts';
import { emptyList, toggled } from '../../src/state/list.ts';
import { snapshotsOf } from '../../src/state/snapshots.ts';
import { formatNumberOf } from '../../src/text/format.ts';
import { notFetched, showWhileFetching } from '../app/lists/fetched.ts';
import { refreshSnapshots } from '../app/lists/refresh.ts';
import { contextOf, type KeyContext, type Model, orNotify, quietly } from '../app/model.ts';
import { confirmOperation } from '../commands/runs/confirm.ts';
import { begin } from '../commands/runs/run-route.ts';
import { transferRun } from '../commands/runs/runs.ts';
import type { SnapshotsRoute } from './snapshots-route.ts';

export function mark(model: Model, route: SnapshotsRoute): void {
  const { snapshot } = contextOf(model);
  if (snapshot) model.navigation.replace({ ...route, marked: toggled(route.marked, snapshot.id) });
}

export function compareSnapshots(model: Model, { target, marked }: SnapshotsRoute): void {
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

/** The two marked last, or the marked and the selected one, the older first; else the selected one alone. */
function compared(
  rows: SnapshotRow[],
  { selected, marked }: { selected: SnapshotRow; marked: string[] },
): [SnapshotRow, SnapshotRow?] {
  const ids = new Set(marked.length === 1 ? [...marked, selected.id] : marked.slice(-2));
  const [newer, older] = rows.filter(({ id }) => ids.has(id));
  return newer && older ? [older, newer] : [selected];
}

/** Returns the snapshots that push, pull and remove act on: the marked ones, else the selected one. */
export function chosenSnapshots({ model, route, snapshot }: KeyContext<SnapshotsRoute>): SnapshotRow[] {
  const { rows } = snapshotsOf(model.snapshots.getState(), route.target);
  const marked = rows.filter(({ id }) => route.marked.includes(id));
  return marked.length > 0 ? marked : snapshot ? [snapshot] : [];
}

/** One run for each that the other side lacks; they queue. */
export function transfer(model: Model, kind: TransferKind, route: SnapshotsRoute): void {
  const from = kind === 'push' ? 'local' : 'remote';
  const chosen = chosenSnapshots({ ...contextOf(model), route }).filter(
    ({ where }) => where.includes(from) && where.length === 1,
  );
  for (const snapshot of chosen) begin(model, transferRun(model, kind, { target: route.target, snapshot }));
}

export function removeMarked(model: Model, target: string, ids: string[]): void {
  const request = { target, keep: {}, remove: ids };
  confirmOperation(model, pruneOperation, { request, title: `remove ${formatNumberOf(ids.length, 'snapshot')}` });
}

/** The plan is the preview: what goes, what stays, and the space that this frees. */
export function choosePrune(model: Model, { target }: SnapshotsRoute): void {
  model.navigation.push({
    screen: 'choice',
    path: [target, 'prune'],
    question: PRUNE_QUESTION,
    lines: PRUNE_LINES,
    options: PRUNE_RULES.map(({ label }) => ({ label, value: label })),
    answer: (chosen) => {
      const keep = PRUNE_RULES.find(({ label }) => label === chosen)?.keep;
      if (keep) confirmOperation(model, pruneOperation, { request: { target, keep }, title: 'prune' });
    },
  });
}

export async function togglePin(model: Model, { target }: SnapshotsRoute): Promise<void> {
  const { snapshot } = contextOf(model);
  if (!snapshot) return;
  const pinned = !snapshot.pinned;
  await orNotify(model, async () => {
    const session = quietly(AbortSignal.timeout(10_000));
    const row = await model.operations.annotate(session, { target, snapshot: snapshot.id, pinned });
    model.navigation.notify({ tone: 'good', text: annotatedText(pinned ? 'pin' : 'unpin', target, row) });
    await refreshSnapshots(model, target);
  });
}
