import type { ProgressEvent } from '../runtime/events.ts';

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
  const nothing = { bytes: null, current: null, ofCurrent: null };
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
  };
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
