import { Box } from 'ink';
import { useMemo } from 'react';
import { useStore } from 'zustand';
import { DETAIL_ROWS, DetailPane } from '../../components/detail-pane.tsx';
import { Empty, Failure } from '../../components/empty.tsx';
import { FilterLine } from '../../components/filter-line.tsx';
import type { Span } from '../../components/line.tsx';
import { TableList } from '../../components/table-list.tsx';
import { useTheme } from '../../components/theme.ts';
import { LOADING, noMatchLines } from '../../src/presentation/lists.ts';
import { briefSnapshotColumns, noSnapshotsLines, snapshotFacts } from '../../src/presentation/snapshot.ts';
import { countText } from '../../src/presentation/targets.ts';
import { snapshotsOf } from '../../src/state/snapshots.ts';
import { FILTERED } from '../app/filter.ts';
import { Frame, useModel, useRoom } from '../app/frame.tsx';
import { positionIn } from '../app/in-view.ts';
import { type ScreenModule, targetNamed } from '../app/model.ts';
import { refreshSnapshots } from '../app/refresh.ts';
import { SNAPSHOT_KEYS } from './keys.ts';
import { type SnapshotsRoute, selectedSnapshot, snapshotsInView } from './snapshots-route.ts';

export const snapshotsScreen: ScreenModule<SnapshotsRoute> = {
  id: 'snapshots',
  title: 'Snapshots of a target',
  picture: 'snapshots',
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
  const tableColumns = useMemo(() => briefSnapshotColumns({ glyphs, now: minute, marked }), [glyphs, minute, marked]);
  const list = snapshotsOf(state, route.target);
  const view = snapshotsInView(model, route);
  const rows = view.items;
  const index = positionIn(view, route.list.selected);
  const selected = rows[index];
  const filtering = route.typing !== null || route.list.filter !== '';
  const detail = wide ? 'beside' : height >= 16 ? 'below' : 'none';
  const listWidth = detail === 'beside' ? Math.floor(columns * 0.6) : columns;
  const listHeight = height - (filtering ? 1 : 0) - (detail === 'below' ? DETAIL_ROWS : 0);
  const destination = target?.row.dst_url ?? null;
  const shares = target?.row.type === 'share';
  return (
    <Frame screen="snapshots" path={[route.target]} aside={countOf(rows.length, list.rows.length)}>
      {filtering && <FilterLine typing={route.typing} filter={route.list.filter} width={columns} />}
      {list.error && <Failure error={list.error} width={columns} />}
      {rows.length === 0 && !list.error && (
        <NoSnapshots target={route.target} loading={list.phase === 'loading'} filtering={filtering} shares={shares} />
      )}
      {rows.length > 0 && (
        <Box flexDirection={detail === 'beside' ? 'row' : 'column'}>
          <TableList
            columns={tableColumns}
            rows={rows}
            keyOf={({ id }) => id}
            selected={index}
            width={listWidth}
            height={listHeight}
          />
          {selected && detail !== 'none' && (
            <DetailPane
              title={[{ text: `Snapshot ${selected.index}`, tone: 'strong' }]}
              facts={snapshotFacts(selected, destination)}
              width={detail === 'beside' ? columns - listWidth : columns}
              place={detail}
            />
          )}
        </Box>
      )}
    </Frame>
  );
}

interface NoSnapshotsProps {
  target: string;
  loading: boolean;
  filtering: boolean;
  /** A shared target cannot build. */
  shares: boolean;
}

function NoSnapshots({ target, loading, filtering, shares }: NoSnapshotsProps) {
  if (filtering) return <Empty lines={noMatchLines('snapshots')} />;
  if (loading) return <Empty lines={LOADING.snapshots} />;
  return <Empty lines={noSnapshotsLines(target, { shares })} />;
}

function countOf(shown: number, all: number): Span[] {
  return [{ text: countText(shown, all, 'snapshot'), tone: 'dim' }];
}
