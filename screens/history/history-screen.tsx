import { useMemo } from 'react';
import { factLines } from '../../components/facts.tsx';
import { Lines, type Span } from '../../components/line.tsx';
import { useTheme } from '../../components/theme.ts';
import { countedEntries, historyColumns, historyFacts } from '../../src/operations/history/text.ts';
import type { HistoryEntry } from '../../src/results/history-results.ts';
import { Frame, useRoom } from '../app/frame/frame.tsx';
import { ListFrame } from '../app/frame/list-frame.tsx';
import { BACK, HELP, MOVES, PALETTE, REFRESH } from '../app/keys.ts';
import { positionIn, rowsByIndex } from '../app/lists/in-view.ts';
import type { ScreenModule } from '../app/model.ts';
import { EMPTY, LOADING } from '../app/text.ts';
import { readAgain } from '../commands/history.ts';
import { entriesOf, type HistoryRoute } from './history-route.ts';

export const historyScreen: ScreenModule<HistoryRoute> = {
  id: 'history',
  title: 'History',
  view: HistoryView,
  keys: [
    {
      keys: ['enter', 'right'],
      label: 'details',
      help: 'show the entry in full',
      when: ({ route }) => !route.opened,
      whyNot: ({ route }) => (selectedEntry(route) ? null : 'There is no entry'),
      run: ({ navigation }, route) => navigation.replace({ ...route, opened: true }),
      palette: false,
    },
    BACK,
    REFRESH,
    PALETTE,
    HELP,
    ...MOVES,
  ],
  rows: (_, route) => rowsByIndex(entriesOf(route)),
  onBack: ({ navigation }, route) => {
    if (route.opened) {
      navigation.replace({ ...route, opened: false });
      return;
    }
    route.controller.abort();
    navigation.pop();
  },
  onRefresh: readAgain,
};

function selectedEntry(route: HistoryRoute): HistoryEntry | null {
  const entries = entriesOf(route);
  return entries[positionIn(rowsByIndex(entries), route.list.selected)] ?? null;
}

function HistoryView({ route }: { route: HistoryRoute }) {
  const { columns: width, height } = useRoom();
  const { glyphs } = useTheme();
  const columns = useMemo(() => historyColumns({ glyphs }), [glyphs]);
  const { of, found, opened } = route;
  const path = [...(of === null ? [] : [of]), 'history'];
  const entry = opened ? selectedEntry(route) : null;
  if (entry) {
    const { title, facts } = historyFacts(entry);
    const lines: Span[][] = [[{ text: title, tone: 'strong' }], [], ...factLines({ facts, width: width - 4 })];
    return (
      <Frame screen="history" path={[...path, 'entry']}>
        <Lines lines={lines.slice(0, height).map((spans) => [{ text: '  ' }, ...spans])} width={width - 2} />
      </Frame>
    );
  }
  return (
    <ListFrame
      route={route}
      path={path}
      aside={found ? [{ text: countedEntries(found), tone: 'dim' }] : []}
      columns={columns}
      rows={entriesOf(route)}
      empty={found ? EMPTY.history : LOADING.history}
      detail={historyFacts}
      beside
    />
  );
}
