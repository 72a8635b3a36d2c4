import type { Span } from '../../../components/line.tsx';
import { progressWords, STEP_MARKS, stepTime } from '../../../src/presentation/progress.ts';
import type { Glyphs } from '../../../src/presentation/shapes/glyphs.ts';
import type { Progress } from '../../../src/state/progress.ts';
import type { RunStep } from '../../../src/state/run.ts';
import { cellWidth, cut, fitCells } from '../../../src/text/text-width.ts';

export interface StepLinesOptions {
  steps: RunStep[];
  now: number;
  width: number;
  glyphs: Glyphs;
}

export function stepLines({ steps, now, width, glyphs }: StepLinesOptions): Span[][] {
  return steps.flatMap((step) => {
    const { glyph, tone } = STEP_MARKS[step.state];
    const time = stepTime(step, now);
    const label = fitCells(step.label, Math.max(1, width - cellWidth(time) - 4), { ellipsis: glyphs.ellipsis });
    const head: Span[] = [
      { text: `${glyphs[glyph]} `, tone },
      { text: label, tone: step.state === 'running' ? 'strong' : 'plain' },
      { text: `  ${time}`, tone: 'dim' },
    ];
    const { progress } = step;
    return progress && step.state === 'running' ? [head, ...currentLines(progress, { now, width })] : [head];
  });
}

/** Returns the line for the current item, where it has no bar of its own. */
function currentLines(progress: Progress, { now, width }: { now: number; width: number }): Span[][] {
  const { current } = progressWords(progress, now);
  return current === null || progress.items.length > 0 ? [] : [[{ text: `  ${cut(current, width - 2)}`, tone: 'dim' }]];
}
