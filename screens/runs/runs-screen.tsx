import { useAnimation } from 'ink';
import { useStore } from 'zustand';
import { useTheme } from '../../components/theme.ts';
import type { ListState } from '../../src/state/list.ts';
import { isLive, type Run } from '../../src/state/runs.ts';
import { useModel } from '../app/frame/frame.tsx';
import { ListFrame } from '../app/frame/list-frame.tsx';
import { runColumns, runCount } from '../app/frame/run-text.ts';
import { BACK, HELP, MESSAGES, MOVES, PALETTE } from '../app/keys.ts';
import { selectedItem } from '../app/lists/in-view.ts';
import { contextOf, type Model, type ScreenModule } from '../app/model.ts';
import { EMPTY } from '../app/text.ts';
import { HISTORY } from '../commands/history.ts';
import { RUN_KEYS } from '../commands/runs/run-keys.ts';
import { runRoute } from '../commands/runs/run-route.ts';

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

function RunsView({ route }: { route: RunsRoute }) {
  const model = useModel();
  const { glyphs } = useTheme();
  const inOrder = useStore(model.runs.store, (state) => state.runs);
  useAnimation({ interval: 1000, isActive: inOrder.some(isLive) });
  return (
    <ListFrame
      route={route}
      path={['runs']}
      aside={[{ text: runCount(inOrder), tone: 'dim' }]}
      columns={runColumns(inOrder, { glyphs, now: model.clock().getTime() })}
      rows={inOrder.toReversed()}
      empty={EMPTY.runs}
    />
  );
}
