import { Box, useAnimation } from 'ink';
import { useStore } from 'zustand';
import { Line, type Span } from '../../components/line.tsx';
import { useTheme } from '../../components/theme.ts';
import { formatDuration } from '../../src/amounts.ts';
import { elapsed } from '../../src/state/run.ts';
import type { Run } from '../../src/state/runs.ts';
import { Frame, useModel, useRoom } from '../frame.tsx';
import { runWithId } from '../model.ts';
import type { RunPlace } from '../place.ts';
import { outcomeLines } from './outcome.ts';
import { logLines } from './run-log.ts';
import { stepLines } from './step-lines.ts';

const BESIDE_FROM = 120;

/** Work of any kind: its steps, what came of it, the log of what was run. */
export function RunScreen({ place }: { place: RunPlace }) {
  const model = useModel();
  const run = useStore(model.runs.store, ({ runs }) => runWithId(runs, place.run));
  // Only work that is going on needs a clock: an ended run costs nothing.
  useAnimation({ interval: 500, isActive: run?.state.status === 'running' });
  if (!run) return null;
  return (
    <Frame screen="run" path={[run.target, run.title]} aside={stateWords(run, model.clock().getTime())}>
      <RunPanes run={run} scrolledUp={place.scrolledUp} now={model.clock().getTime()} />
    </Frame>
  );
}

function RunPanes({ run, scrolledUp, now }: { run: Run; scrolledUp: number; now: number }) {
  const { glyphs } = useTheme();
  const { columns, height } = useRoom();
  const beside = columns >= BESIDE_FROM;
  const half = beside ? Math.floor(columns / 2) : columns;
  const above = [
    ...stepLines({ steps: run.state.steps, now, width: half - 4, glyphs }),
    ...outcomeLines({ run, width: half - 4, glyphs }),
  ];
  const aboveRows = beside ? height : Math.min(above.length + 1, height - 4);
  const logRows = beside ? height : height - aboveRows;
  return (
    <Box flexDirection={beside ? 'row' : 'column'} height={height}>
      {/* The last lines stay: that is where the outcome is. */}
      <Lines lines={above.slice(-aboveRows)} width={half} height={aboveRows} />
      <Lines
        lines={logLines({
          state: run.state,
          scrolledUp,
          height: logRows,
          width: columns - (beside ? half : 0) - 4,
          glyphs,
        })}
        width={beside ? columns - half : columns}
        height={logRows}
      />
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

function stateWords({ state, cancelling }: Run, now: number): Span[] {
  const time = formatDuration(elapsed(state, now));
  if (state.status === 'running') return [{ text: `${cancelling ? 'cancelling' : 'running'} ${time}`, tone: 'accent' }];
  const tones = { done: 'good', failed: 'bad', cancelled: 'caution' } as const;
  return [{ text: `${state.status} after ${time}`, tone: tones[state.status] }];
}
