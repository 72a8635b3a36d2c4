import type { Cell } from '../../src/presentation/shapes/column.ts';
import type { Glyphs } from '../../src/presentation/shapes/glyphs.ts';
import type { Run } from '../../src/state/runs.ts';
import { percentOf } from '../app/frame/run-text.ts';

/** The runs in progress or queued, by target: of several, the one in progress. */
export function liveRuns(runs: Run[]): Map<string, Run> {
  const live = runs.filter(({ state }) => state.status === 'running' || state.status === 'waiting');
  const first = [...Map.groupBy(live, ({ target }) => target)].map(([target, all]): [string, Run] => [
    target,
    all.find(({ state }) => state.status === 'running') ?? (all[0] as Run),
  ]);
  return new Map(first);
}

/** `⠋ build 42%`, in place of the status of its target; `frame` turns the spinner. */
export function runCell(run: Run, { glyphs, frame, now }: { glyphs: Glyphs; frame: number; now: number }): Cell {
  const { kind, state, cancelling } = run;
  if (state.status === 'waiting') return { text: `${glyphs.pending} ${kind} queued`, tone: 'dim' };
  const frames = [...glyphs.spinner];
  const mark = frames[frame % Math.max(1, frames.length)] ?? glyphs.running;
  return {
    text: [mark, cancelling ? 'cancelling' : kind, percentOf(run, now)].filter(Boolean).join(' '),
    tone: 'accent',
  };
}
