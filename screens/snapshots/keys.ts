import { removeOperation } from '../../src/operations/remove/operation.ts';
import { briefName } from '../../src/presentation/snapshot.ts';
import { snapshotsOf } from '../../src/state/snapshots.ts';
import { ACTIVITY, BACK, HELP, MOUSE, MOVES, PALETTE, REFRESH } from '../app/keys.ts';
import { FILTER } from '../app/lists/filter.ts';
import type { KeyBinding, Model } from '../app/model.ts';
import { onSnapshot } from '../app/on-selected.ts';
import { openNext, PANE_KEYS } from '../app/panes.ts';
import { noSnapshot, notChangeable } from '../app/why-not.ts';
import { BRANCHES } from '../commands/branches.ts';
import { BUILD } from '../commands/build.ts';
import { COPY } from '../commands/copy.ts';
import { LOAD } from '../commands/load.ts';
import { BACK_TO } from '../commands/points.ts';
import { RESET, UNDO } from '../commands/reset.ts';
import { confirmOperation } from '../commands/runs/confirm.ts';
import { begin } from '../commands/runs/run-route.ts';
import { proveRun, verifyRun } from '../commands/runs/runs.ts';
import { CLASSIFY, SANITIZE, SHOW_QUERY } from '../commands/sanitize.ts';
import { SERVERS, START_SERVER } from '../commands/servers.ts';
import { choosePrune, chosenSnapshots, compareSnapshots, mark, removeMarked, togglePin, transfer } from './actions.ts';
import { askForAnnotation, askForFile } from './ask-for-text.ts';
import type { SnapshotsRoute } from './snapshots-route.ts';

function remove(model: Model, route: SnapshotsRoute): void {
  const { snapshots } = model;
  // Some may have been removed since.
  const present = new Set(snapshotsOf(snapshots.getState(), route.target).rows.map(({ id }) => id));
  const ids = route.marked.filter((id) => present.has(id));
  if (ids.length > 0) removeMarked(model, route.target, ids);
  else confirmRemove(model, route);
}

const confirmRemove = onSnapshot((model, { target, snapshot }) => {
  const request = { target, snapshot: snapshot.id };
  confirmOperation(model, removeOperation, { request, title: `remove snapshot ${briefName(snapshot)}` });
});

export const SNAPSHOT_KEYS: KeyBinding<SnapshotsRoute>[] = [
  LOAD,
  {
    keys: ['enter', 'right'],
    label: 'tables',
    help: 'list the tables and their sizes, to load some of them',
    whyNot: noSnapshot,
    run: openNext,
  },
  ...PANE_KEYS,
  SANITIZE,
  START_SERVER,
  {
    id: 'mark',
    keys: ['m', 'space'],
    label: 'mark',
    help: 'mark the snapshot, to compare, push, pull or remove several',
    palette: 'Mark snapshot',
    whyNot: noSnapshot,
    run: mark,
  },
  {
    id: 'compare',
    label: 'compare',
    help: 'compare two marked snapshots, the marked one and this one, or this one and the destination',
    palette: 'Compare snapshots',
    whyNot: (context) =>
      noSnapshot(context) ??
      (context.route.marked.length === 0 && context.target?.row.dst_url === null
        ? 'Mark another snapshot first: there is no destination to compare with'
        : null),
    run: compareSnapshots,
  },
  {
    id: 'verify',
    label: 'verify',
    help: 'verify the checksums of the snapshot',
    palette: 'Verify snapshot',
    whyNot: noSnapshot,
    run: onSnapshot((model, selected) => begin(model, verifyRun(model, selected))),
  },
  {
    id: 'edit',
    keys: ['e'],
    label: 'note',
    help: 'write a note on the snapshot',
    palette: 'Edit note',
    whyNot: notChangeable,
    run: onSnapshot((model, selected) => askForAnnotation(model, { what: 'note', ...selected })),
  },
  {
    id: 'pull',
    label: 'pull',
    help: 'download the snapshot from the bucket; objects that are local already are skipped',
    palette: 'Pull snapshot',
    whyNot: (context) =>
      notChangeable(context) ??
      (chosenSnapshots(context).every(({ where }) => where.includes('local')) ? 'It is on this machine already' : null),
    run: (model, route) => transfer(model, 'pull', route),
  },
  {
    id: 'push',
    label: 'push',
    help: 'upload the snapshot to the bucket; objects that are remote already are skipped',
    palette: 'Push snapshot',
    whyNot: (context) =>
      notChangeable(context) ??
      (context.target?.row.storage_profile === null
        ? `${context.target.row.name} has no bucket (storage_profile)`
        : chosenSnapshots(context).every(({ where }) => where.includes('remote'))
          ? 'It is in the bucket already'
          : null),
    run: (model, route) => transfer(model, 'push', route),
  },
  {
    id: 'export',
    label: 'export',
    help: 'write the snapshot to one file, to share it without a bucket',
    palette: 'Export snapshot…',
    whyNot: notChangeable,
    run: onSnapshot(askForFile),
  },
  {
    id: 'pin',
    palette: 'Pin or unpin snapshot',
    label: 'pin',
    help: 'pin the snapshot, so that no prune removes it, or unpin it',
    whyNot: notChangeable,
    run: (model, route) => void togglePin(model, route),
  },
  {
    id: 'tags',
    palette: 'Write tags of snapshot…',
    label: 'tags',
    help: 'write the tags of the snapshot; the filter finds them',
    whyNot: notChangeable,
    run: onSnapshot((model, selected) => askForAnnotation(model, { what: 'tags', ...selected })),
  },
  {
    id: 'remove',
    keys: ['d', 'delete'],
    label: 'remove',
    help: 'remove the marked snapshots, or the selected one; asks first',
    palette: 'Remove snapshot…',
    whyNot: notChangeable,
    run: remove,
  },
  {
    id: 'prune',
    label: 'prune',
    help: 'remove the snapshots that a rule does not keep; shows them and the freed space first',
    palette: 'Prune snapshots…',
    whyNot: notChangeable,
    run: choosePrune,
  },
  BUILD,
  SHOW_QUERY,
  CLASSIFY,
  COPY,
  UNDO,
  BACK_TO,
  RESET,
  BRANCHES,
  SERVERS,
  ...FILTER,
  {
    id: 'try',
    label: 'try restore',
    help: 'restore the snapshot into a throw-away database, with all checks of a load',
    palette: 'Try restore of snapshot',
    whyNot: noSnapshot,
    run: onSnapshot((model, selected) => begin(model, proveRun(model, selected))),
  },
  BACK,
  REFRESH,
  ACTIVITY,
  PALETTE,
  HELP,
  MOUSE,
  ...MOVES,
];
