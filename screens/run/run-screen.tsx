import { Box, useAnimation } from 'ink';
import { useStore } from 'zustand';
import { FilterLine } from '../../components/filter-line.tsx';
import { Line, type Span } from '../../components/line.tsx';
import { useTheme } from '../../components/theme.ts';
import { runBadge, runStatus } from '../../src/presentation/run.ts';
import { type Run, runBefore } from '../../src/state/runs.ts';
import { FILTERED } from '../app/filter.ts';
import { Frame, useModel, useRoom } from '../app/frame.tsx';
import { runWithId, type ScreenModule } from '../app/model.ts';
import { scrolledUp } from '../app/navigate.ts';
import { RUN_SCREEN_KEYS } from './keys.ts';
import { outcomeLines } from './outcome.ts';
import { viewLog } from './run-log.ts';
import type { RunRoute } from './run-route.ts';
import { stepLines } from './step-lines.ts';

export const runScreen: ScreenModule<RunRoute> = {
  id: 'run',
  title: 'Run: steps, progress, log',
  picture: 'run',
  view: RunView,
  keys: RUN_SCREEN_KEYS,
  onMove: (model, route, move) =>
    model.navigation.replace({ ...route, scrolledUp: scrolledUp(model, route.scrolledUp, move) }),
  ...FILTERED,
};

const BESIDE_FROM = 120;

function RunView({ route }: { route: RunRoute }) {
  const model = useModel();
  const run = useStore(model.runs.store, ({ runs }) => runWithId(runs, route.run));
  const before = useStore(model.runs.store, ({ runs }) => run && runBefore(runs, run));
  // An ended run needs no clock.
  useAnimation({ interval: 500, isActive: run?.state.status === 'running' });
  if (!run) return null;
  const now = model.clock().getTime();
  return (
    <Frame screen="run" path={[run.target, run.title]} aside={[...runBadge(run), runStatus(run, now)]}>
      <RunPanes route={route} run={run} before={before} now={now} />
    </Frame>
  );
}

interface RunPanesProps {
  route: RunRoute;
  run: Run;
  before: Run | null;
  now: number;
}

function RunPanes({ route, run, before, now }: RunPanesProps) {
  const { viewport } = useModel();
  const { glyphs } = useTheme();
  const room = useRoom();
  const filter = route.typing?.text ?? route.list.filter;
  const filtering = route.typing !== null || filter !== '';
  const height = room.height - (filtering ? 1 : 0);
  const beside = room.columns >= BESIDE_FROM;
  const half = beside ? Math.floor(room.columns / 2) : room.columns;
  const above = [
    ...stepLines({ steps: run.state.steps, now, width: half - 4, glyphs }),
    ...outcomeLines({ run, before, width: half - 4, glyphs }),
  ];
  const aboveRows = beside ? height : Math.min(above.length + 1, height - 4);
  const logRows = beside ? height : height - aboveRows;
  const logWidth = beside ? room.columns - half : room.columns;
  const { state } = run;
  const log = viewLog({ state, filter, scrolledUp: route.scrolledUp, height: logRows, width: logWidth - 4, glyphs });
  viewport.furthest = log.furthest;
  viewport.page = Math.max(1, logRows - 1);
  return (
    <Box flexDirection="column">
      {filtering && <FilterLine typing={route.typing} filter={filter} width={room.columns} />}
      <Box flexDirection={beside ? 'row' : 'column'} height={height}>
        {/* The last lines stay: that is where the outcome is. */}
        <Lines lines={above.slice(-aboveRows)} width={half} height={aboveRows} />
        <Lines lines={log.lines} width={logWidth} height={logRows} />
      </Box>
    </Box>
  );
}

function Lines({ lines, width, height }: { lines: Span[][]; width: number; height: number }) {
  return (
    <Box flexDirection="column" width={width} height={height} paddingLeft={2}>
      {lines.map((spans, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place
        <Line key={index} spans={spans} width={width - 4} />
      ))}
    </Box>
  );
}
