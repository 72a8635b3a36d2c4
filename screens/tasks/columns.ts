import type { Cell, Column } from '../../components/table.ts';
import type { Glyphs, Tone } from '../../components/theme.ts';
import { paceOf } from '../../src/state/progress.ts';
import { elapsed } from '../../src/state/run.ts';
import { type Run, runBefore } from '../../src/state/runs.ts';
import { formatDuration } from '../../src/text/format.ts';

interface Look {
  glyph: 'pending' | 'running' | 'good' | 'bad' | 'caution';
  tone: Tone;
}

const LOOKS: Record<Run['state']['status'], Look> = {
  waiting: { glyph: 'pending', tone: 'dim' },
  running: { glyph: 'running', tone: 'accent' },
  done: { glyph: 'good', tone: 'good' },
  failed: { glyph: 'bad', tone: 'bad' },
  cancelled: { glyph: 'caution', tone: 'caution' },
};

/** `runs` are all runs, to name the one that another waits for. */
export function taskColumns(runs: Run[], { glyphs, now }: { glyphs: Glyphs; now: number }): Column<Run>[] {
  return [
    { title: 'STATE', cell: (run) => stateCell(run, glyphs) },
    { title: 'TIME', align: 'right', cell: ({ state }) => ({ text: formatDuration(elapsed(state, now)) }) },
    { title: 'TASK', grows: true, cell: (run) => ({ text: taskText(run, runs) }) },
  ];
}

function stateCell({ state, receipt, cancelling }: Run, glyphs: Glyphs): Cell {
  const damaged = (receipt?.problems.length ?? 0) > 0;
  const { glyph, tone } = damaged ? LOOKS.failed : LOOKS[state.status];
  const word = cancelling && state.status === 'running' ? 'cancelling' : state.status;
  return { text: `${glyphs[glyph]} ${word}`, tone };
}

/** Title and progress; of an ended run its result. */
function taskText(run: Run, runs: Run[]): string {
  const { title, state, receipt } = run;
  switch (state.status) {
    case 'waiting':
      return `${title}, after this: ${runBefore(runs, run)?.title ?? ''}`;
    case 'running': {
      const step = state.steps.findLast((other) => other.state === 'running');
      const share = step?.progress ? paceOf(step.progress, state.startedAt).share : null;
      return [title, step?.label, share === null ? null : `${Math.floor(share * 100)} %`].filter(Boolean).join(': ');
    }
    case 'done':
      return receipt?.line ?? title;
    case 'failed':
    case 'cancelled':
      return state.error ? `${title}: ${state.error.message}` : title;
    default:
      return state.status satisfies never;
  }
}
