import type { Span } from '../../../components/line.tsx';
import { progressWords, STEP_MARKS } from '../../../src/presentation/progress.ts';
import type { Glyphs } from '../../../src/presentation/shapes/glyphs.ts';
import type { StepInList } from '../../../src/state/overall-progress.ts';
import type { Progress } from '../../../src/state/progress.ts';
import { cellWidth, cut, fitCells } from '../../../src/text/text-width.ts';
import { tableLines } from './progress-lines.ts';
import { stepFigures } from './progress-text.ts';

export interface StepLinesOptions {
  steps: StepInList[];
  now: number;
  width: number;
  /** Lines for the tables of the step in progress. */
  tables: number;
  glyphs: Glyphs;
}

/** Below it a step has its time only. */
const LEAST_WITH_AMOUNTS = 60;
const INDENT = '  ';

/** All steps, with amount, rate and time in columns. */
export function stepLines({ steps, now, width, tables, glyphs }: StepLinesOptions): Span[][] {
  const figures = steps.map((step) => {
    const [amount, rate, time] = stepFigures(step, now);
    return width < LEAST_WITH_AMOUNTS ? [time] : [amount, rate, time];
  });
  const columns = (figures[0] ?? []).map((_, at) => Math.max(0, ...figures.map((row) => cellWidth(row[at] ?? ''))));
  return steps.flatMap((step, index) => {
    const { begun, label } = step;
    const state = begun?.state ?? 'pending';
    const { glyph, tone } = STEP_MARKS[state];
    const words = columns
      .map((cells, at) => (cells === 0 ? '' : `  ${(figures[index]?.[at] ?? '').padStart(cells)}`))
      .join('');
    const mark = `${glyphs[glyph]} `;
    const room = width - cellWidth(words) - cellWidth(mark);
    const name = fitCells(label, Math.max(1, room), { ellipsis: glyphs.ellipsis });
    const head: Span[] = [
      { text: mark, tone },
      { text: name, tone: state === 'running' ? 'strong' : state === 'pending' ? 'dim' : 'plain' },
      { text: words, tone: 'dim' },
    ];
    const { progress } = begun ?? {};
    return progress && state === 'running' ? [head, ...detailLines(progress, { now, width, tables, glyphs })] : [head];
  });
}

/** The tables of a step, or its current item where they have no figures of their own. */
function detailLines(progress: Progress, { now, width, tables, glyphs }: Omit<StepLinesOptions, 'steps'>): Span[][] {
  const room = width - INDENT.length;
  if (progress.items.length > 0) {
    return tableLines(progress, { width: room, tables, glyphs }).map((line): Span[] => [{ text: INDENT }, ...line]);
  }
  const { current } = progressWords(progress, now);
  return current === null ? [] : [[{ text: `${INDENT}${cut(current, room)}`, tone: 'dim' }]];
}
