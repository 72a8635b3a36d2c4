import { useMemo } from 'react';
import { ListView } from '../../components/list-view.tsx';
import { useTheme } from '../../components/theme.ts';
import { diffColumns, diffCount, NOT_LOCAL } from '../../src/operations/snapshots/diff-text.ts';
import type { DiffResult } from '../../src/results/results.ts';
import { type ListState, selectedIndex } from '../../src/state/list.ts';
import { formatNumberOf } from '../../src/text/format.ts';
import type { FetchState } from '../app/fetched.ts';
import { Frame, useRoom } from '../app/frame.tsx';
import { selectedItem } from '../app/in-view.ts';
import { BACK, HELP, MOVES, PALETTE } from '../app/keys.ts';
import type { Model, ScreenModule } from '../app/model.ts';
import { LOADING, noDifferenceLines } from '../app/text.ts';
import { openTableDiff } from '../commands/table-diff.ts';

declare module '../app/route.ts' {
  interface Routes {
    diff: DiffRoute;
  }
}

interface DiffRoute extends FetchState<DiffResult> {
  screen: 'diff';
  target: string;
  title: string;
  list: ListState;
}

export const diffScreen: ScreenModule<DiffRoute> = {
  id: 'diff',
  title: 'Differences between snapshots',
  view: DiffView,
  keys: [
    {
      keys: ['enter', 'right'],
      label: 'open',
      help: 'show what changed in the definition and the rows of the table',
      whyNot: ({ route: { found } }) =>
        [found?.from, found?.to].every((side) => side?.where.includes('local')) ? null : NOT_LOCAL,
      run: openSelected,
      palette: false,
    },
    BACK,
    PALETTE,
    HELP,
    ...MOVES,
  ],
  rows: (_, { found }) => ({ ids: (found?.changes ?? []).map(({ table }) => table) }),
};

function openSelected(model: Model, { target, found, list }: DiffRoute): void {
  const change = selectedItem(found?.changes ?? [], ({ table }) => table, list);
  if (!found?.to || !change) return;
  openTableDiff(model, { target, a: found.from.id, b: found.to.id, table: change.table });
}

function DiffView({ route }: { route: DiffRoute }) {
  const { columns, height } = useRoom();
  const { target, title, found, error, list } = route;
  const { glyphs } = useTheme();
  const tableColumns = useMemo(() => (found ? diffColumns(found, glyphs) : []), [found, glyphs]);
  const changes = found?.changes ?? [];
  return (
    <Frame screen="diff" path={[target, title]} aside={found ? [{ text: diffCount(found), tone: 'dim' }] : []}>
      <ListView
        columns={tableColumns}
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
