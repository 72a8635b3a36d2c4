import type { ProgressEvent } from '../results/events.ts';

/** Progress of a step, with samples of the last seconds for its rate. */
export interface Progress {
  done: number;
  total: number | null;
  unit: ProgressEvent['unit'];
  /** Bytes of the finished part, when the unit is not bytes. */
  bytes: number | null;
  current: string | null;
  ofCurrent: NonNullable<ProgressEvent['of_current']> | null;
  samples: Sample[];
  /** Tables with a known size that were reported last, largest first. */
  items: Item[];
}

/** One table of a step. */
export interface Item {
  name: string;
  done: number;
  total: number;
  startedAt: number;
  at: number;
}

export interface Sample {
  at: number;
  done: number;
}

/** `null` for every unknown figure. */
export interface Pace {
  /** Units per second. */
  rate: number | null;
  remainingMs: number | null;
  /** 0 to 1. */
  share: number | null;
}

const WINDOW_MS = 8000;
const SAMPLE_EVERY_MS = 250;
const TRUSTED_AFTER_MS = 1000;

export function startProgress({ total, unit }: Pick<ProgressEvent, 'total' | 'unit'>, now: number): Progress {
  const nothing = { bytes: null, current: null, ofCurrent: null, items: [] };
  return { done: 0, total, unit, ...nothing, samples: [{ at: now, done: 0 }] };
}

export function updateProgress(progress: Progress, event: ProgressEvent, now: number): Progress {
  return {
    done: event.done,
    total: event.total,
    unit: event.unit,
    bytes: event.bytes ?? null,
    current: event.current ?? null,
    ofCurrent: event.of_current ?? null,
    samples: event.unit === progress.unit ? addSample(progress.samples, { at: now, done: event.done }) : [],
    items: event.unit === progress.unit ? withItem(progress.items, event, now) : [],
  };
}

/** A step may have ten thousand tables; a window shows a few. */
const MOST_ITEMS = 40;

function withItem(items: Item[], { current, of_current }: ProgressEvent, now: number): Item[] {
  if (current === undefined || of_current === undefined) return items;
  const { done, total } = of_current;
  const known = items.find(({ name }) => name === current);
  const item: Item = { name: current, done, total, startedAt: known?.startedAt ?? now, at: now };
  if (known?.total === total) return items.map((other) => (other === known ? item : other));
  const all = [...items.filter((other) => other !== known), item].sort((a, b) => b.total - a.total);
  if (all.length <= MOST_ITEMS) return all;
  // The smallest finished one goes, else the smallest.
  const gone = all.findLast((other) => other !== item && isFinished(other)) ?? all.at(-1);
  return all.filter((other) => other !== gone);
}

export function isFinished({ done, total }: Item): boolean {
  return done >= total;
}

/** Units per second since it was begun; `null` while that is too short to tell. */
export function itemRate({ done, startedAt, at }: Item): number | null {
  const span = at - startedAt;
  return span < TRUSTED_AFTER_MS ? null : (done / span) * 1000;
}

export function paceOf(progress: Progress, now: number): Pace {
  const { done, total, samples } = progress;
  const share = total === null || total <= 0 ? null : Math.min(1, done / total);
  const first = samples[0];
  const span = first === undefined ? 0 : now - first.at;
  if (first === undefined || span < TRUSTED_AFTER_MS || done <= first.done) {
    return { rate: null, remainingMs: null, share };
  }
  const rate = ((done - first.done) / span) * 1000;
  // An exceeded estimate does not predict the end.
  const remainingMs = total === null || done > total ? null : ((total - done) / rate) * 1000;
  return { rate, remainingMs, share };
}

function addSample(samples: Sample[], sample: Sample): Sample[] {
  const last = samples.at(-1);
  if (last !== undefined && sample.at - last.at < SAMPLE_EVERY_MS) return samples;
  const recent = samples.filter(({ at }) => sample.at - at <= WINDOW_MS);
  return [...(recent.length > 0 ? recent : samples.slice(-1)), sample];
}
