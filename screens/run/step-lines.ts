import type { Span } from '../../components/line.tsx';
import { progressBar } from '../../components/progress-bar.ts';
import type { Glyphs, Tone } from '../../components/theme.ts';
import { type Progress, paceOf } from '../../src/state/progress.ts';
import { elapsed, type RunStep } from '../../src/state/run.ts';
import { formatBytes, formatCount, formatDuration } from '../../src/text/format.ts';
import { cellWidth, cut, fitCells } from '../../src/text/text-width.ts';

const LOOKS: Record<RunStep['state'], { glyph: 'running' | 'good' | 'skipped' | 'bad'; tone: Tone }> = {
  running: { glyph: 'running', tone: 'accent' },
  done: { glyph: 'good', tone: 'good' },
  skipped: { glyph: 'skipped', tone: 'dim' },
  failed: { glyph: 'bad', tone: 'bad' },
};

export interface StepLinesOptions {
  steps: RunStep[];
  now: number;
  width: number;
  glyphs: Glyphs;
}

/** The steps with their times, and the progress of the running one. */
export function stepLines({ steps, now, width, glyphs }: StepLinesOptions): Span[][] {
  return steps.flatMap((step) => {
    const { glyph, tone } = LOOKS[step.state];
    const time = step.state === 'skipped' ? 'skipped' : formatDuration(elapsed(step, now));
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
  const { rate, remainingMs, share } = paceOf(progress, now);
  const amount = withBytes(amountWords(progress), progress.bytes);
  const words = [
    share === null ? amount : `${String(Math.floor(share * 100)).padStart(3)} %  ${amount}`,
    rate === null ? null : `${oneAmount(rate, progress.unit)}/s`,
    remainingMs === null ? null : `${formatDuration(Math.ceil(remainingMs / 1000) * 1000)} left`,
  ].filter((word) => word !== null);
  const bar = share === null ? [] : progressBar({ share, width: Math.min(BAR_WIDTH, Math.floor(width / 3)), glyphs });
  const line: Span[] = [{ text: INDENT }, ...bar, { text: share === null ? '' : ' ' }, { text: words.join('  ') }];
  const current = progress.current && [{ text: INDENT + cut(currentWords(progress), width - 2), tone: 'dim' as const }];
  return current ? [line, current] : [line];
}

/** `public.orders  1,200 of 9,000 rows, 310 kB` */
function currentWords({ current, ofCurrent, unit }: Progress): string {
  if (ofCurrent === null) return current ?? '';
  return `${current}  ${withBytes(amountWords({ ...ofCurrent, unit }), ofCurrent.bytes)}`;
}

function withBytes(amount: string, bytes: number | null): string {
  return bytes === null ? amount : `${amount}, ${formatBytes(bytes)}`;
}

function amountWords({ done, total, unit }: Pick<Progress, 'done' | 'total' | 'unit'>): string {
  if (!total || done > total) return oneAmount(done, unit);
  return `${oneAmount(done, unit, total)} of ${oneAmount(total, unit)}`;
}

function oneAmount(amount: number, unit: Progress['unit'], beside?: number): string {
  if (unit === 'bytes') return formatBytes(amount);
  // `3 of 25 tables`: the unit appears once.
  return beside === undefined ? `${formatCount(amount)} ${unit}` : formatCount(amount);
}
