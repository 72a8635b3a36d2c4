import { useMemo } from 'react';
import { Empty, Failure } from '../../components/empty.tsx';
import { List } from '../../components/list.tsx';
import { tableDiffLines } from '../../src/operations/snapshots/diff/table-diff-text.ts';
import { revealByKey } from '../../src/operations/snapshots/rows-text.ts';
import { briefName } from '../../src/presentation/snapshot.ts';
import type { TableDiff } from '../../src/results/diff-results.ts';
import { Frame, useRoom } from '../app/frame/frame.tsx';
import { BACK, HELP, MOVES, PALETTE } from '../app/keys.ts';
import { positionIn, rowsByIndex } from '../app/lists/in-view.ts';
import type { ScreenModule } from '../app/model.ts';
import { LOADING } from '../app/text.ts';
import { toggleRevealed } from '../commands/table-diff.ts';
import type { TableDiffRoute } from './table-diff-route.ts';

export const tableDiffScreen: ScreenModule<TableDiffRoute> = {
  id: 'table-diff',
  title: 'Differences of a table',
  view: TableDiffView,
  keys: [
    BACK,
    {
      id: 'reveal',
      keys: ['z'],
      label: 'reveal',
      help: 'show or mask values that look like personal data',
      whyNot: ({ route }) =>
        route.found?.rows?.columns.some(({ personal }) => personal !== null)
          ? null
          : 'No column looks like personal data',
      run: toggleRevealed,
    },
    PALETTE,
    HELP,
    ...MOVES,
  ],
  rows: (_, { found }) => rowsByIndex(linesOf(found)),
};

function linesOf(found: TableDiff | null) {
  return found ? tableDiffLines(found, { how: revealByKey() }) : [];
}

function TableDiffView({ route }: { route: TableDiffRoute }) {
  const { columns: width, height } = useRoom();
  const { target, table, found, error, list } = route;
  const lines = useMemo(() => linesOf(found), [found]);
  const names = found ? `${briefName(found.from)} → ${briefName(found.to)}` : '';
  return (
    <Frame screen="table-diff" path={[target, table]} aside={[{ text: names, tone: 'dim' }]}>
      {error && <Failure error={error} width={width} />}
      {!error && !found && <Empty lines={LOADING.difference} />}
      {found && (
        <List
          items={lines}
          row={(line) => [line]}
          selected={positionIn(rowsByIndex(lines), list.selected)}
          width={width}
          height={height}
        />
      )}
    </Frame>
  );
}
