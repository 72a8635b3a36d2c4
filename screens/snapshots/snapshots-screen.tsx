import { useMemo } from 'react';
import { useStore } from 'zustand';
import { Failure } from '../../components/empty.tsx';
import { FilterLine } from '../../components/filter-line.tsx';
import type { Span } from '../../components/line.tsx';
import { ListView } from '../../components/list-view.tsx';
import { useTheme } from '../../components/theme.ts';
import { briefName, noSnapshotsLines, snapshotFacts } from '../../src/presentation/snapshot.ts';
import { briefSnapshotColumns } from '../../src/presentation/snapshot-columns.ts';
import { type SnapshotList, snapshotsOf } from '../../src/state/snapshots.ts';
import { formatBytes } from '../../src/text/format.ts';
import { Frame, useModel, useRoom } from '../app/frame/frame.tsx';
import { FILTERED } from '../app/lists/filter.ts';
import { positionIn } from '../app/lists/in-view.ts';
import { refreshSnapshots } from '../app/lists/refresh.ts';
import { type ScreenModule, targetNamed } from '../app/model.ts';
import { countText, LOADING, noMatchLines } from '../app/text.ts';
import { SNAPSHOT_KEYS } from './keys.ts';
import { type SnapshotsRoute, selectedSnapshot, snapshotsInView } from './snapshots-route.ts';

export const snapshotsScreen: ScreenModule<SnapshotsRoute> = {
  id: 'snapshots',
  title: 'Snapshots of a target',
  view: SnapshotsView,
  keys: SNAPSHOT_KEYS,
  rows: snapshotsInView,
  selected: (model, route) => ({ snapshot: selectedSnapshot(model, route) }),
  onRefresh: (model, { target }) => refreshSnapshots(model, target),
  ...FILTERED,
};

const MINUTE = 60_000;

function SnapshotsView({ route }: { route: SnapshotsRoute }) {
  const model = useModel();
  const state = useStore(model.snapshots);
  const target = useStore(model.targets, (targets) => targetNamed(targets, route.target));
  const { glyphs } = useTheme();
  const { columns, height, wide } = useRoom();
  const { marked } = route;
  const minute = Math.floor(model.clock().getTime() / MINUTE) * MINUTE;
  const list = snapshotsOf(state, route.target);
  const tableColumns = useMemo(
    () => briefSnapshotColumns({ rows: list.rows, glyphs, now: minute, marked }),
    [list.rows, glyphs, minute, marked],
  );
  const view = snapshotsInView(model, route);
  const rows = view.items;
  const index = positionIn(view, route.list.selected);
  const filtering = route.typing !== null || route.list.filter !== '';
  const destination = target?.row.dst_url ?? null;
  const shares = target?.row.type === 'share';
  const none = list.phase === 'loading' ? LOADING.snapshots : noSnapshotsLines(route.target, { shares, byKey: true });
  const empty = filtering ? noMatchLines('snapshots') : none;
  return (
    <Frame
      screen="snapshots"
      path={[route.target]}
      aside={[...markedWords(marked.length), { text: countOf(rows.length, list), tone: 'dim' }]}
    >
      {filtering && <FilterLine typing={route.typing} filter={route.list.filter} width={columns} />}
      {list.error && <Failure error={list.error} width={columns} />}
      {(rows.length > 0 || !list.error) && (
        <ListView
          columns={tableColumns}
          rows={rows}
          keyOf={({ id }) => id}
          selected={index}
          width={columns}
          height={height - (filtering ? 1 : 0)}
          empty={empty}
          detail={(row) => ({ title: `Snapshot ${briefName(row)}`, facts: snapshotFacts(row, destination) })}
          wide={wide}
        />
      )}
    </Frame>
  );
}

function markedWords(count: number): Span[] {
  return count === 0 ? [] : [{ text: `${count} marked  `, tone: 'accent' }];
}

/** `2 of 12 snapshots, 1.2 GB local` */
function countOf(shown: number, { rows, localBytes }: SnapshotList): string {
  const count = countText(shown, rows.length, 'snapshot');
  return localBytes === null ? count : `${count}, ${formatBytes(localBytes)} local`;
}
