import type { Span } from '../../../components/line.tsx';
import { progressBar } from '../../../components/progress-bar.ts';
import type { Glyphs } from '../../../src/presentation/shapes/glyphs.ts';

import { cellWidth, fitCells } from '../../../src/text/text-width.ts';
import { type ProgressingRun, runProgress, tableProgress } from './progress-text.ts';

export interface ProgressLinesOptions {
  run: ProgressingRun;
  now: number;
  width: number;
  /** Lines for tables. */
  tables: number;
  glyphs: Glyphs;
}

const LEAST_BAR = 4;
const MOST_NAME = 32;

/** One bar over the full width, time left first; below it the figures, and a bar for each table. */
export function progressLines({ run, now, width, tables, glyphs }: ProgressLinesOptions): Span[][] {
  if (run.state.status !== 'running') return [];
  const { left, share, percent, words } = runProgress(run, now);
  const ends = cellWidth(left) + (percent === '' ? 0 : 5) + 2;
  const bar = width - ends < LEAST_BAR ? [] : progressBar({ share, width: width - ends, glyphs });
  const head: Span[] = [{ text: `${left}  `, tone: 'strong' }, ...bar, { text: percent.padStart(5) }];
  return [
    head,
    ...(words.length > 0 ? [[{ text: words.join('  '), tone: 'dim' } as const]] : []),
    ...tableLines({ run, width, tables, glyphs }),
    [],
  ];
}

function tableLines({ run, width, tables, glyphs }: Omit<ProgressLinesOptions, 'now'>): Span[][] {
  const rows = tableProgress(run, tables);
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
