import { type Progress, paceOf } from '../state/progress.ts';
import { elapsed } from '../state/run.ts';
import type { RunStep } from '../state/run-step.ts';
import { formatBytes, formatCount, formatDuration } from '../text/format.ts';
import type { Tone } from './shapes/glyphs.ts';

export interface StateMark {
  glyph: 'pending' | 'running' | 'good' | 'bad' | 'caution' | 'skipped';
  tone: Tone;
}

export const STEP_MARKS: Record<RunStep['state'] | 'pending', StateMark> = {
  pending: { glyph: 'pending', tone: 'dim' },
  running: { glyph: 'running', tone: 'accent' },
  done: { glyph: 'good', tone: 'good' },
  skipped: { glyph: 'skipped', tone: 'dim' },
  failed: { glyph: 'bad', tone: 'bad' },
};

export function stepTime(step: RunStep, now: number): string {
  return step.state === 'skipped' ? 'skipped' : formatDuration(elapsed(step, now));
}

/** The progress of a step in words; what is not known is `null`. */
export interface ProgressWords {
  /** Between 0 and 1, for a bar. */
  share: number | null;
  /** `42%` */
  percent: string | null;
  /** `3 of 25 tables, 12.3 MB` */
  amount: string;
  /** `5.2 MB/s` */
  rate: string | null;
  /** `3.2 s left` */
  remaining: string | null;
  /** `public.orders  1,200 of 9,000 rows` */
  current: string | null;
}

export function progressWords(progress: Progress, now: number): ProgressWords {
  const { unit, current, ofCurrent } = progress;
  const { rate, remainingMs, share } = paceOf(progress, now);
  const part = ofCurrent && amountOf({ ...ofCurrent, unit, bytes: unit === 'bytes' ? null : ofCurrent.bytes });
  return {
    share,
    percent: share === null ? null : percentText(share),
    amount: amountOf(progress),
    rate: rate === null ? null : `${oneAmount(rate, unit)}/s`,
    remaining: remainingMs === null ? null : `${formatDuration(Math.ceil(remainingMs / 1000) * 1000)} left`,
    current: current && [current, part].filter(Boolean).join('  '),
  };
}

export function percentText(share: number): string {
  return `${Math.floor(share * 100)}%`;
}

function amountOf({ done, total, unit, bytes }: Pick<Progress, 'done' | 'total' | 'unit' | 'bytes'>): string {
  // `3 of 25 tables`: the unit appears once.
  const part = unit === 'bytes' ? formatBytes(done) : formatCount(done);
  const amount = !total || done > total ? oneAmount(done, unit) : `${part} of ${oneAmount(total, unit)}`;
  return bytes === null ? amount : `${amount}, ${formatBytes(bytes)}`;
}

function oneAmount(amount: number, unit: Progress['unit']): string {
  return unit === 'bytes' ? formatBytes(amount) : `${formatCount(amount)} ${unit}`;
}

export function logFailedText(reason: string): string {
  return `The log cannot be written: ${reason}`;
}
