import type { Report } from '../../runtime/events.ts';

/** A way to show a run's events, from its beginning to its end. */
export interface Printer {
  report: Report;
  /** The run has ended: what was still running shares its fate, and nothing is drawn any more. */
  end: (fate: 'done' | 'failed') => void;
}
