import type { Span } from '../../components/line.tsx';
import { progressBar } from '../../components/progress-bar.ts';
import { progressWords, STEP_LOOKS, stepTime } from '../../src/presentation/progress.ts';
import type { Glyphs } from '../../src/presentation/shapes/glyphs.ts';
import type { Progress } from '../../src/state/progress.ts';
import type { RunStep } from '../../src/state/run.ts';
import { cellWidth, cut, fitCells } from '../../src/text/text-width.ts';

export interface StepLinesOptions {
  steps: RunStep[];
  now: number;
  width: number;
  glyphs: Glyphs;
}

/** The steps with their times, and the progress of the running one. */
export function stepLines({ steps, now, width, glyphs }: StepLinesOptions): Span[][] {
  return steps.flatMap((step) => {
    const { glyph, tone } = STEP_LOOKS[step.state];
    const time = stepTime(step, now);
    const label = fitCells(step.label, Math.max(1, width - cellWidth(time) - 4), { ellipsis: glyphs.ellipsis });
    const head: Span[] = [
      { text: `${glyphs[glyph]} `, tone },
      { text: label, tone: step.state === 'running' ? 'strong' : 'plain' },
      { text: `  ${time}`, tone: 'dim' },
    ];
    const { progress } = step;
    return progress && step.state === 'running' ? [head, ...progressLines(progress, { now, width, glyphs })] : [head];
  });
}

const INDENT = '  ';
const BAR_WIDTH = 24;

function progressLines(progress: Progress, { now, width, glyphs }: Omit<StepLinesOptions, 'steps'>): Span[][] {
  const { share, percent, amount, rate, remaining, current } = progressWords(progress, now);
  const words = [percent?.padStart(4), amount, rate, remaining].filter(Boolean).join('  ');
  const bar = share === null ? [] : progressBar({ share, width: Math.min(BAR_WIDTH, Math.floor(width / 3)), glyphs });
  const line: Span[] = [{ text: INDENT }, ...bar, { text: share === null ? '' : ' ' }, { text: words }];
  return current ? [line, [{ text: INDENT + cut(current, width - 2), tone: 'dim' }]] : [line];
}
