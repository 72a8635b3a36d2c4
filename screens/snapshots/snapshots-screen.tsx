import { Box } from 'ink';
import { useMemo } from 'react';
import { useStore } from 'zustand';
import { Failure } from '../../components/empty.tsx';
import { FilterLine } from '../../components/filter-line.tsx';
import type { Span } from '../../components/line.tsx';
import { ListView } from '../../components/list-view.tsx';
import { useTheme } from '../../components/theme.ts';
import { briefName, noSnapshotsLines, snapshotFacts } from '../../src/presentation/snapshot.ts';
import { briefSnapshotColumns } from '../../src/presentation/snapshot-columns.ts';
import type { SnapshotRow } from '../../src/results/results.ts';
import { type SnapshotList, snapshotsOf } from '../../src/state/snapshots.ts';
import { formatBytes, formatCount } from '../../src/text/format.ts';
import { useModel, useRoom } from '../app/frame/frame.tsx';
import { PaneView } from '../app/frame/pane-view.tsx';
import { FILTERED, isFiltering } from '../app/lists/filter.ts';
import { positionIn } from '../app/lists/in-view.ts';
import { refreshSnapshots } from '../app/lists/refresh.ts';
import { type Model, minuteOf, type PaneProps, type ScreenModule, targetNamed } from '../app/model.ts';
import { leavePane } from '../app/panes.ts';
import { countText, LOADING, markedText, noMatchLines } from '../app/text.ts';
import { tablesOfSnapshot } from '../commands/open-target.ts';
import { SNAPSHOT_KEYS } from './keys.ts';
import { type SnapshotsRoute, selectedSnapshot, snapshotsInView } from './snapshots-route.ts';

export const snapshotsScreen: ScreenModule<SnapshotsRoute> = {
  title: 'Snapshots of a target',
  view: PaneView,
  keys: SNAPSHOT_KEYS,
  rows: snapshotsInView,
  selected: (model, route) => ({ snapshot: selectedSnapshot(model, route) }),
  onRefresh: (model, { target }) => refreshSnapshots(model, target),
  onBack: leavePane,
  ...FILTERED,
  pane: {
    view: SnapshotsPane,
    path: ({ target }) => [target],
    name: ({ target }) => `snapshots of ${target}`,
    aside: (model, route, { brief }) => {
      const list = snapshotsOf(model.snapshots.getState(), route.target);
      const shown = snapshotsInView(model, route).items.length;
      const marked = markedText(route.marked.length);
      // The name of the target has the place in a pane.
      return brief && marked.length > 0 ? marked : [...marked, { text: countOf({ shown, list, brief }), tone: 'dim' }];
    },
    detail: (model, route) => {
      const row = selectedSnapshot(model, route);
      return row && detailOf(model, route, row);
    },
    next: (model, route) => {
      const snapshot = selectedSnapshot(model, route);
      return snapshot && tablesOfSnapshot({ target: route.target, snapshot }, route.child);
    },
    read: (model, { target }, signal) => refreshSnapshots(model, target, signal),
    readFor: (model, { target }) => {
      const row = targetNamed(model.targets.getState(), target)?.row;
      return row ? `${target}\n${row.snapshots}\n${row.last_snapshot_at}` : target;
    },
  },
};

function SnapshotsPane({ route, width, height, isActive, alone }: PaneProps<SnapshotsRoute>) {
  const model = useModel();
  const state = useStore(model.snapshots);
  const target = useStore(model.targets, (targets) => targetNamed(targets, route.target));
  const { glyphs } = useTheme();
  const { wide } = useRoom();
  const { marked } = route;
  const minute = minuteOf(model);
  const list = snapshotsOf(state, route.target);
  const held = target?.row.contents;
  const columns = useMemo(
    () => briefSnapshotColumns({ rows: list.rows, glyphs, now: minute, marked, held }),
    [list.rows, glyphs, minute, marked, held],
  );
  const view = snapshotsInView(model, route);
  const rows = view.items;
  const index = positionIn(view, route.list.selected);
  const filtering = isFiltering(route);
  const shares = target?.row.type === 'share';
  const none = list.phase === 'loading' ? LOADING.snapshots : noSnapshotsLines(route.target, { shares, byKey: true });
  const empty = filtering ? noMatchLines('snapshots') : none;
  return (
    <Box flexDirection="column" width={width}>
      {filtering && <FilterLine typing={route.typing} filter={route.list.filter} width={width} />}
      {list.error && <Failure error={list.error} width={width} />}
      {(rows.length > 0 || !list.error) && (
        <ListView
          columns={columns}
          rows={rows}
          keyOf={({ id }) => id}
          selected={index}
          width={width}
          height={height - (filtering ? 1 : 0)}
          empty={empty}
          detail={alone ? (row) => detailOf(model, route, row) : undefined}
          hasFacts={!alone}
          wide={wide}
          isActive={isActive}
        />
      )}
    </Box>
  );
}

function detailOf({ targets }: Model, { target }: SnapshotsRoute, row: SnapshotRow) {
  const destination = targetNamed(targets.getState(), target)?.row.dst_url ?? null;
  const title: Span[] = [{ text: `Snapshot ${briefName(row)}`, tone: 'strong' }];
  return { title, facts: snapshotFacts(row, destination) };
}

/** `2 of 12 snapshots, 1.2 GB local` */
function countOf({ shown, list, brief }: { shown: number; list: SnapshotList; brief: boolean }): string {
  const { rows, localBytes } = list;
  const count = brief && shown === rows.length ? formatCount(shown) : countText(shown, rows.length, 'snapshot');
  if (localBytes === null) return count;
  return `${count}, ${formatBytes(localBytes)}${brief ? '' : ' local'}`;
}
