import { percentText, progressWords } from '../../../src/presentation/progress.ts';
import { type Item, isActive, isFinished, itemRate, type Progress, paceOf } from '../../../src/state/progress.ts';
import { elapsed } from '../../../src/state/run.ts';
import type { Run } from '../../../src/state/runs.ts';
import { formatBytes, formatCount, formatDuration, formatNumberOf } from '../../../src/text/format.ts';

export type ProgressingRun = Pick<Run, 'state' | 'estimateMs'>;

/** A run as a whole; what is not known is said to be unknown. */
export interface RunProgress {
  /** `12 s left`, `about 12 s left`, `time left unknown` */
  left: string;
  /** 0 to 1, for the bar. */
  share: number | null;
  percent: string;
  /** `12.3 MB of 30 MB`, `5.2 MB/s`, `2 tables in progress` */
  words: string[];
}

/** By the figures of the running step, and by earlier runs where they say that more is to come. */
export function runProgress({ state, estimateMs }: ProgressingRun, now: number): RunProgress {
  const progress = runningProgress(state.steps);
  const pace = progress && paceOf(progress, now);
  const words = progress && progressWords(progress, now);
  const active = progress?.items.filter((item) => isActive(item, now)).length ?? 0;
  const spent = elapsed(state, now);
  const expected = estimateMs !== undefined && spent < estimateMs ? estimateMs - spent : null;
  const measured = pace?.remainingMs ?? null;
  const byEarlier = expected !== null && expected >= (measured ?? 0);
  const leftMs = byEarlier ? expected : measured;
  const share = byEarlier ? spent / (spent + (expected ?? 0)) : (pace?.share ?? null);
  const time = leftMs === null ? null : formatDuration(Math.ceil(leftMs / 1000) * 1000);
  return {
    left: time === null ? 'time left unknown' : `${byEarlier ? 'about ' : ''}${time} left`,
    share,
    percent: share === null ? '' : percentText(share),
    words: [
      ...(words ? [words.amount] : []),
      ...(words?.rate ? [words.rate] : []),
      ...(active > 0 ? [`${formatNumberOf(active, 'table')} in progress`] : []),
    ],
  };
}

function runningProgress(steps: Run['state']['steps']): Progress | null {
  return steps.findLast(({ state, progress }) => state === 'running' && progress !== null)?.progress ?? null;
}

export interface TableProgress {
  name: string;
  share: number;
  finished: boolean;
  /** `63%  12 MB of 20 MB  3.1 MB/s` */
  words: string[];
}

/** The tables of the running step, largest first; with little room those in progress stay before finished ones. */
export function tableProgress({ state }: ProgressingRun, most: number): TableProgress[] {
  const progress = runningProgress(state.steps);
  if (!progress) return [];
  const { items, unit } = progress;
  const finished = items.filter(isFinished);
  const open = items.filter((item) => !isFinished(item));
  const shown = new Set([...open, ...finished].slice(0, Math.max(0, most)));
  return items.filter((item) => shown.has(item)).map((item) => rowOf(item, unit));
}

function rowOf(item: Item, unit: Progress['unit']): TableProgress {
  const { name, done, total } = item;
  const amount = (value: number): string => (unit === 'bytes' ? formatBytes(value) : formatCount(value));
  const share = total === 0 ? 1 : Math.max(0, Math.min(1, done / total));
  const rate = itemRate(item);
  return {
    name,
    share,
    finished: isFinished(item),
    words: [
      percentText(share).padStart(4),
      `${amount(done)} of ${amount(total)}${unit === 'bytes' ? '' : ` ${unit}`}`,
      ...(rate === null ? [] : [`${amount(rate)}${unit === 'bytes' ? '' : ` ${unit}`}/s`]),
    ],
  };
}
