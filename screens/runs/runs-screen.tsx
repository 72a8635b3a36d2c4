import { useAnimation } from 'ink';
import { useStore } from 'zustand';
import { ListView } from '../../components/list-view.tsx';
import { useTheme } from '../../components/theme.ts';
import { type ListState, selectedIndex } from '../../src/state/list.ts';
import { isLive, type Run } from '../../src/state/runs.ts';
import { Frame, useModel, useRoom } from '../app/frame.tsx';
import { selectedItem } from '../app/in-view.ts';
import { BACK, HELP, MESSAGES, MOVES, PALETTE } from '../app/keys.ts';
import { contextOf, type Model, type ScreenModule } from '../app/model.ts';
import { runColumns, runCount } from '../app/run-text.ts';
import { EMPTY } from '../app/text.ts';
import { HISTORY } from '../commands/history.ts';
import { RUN_KEYS } from '../commands/run-keys.ts';
import { runRoute } from '../commands/run-route.ts';

declare module '../app/route.ts' {
  interface Routes {
    runs: RunsRoute;
  }
}

interface RunsRoute {
  screen: 'runs';
  list: ListState;
}

export const runsScreen: ScreenModule<RunsRoute> = {
  id: 'runs',
  title: 'Runs',
  view: RunsView,
  keys: [
    {
      keys: ['enter', 'right'],
      label: 'open',
      help: 'open the run with its steps and log',
      whyNot: ({ run }) => (run ? null : 'There is no run yet'),
      run: (model) => {
        const { run } = contextOf(model);
        if (run) model.navigation.push(runRoute(run.id));
      },
      palette: false,
    },
    ...RUN_KEYS,
    BACK,
    MESSAGES,
    HISTORY,
    PALETTE,
    HELP,
    ...MOVES,
  ],
  rows: (model) => ({ ids: newestFirst(model).map(({ id }) => id) }),
  selected: (model, { list }) => ({ run: selectedItem(newestFirst(model), ({ id }) => id, list) }),
  listsRuns: true,
};

function newestFirst({ runs }: Model): Run[] {
  return runs.store.getState().runs.toReversed();
}

/** The runs of the session, newest first. */
function RunsView({ route }: { route: RunsRoute }) {
  const model = useModel();
  const { glyphs } = useTheme();
  const { columns, height } = useRoom();
  const inOrder = useStore(model.runs.store, (state) => state.runs);
  useAnimation({ interval: 1000, isActive: inOrder.some(isLive) });
  const runs = inOrder.toReversed();
  const ids = runs.map(({ id }) => id);
  return (
    <Frame screen="runs" path={['runs']} aside={[{ text: runCount(runs), tone: 'dim' }]}>
      <ListView
        columns={runColumns(inOrder, { glyphs, now: model.clock().getTime() })}
        rows={runs}
        keyOf={({ id }) => id}
        selected={selectedIndex(ids, route.list.selected)}
        width={columns}
        height={height}
        empty={EMPTY.runs}
      />
    </Frame>
  );
}
