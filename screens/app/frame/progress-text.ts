import { percentText } from '../../../src/presentation/progress.ts';
import type { StepInList } from '../../../src/state/overall-progress.ts';
import { type Item, isFinished, itemRate, type Progress } from '../../../src/state/progress.ts';
import { elapsed } from '../../../src/state/run.ts';
import type { RunStep } from '../../../src/state/run-step.ts';
import { progressOfRun, type Run } from '../../../src/state/runs.ts';
import { formatBytes, formatCount, formatDuration } from '../../../src/text/format.ts';

export type ProgressingRun = Pick<Run, 'state'>;

/** A run as a whole; what is not known is said to be unknown. */
export interface RunProgress {
  /** 0 to 1, for the bar. */
  share: number;
  percent: string;
  /** `about 12 s left`, `time left unknown`; empty where all of the run takes no longer than a glance. */
  left: string;
}

export function runProgress(run: ProgressingRun, now: number): RunProgress {
  const { share, leftMs } = progressOfRun(run, now);
  const percent = percentText(share);
  if (leftMs === null) return { share, percent, left: 'time left unknown' };
  if (elapsed(run.state, now) + leftMs < LEAST_ESTIMATED_MS) return { share, percent, left: '' };
  const time = formatDuration(Math.max(1, Math.ceil(leftMs / 1000)) * 1000);
  return { share, percent, left: `about ${time} left` };
}

const LEAST_ESTIMATED_MS = 2000;

/** The columns of a step: amount, rate, time. */
export function stepFigures({ begun, expectedMs }: StepInList, now: number): [string, string, string] {
  if (!begun) return ['', '', expectedMs === null ? '' : `~ ${formatDuration(expectedMs)}`];
  if (begun.state === 'skipped') return ['', '', 'skipped'];
  return [...amountAndRate(begun, now), formatDuration(elapsed(begun, now))];
}

const LEAST_RATE_MS = 300;

/** No total of bytes: that of a dump is an estimate, which changes. */
function amountAndRate(step: RunStep, now: number): [string, string] {
  const { progress } = step;
  if (!progress) return ['', ''];
  const { done, total, unit, bytes } = progress;
  const moved = unit === 'bytes' ? done : bytes;
  const ms = elapsed(step, now);
  const rate = moved === null || ms < LEAST_RATE_MS ? '' : `${formatBytes((moved / ms) * 1000)}/s`;
  if (unit === 'bytes') return [formatBytes(done), rate];
  if (step.state === 'running' && total !== null) return [`${formatCount(done)} of ${formatCount(total)}`, rate];
  return [`${formatCount(done)} ${unit}`, rate];
}

export interface TableProgress {
  name: string;
  share: number;
  finished: boolean;
  /** `63%  12 MB of 20 MB  3.1 MB/s` */
  words: string[];
}

/** The tables of a step, largest first; with little room those in progress stay before finished ones. */
export function tableProgress({ items, unit }: Progress, most: number): TableProgress[] {
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
