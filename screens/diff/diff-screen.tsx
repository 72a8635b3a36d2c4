import { useMemo } from 'react';
import { useTheme } from '../../components/theme.ts';
import { comparedText, diffColumns, diffCount, NOT_LOCAL } from '../../src/operations/snapshots/diff/diff-text.ts';
import type { DiffResult } from '../../src/results/review/diff-results.ts';
import type { ListState } from '../../src/state/list.ts';
import { formatNumberOf } from '../../src/text/format.ts';
import { ListFrame } from '../app/frame/list-frame.tsx';
import { BACK, LIST_KEYS } from '../app/keys.ts';
import type { FetchState } from '../app/lists/fetched.ts';
import { selectedItem } from '../app/lists/in-view.ts';
import type { Model, ScreenModule } from '../app/model.ts';
import { LOADING, noDifferenceLines } from '../app/text.ts';
import { BACK_TO } from '../commands/points.ts';
import { UNDO } from '../commands/reset.ts';
import { openTableDiff } from '../commands/table-diff.ts';

interface DiffRoute extends FetchState<DiffResult> {
  screen: 'diff';
  target: string;
  title: string;
  list: ListState;
}

export const diffScreen: ScreenModule<DiffRoute> = {
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
    },
    UNDO,
    BACK_TO,
    BACK,
    ...LIST_KEYS,
  ],
  rows: (_, { found }) => ({ ids: (found?.changes ?? []).map(({ table }) => table) }),
};

function openSelected(model: Model, { target, found, list }: DiffRoute): void {
  const change = selectedItem(found?.changes ?? [], ({ table }) => table, list);
  if (!found?.to || !change) return;
  const sides = comparedText(found.from, found.to);
  openTableDiff(model, { target, sides, a: found.from.id, b: found.to.id, table: change.table });
}

function DiffView({ route }: { route: DiffRoute }) {
  const { target, title, found } = route;
  const { glyphs } = useTheme();
  const columns = useMemo(() => (found ? diffColumns(found, glyphs) : []), [found, glyphs]);
  return (
    <ListFrame
      route={route}
      path={[target, title]}
      aside={found ? [{ text: diffCount(found), tone: 'dim' }] : []}
      columns={columns}
      rows={found?.changes ?? []}
      empty={found ? noDifferenceLines(formatNumberOf(found.unchanged, 'table')) : LOADING.difference}
    />
  );
}
