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
const LEAST_BAR = 4;

function progressLines(progress: Progress, { now, width, glyphs }: Omit<StepLinesOptions, 'steps'>): Span[][] {
  const { share, percent, amount, rate, remaining, current } = progressWords(progress, now);
  const room = width - INDENT.length;
  const words = fittingWords([percent?.padStart(4) ?? null, amount, rate, remaining], room);
  const left = room - cellWidth(words) - 1;
  const barWidth = Math.min(BAR_WIDTH, Math.floor(width / 3), left);
  const bar = share === null || barWidth < LEAST_BAR ? [] : progressBar({ share, width: barWidth, glyphs });
  const line: Span[] = [{ text: INDENT }, ...bar, { text: bar.length === 0 ? '' : ' ' }, { text: words }];
  return current ? [line, [{ text: INDENT + cut(current, width - 2), tone: 'dim' }]] : [line];
}

/** Where room is short, the rate goes first, then the amount: percentage and time left are never cut. */
function fittingWords([percent, amount, rate, remaining]: (string | null | undefined)[], width: number): string {
  const forms = [
    [percent, amount, rate, remaining],
    [percent, amount, remaining],
    [percent, remaining],
  ].map((words) => words.filter(Boolean).join('  '));
  return forms.find((words) => cellWidth(words) <= width) ?? forms.at(-1) ?? '';
}
