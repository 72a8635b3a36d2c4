import { cpus } from 'node:os';
import { performance } from 'node:perf_hooks';

/**
 * Levels of Zstandard, and the time that each takes compared with the first, measured with COPY text. 3 and 4 take longer
 * than 2 for more bytes, and 8 takes as long as 9.
 */
export const LEVELS = [
  { level: 1, cost: 1 },
  { level: 2, cost: 1.6 },
  { level: 5, cost: 4.5 },
  { level: 6, cost: 5 },
  { level: 7, cost: 6.5 },
  { level: 9, cost: 8 },
];

const LIGHTEST = 1;
/** A thread that compresses for more of its time may become the bottleneck. */
const MOST_BUSY = 0.6;
/** With less of the processors unused, the server needs them. */
const LEAST_UNUSED = 0.15;

export interface Load {
  /** The level that was used. */
  level: number;
  /** Share of its time for which the thread has compressed. */
  busy: number;
  /** Share of the time of all processors that nothing used. */
  unused: number;
}

/**
 * The strongest level for which a thread still waits for the server most of its time, and which takes no more than half of
 * what is unused.
 */
export function chooseLevel({ level: current, busy, unused }: Load): number {
  if (unused < LEAST_UNUSED) return LIGHTEST;
  const cost = LEVELS.find(({ level }) => level === current)?.cost ?? 1;
  const fits = LEVELS.filter((each) => {
    const then = (busy * each.cost) / cost;
    return then <= MOST_BUSY && then - busy <= unused / 2;
  });
  return fits.at(-1)?.level ?? LIGHTEST;
}

export interface Meter {
  /** Milliseconds. */
  now: () => number;
  /** Time of all processors since the start of the machine, in any unit. */
  processors: () => { unused: number; all: number };
}

export interface LevelChooser {
  /** Does the work with a level, and takes its time into account. */
  compress<T>(work: (level: number) => T): T;
}

/** So long is measured before the level may change. */
const WINDOW_MS = 200;

/** Begins with the lightest level, and measures anew after each window. */
export function createLevelChooser({ now, processors }: Meter = MACHINE): LevelChooser {
  let level = LIGHTEST;
  let window: { began: number; spent: number; before: ReturnType<Meter['processors']> } | null = null;

  function adapt(): void {
    window ??= { began: now(), spent: 0, before: processors() };
    const elapsed = now() - window.began;
    if (elapsed < WINDOW_MS) return;
    const { unused, all } = processors();
    const total = all - window.before.all;
    // A container may not be told.
    const share = total > 0 ? (unused - window.before.unused) / total : 0;
    level = chooseLevel({ level, busy: window.spent / elapsed, unused: share });
    window = { began: now(), spent: 0, before: { unused, all } };
  }

  return {
    compress(work) {
      adapt();
      const began = now();
      try {
        return work(level);
      } finally {
        if (window) window.spent += now() - began;
      }
    },
  };
}

const MACHINE: Meter = {
  now: () => performance.now(),
  processors() {
    let unused = 0;
    let all = 0;
    for (const { times } of cpus()) {
      unused += times.idle;
      all += times.user + times.nice + times.sys + times.idle + times.irq;
    }
    return { unused, all };
  },
};
