import { Box, useAnimation } from 'ink';
import { useMemo } from 'react';
import { useStore } from 'zustand';
import { FilterLine } from '../../components/filter-line.tsx';
import { Lines, type Span } from '../../components/line.tsx';
import { useTheme } from '../../components/theme.ts';
import type { StepInList } from '../../src/state/overall-progress.ts';
import { progressOfRun, type Run, runBefore } from '../../src/state/runs.ts';
import { Frame, useModel, useRoom } from '../app/frame/frame.tsx';
import { progressLines } from '../app/frame/progress-lines.ts';
import { runBadge, runStatus } from '../app/frame/run-text.ts';
import { stepLines } from '../app/frame/step-lines.ts';
import { FILTERED, filterOf, isFiltering } from '../app/lists/filter.ts';
import { runWithId, type ScreenModule } from '../app/model.ts';
import { scrolledUp } from '../app/navigate.ts';
import type { RunRoute } from '../commands/runs/run-route.ts';
import { RUN_SCREEN_KEYS } from './keys.ts';
import { outcomeLines } from './outcome.ts';
import { viewLog, wrapLog } from './run-log.ts';

export const runScreen: ScreenModule<RunRoute> = {
  title: 'Run: steps, progress, log',
  view: RunView,
  keys: RUN_SCREEN_KEYS,
  onMove: (model, route, move) =>
    model.navigation.replace({ ...route, scrolledUp: scrolledUp(model, route.scrolledUp, move) }),
  ...FILTERED,
  onBack: ({ navigation }, route) => {
    if (route.log) navigation.replace({ ...route, log: false, scrolledUp: 0 });
    else navigation.pop();
  },
};

function RunView({ route }: { route: RunRoute }) {
  const model = useModel();
  const run = useStore(model.runs.store, ({ runs }) => runWithId(runs, route.run));
  const before = useStore(model.runs.store, ({ runs }) => run && runBefore(runs, run));
  // An ended run needs no clock.
  useAnimation({ interval: 500, isActive: run?.state.status === 'running' });
  if (!run) return null;
  const now = model.clock().getTime();
  return (
    <Frame path={[run.target, run.title]} aside={[...runBadge(run), statusOf(run, now)]}>
      <RunPanes route={route} run={run} before={before} now={now} />
    </Frame>
  );
}

/** Columns of a window in which the log stands beside the steps, and the most of the steps. */
const BESIDE_FROM = 156;
const MOST_STEPS = 110;

function RunPanes({ route, run, before, now }: Pick<OutcomeProps, 'route' | 'run' | 'before' | 'now'>) {
  const { columns: width, height, wide } = useRoom();
  if (route.log) return <RunLog {...{ route, run, width, height }} />;
  const steps = Math.min(MOST_STEPS, Math.floor(width * STEPS_SHARE));
  if (!wide || width < BESIDE_FROM) return <RunOutcome {...{ route, run, before, now, width, height }} />;
  return (
    <Box>
      <RunOutcome {...{ route, run, before, now, height }} width={steps} />
      <LogTail run={run} width={width - steps} height={height} />
    </Box>
  );
}

const STEPS_SHARE = 0.55;

/** The end of the log, which follows new lines. */
function LogTail({ run: { state }, width, height }: { run: Run; width: number; height: number }) {
  const { glyphs } = useTheme();
  const { log } = state;
  const room = width - MARGIN;
  const wrapped = useMemo(
    () => wrapLog(log.slice(-height), { filter: '', width: room, unfolded: false, glyphs }),
    [log, height, room, glyphs],
  );
  const { lines } = viewLog({ state, wrapped, filter: '', scrolledUp: 0, height, width: room, glyphs });
  return <Pane lines={lines} width={width} height={height} />;
}

/** The card has the duration. */
function statusOf(run: Run, now: number): Span {
  const status = runStatus(run, now);
  return run.state.status === 'done' && run.summary?.card ? { ...status, text: 'done' } : status;
}

interface LogProps {
  route: RunRoute;
  run: Run;
  width: number;
  height: number;
}

interface OutcomeProps extends LogProps {
  before: Run | null;
  now: number;
}

const MARGIN = 4;

/** Progress, steps and outcome; the last lines stay in view: that is where the outcome is. */
function RunOutcome({ route, run, before, now, width: columns, height }: OutcomeProps) {
  const { viewport } = useModel();
  const { glyphs } = useTheme();
  const width = columns - MARGIN;
  const { steps } = progressOfRun(run, now);
  const outcome = outcomeLines({ run, before, width, glyphs });
  const head = progressLines({ run, now, width, glyphs });
  // Tables get what the bar, the steps and warnings leave.
  const tables = Math.min(MOST_TABLES, height - steps.length - outcome.length - head.length);
  const shown = stepLines({ steps, now, width, tables, glyphs });
  const rows = Math.max(1, height - head.length);
  const isRunning = run.state.status === 'running';
  // In a low window the step in progress stays in view.
  const rest = isRunning && shown.length + outcome.length > rows ? shown : [...shown, ...outcome];
  const furthest = Math.max(0, rest.length - rows);
  const below = isRunning ? Math.max(0, furthest - linesBefore(steps)) : 0;
  const end = rest.length - Math.min(route.scrolledUp + below, furthest);
  viewport.furthest = furthest;
  viewport.page = rows;
  return <Pane lines={[...head, ...rest.slice(Math.max(0, end - rows), end)]} width={columns} height={height} />;
}

/** Lines of the steps before the one in progress. */
function linesBefore(steps: StepInList[]): number {
  return Math.max(
    0,
    steps.findIndex(({ begun }) => begun?.state === 'running'),
  );
}

const MOST_TABLES = 8;

function RunLog({ route, run, ...room }: LogProps) {
  const { viewport } = useModel();
  const { glyphs } = useTheme();
  const { state } = run;
  const { log } = state;
  const { unfolded } = route;
  const filter = filterOf(route);
  const filtering = isFiltering(route);
  const height = room.height - (filtering ? 1 : 0);
  const width = room.width - MARGIN;
  const wrapped = useMemo(
    () => wrapLog(log, { filter, width, unfolded, glyphs }),
    [log, filter, width, unfolded, glyphs],
  );
  const view = viewLog({ state, wrapped, filter, scrolledUp: route.scrolledUp, height, width, glyphs });
  viewport.furthest = view.furthest;
  viewport.page = Math.max(1, height - 1);
  return (
    <Box flexDirection="column">
      {filtering && <FilterLine typing={route.typing} filter={filter} width={room.width} />}
      <Pane lines={view.lines} width={room.width} height={height} />
    </Box>
  );
}

function Pane({ lines, width, height }: { lines: Span[][]; width: number; height: number }) {
  return (
    <Box flexDirection="column" width={width} height={height} paddingLeft={2}>
      <Lines lines={lines} width={width - MARGIN} />
    </Box>
  );
}
