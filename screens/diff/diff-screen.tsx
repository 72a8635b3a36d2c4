import { ListView } from '../../components/list-view.tsx';
import { diffColumns, diffCount } from '../../src/presentation/diff.ts';
import { LOADING, noDifferenceLines } from '../../src/presentation/lists.ts';
import type { DiffResult } from '../../src/results/results.ts';
import { type ListState, selectedIndex } from '../../src/state/list.ts';
import { formatNumberOf } from '../../src/text/format.ts';
import type { Fetched } from '../app/fetched.ts';
import { Frame, useRoom } from '../app/frame.tsx';
import { BACK, HELP, MOVES, PALETTE } from '../app/keys.ts';
import type { ScreenModule } from '../app/model.ts';

declare module '../app/route.ts' {
  interface Routes {
    diff: DiffRoute;
  }
}

interface DiffRoute extends Fetched<DiffResult> {
  screen: 'diff';
  target: string;
  title: string;
  list: ListState;
}

/** One object, so that the layout is memoized. */
const DIFF_COLUMNS = diffColumns({ withBytes: true });

export const diffScreen: ScreenModule<DiffRoute> = {
  id: 'diff',
  title: 'Differences between snapshots',
  view: DiffView,
  keys: [BACK, PALETTE, HELP, ...MOVES],
  rows: (_, { found }) => ({ ids: (found?.changes ?? []).map(({ table }) => table) }),
};

function DiffView({ route }: { route: DiffRoute }) {
  const { columns, height } = useRoom();
  const { target, title, found, error, list } = route;
  const changes = found?.changes ?? [];
  return (
    <Frame screen="diff" path={[target, title]} aside={found ? [{ text: diffCount(found), tone: 'dim' }] : []}>
      <ListView
        columns={DIFF_COLUMNS}
        rows={changes}
        keyOf={({ table }) => table}
        selected={selectedIndex(
          changes.map(({ table }) => table),
          list.selected,
        )}
        width={columns}
        height={height}
        error={error}
        empty={found ? noDifferenceLines(formatNumberOf(found.unchanged, 'table')) : LOADING.difference}
      />
    </Frame>
  );
}
