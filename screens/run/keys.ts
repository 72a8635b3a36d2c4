import type { Facts } from '../facts.ts';
import { READ_ONLY } from '../why-not.ts';

// The key table checks that these are bindings: to name its type here would be a circle of imports.

/** What can be done with work, on its screen and in the list of all of it. */
export const RUN_KEYS = [
  {
    keys: ['c'] as [string],
    action: 'cancel-run' as const,
    label: 'cancel',
    help: 'stop the work, which is asked first; or take it out of the queue',
    when: ({ run }: Facts) => run?.state.status === 'running' || run?.state.status === 'waiting',
    whyNot: ({ run }: Facts) => (run?.cancelling ? 'It is being cancelled already' : null),
  },
  {
    keys: ['r'] as [string],
    action: 'retry' as const,
    label: 'retry',
    help: 'do the same again',
    when: ({ run }: Facts) => run?.state.status === 'failed' || run?.state.status === 'cancelled',
    whyNot: ({ overtaken }: Facts) =>
      overtaken ? `${overtaken.title} came after it: ask anew, from the snapshots` : null,
  },
];

/** What can be done with the log of work. */
export const LOG_KEYS = [
  {
    keys: ['/'] as [string],
    action: 'filter' as const,
    label: 'search log',
    help: 'show only the lines of the log that contain the words you type',
  },
  {
    keys: ['esc'] as [string],
    action: 'clear-filter' as const,
    label: 'whole log',
    help: 'show the whole log again',
    when: ({ filtered }: Facts) => filtered,
    stays: true,
  },
  {
    keys: ['w'] as [string],
    action: 'save-log' as const,
    label: 'write log',
    help: 'write the log to a file in the folder that the program was started in',
    whyNot({ readOnly, run }: Facts): string | null {
      if (readOnly) return READ_ONLY;
      return run?.state.log.length === 0 ? 'The log is empty as yet' : null;
    },
  },
];
