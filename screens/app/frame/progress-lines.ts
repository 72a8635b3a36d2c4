import type { Span } from '../../../components/line.tsx';
import { progressBar } from '../../../components/progress-bar.ts';
import type { Glyphs } from '../../../src/presentation/shapes/glyphs.ts';
import type { Progress } from '../../../src/state/progress.ts';
import { cellWidth, fitCells } from '../../../src/text/text-width.ts';
import { type ProgressingRun, runProgress, tableProgress } from './progress-text.ts';

export interface ProgressLinesOptions {
  run: ProgressingRun;
  now: number;
  width: number;
  glyphs: Glyphs;
}

const LEAST_BAR = 4;
const MOST_NAME = 32;

/** One bar over all steps, and an empty line. */
export function progressLines({ run, now, width, glyphs }: ProgressLinesOptions): Span[][] {
  if (run.state.status !== 'running') return [];
  const { left, share, percent } = runProgress(run, now);
  const bar = width - cellWidth(left) - 7;
  return [
    [
      ...(bar < LEAST_BAR ? [] : progressBar({ share, width: bar, glyphs })),
      { text: ` ${percent.padStart(4)}  `, tone: 'strong' },
      { text: left },
    ],
    [],
  ];
}

/** A bar for each table of a step. */
export function tableLines(
  progress: Progress,
  { width, tables, glyphs }: { width: number; tables: number; glyphs: Glyphs },
): Span[][] {
  const rows = tableProgress(progress, tables);
  const nameWidth = Math.min(MOST_NAME, Math.floor(width / 3), Math.max(0, ...rows.map(({ name }) => cellWidth(name))));
  // The same columns in every row, so that bars begin and end together.
  const wordsWidth = (count: number) =>
    Math.max(0, ...rows.map(({ words }) => cellWidth(words.slice(0, count).join('  '))));
  const count = [3, 2, 1].find((most) => width - nameWidth - wordsWidth(most) - 2 >= LEAST_BAR * 2) ?? 1;
  const barWidth = Math.max(0, width - nameWidth - wordsWidth(count) - 2);
  return rows.map(({ name, share, finished, words }): Span[] => [
    { text: `${fitCells(name, nameWidth, { ellipsis: glyphs.ellipsis })} `, tone: finished ? 'dim' : 'plain' },
    ...(barWidth < LEAST_BAR ? [] : progressBar({ share, width: barWidth, glyphs })),
    { text: ` ${words.slice(0, count).join('  ')}`, tone: 'dim' },
  ]);
}
