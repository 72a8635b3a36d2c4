import type { Facts } from '../app/facts.ts';
import type { KeyBinding } from '../app/key-binding.ts';
import { READ_ONLY } from '../app/why-not.ts';

/** What can be done with work, on its screen and in the list of all of it. */
export const RUN_KEYS: KeyBinding[] = [
  {
    keys: ['c'],
    action: 'cancel-run',
    label: 'cancel',
    help: 'stop the work, which is asked first; or take it out of the queue',
    when: ({ run }: Facts) => run?.state.status === 'running' || run?.state.status === 'waiting',
    whyNot: ({ run }: Facts) => (run?.cancelling ? 'It is being cancelled already' : null),
  },
  {
    keys: ['r'],
    action: 'retry',
    label: 'retry',
    help: 'do the same again',
    when: ({ run }: Facts) => run?.state.status === 'failed' || run?.state.status === 'cancelled',
    whyNot: ({ overtaken }: Facts) =>
      overtaken ? `${overtaken.title} came after it: ask anew, from the snapshots` : null,
  },
];

/** What can be done with the log of work. */
export const LOG_KEYS: KeyBinding[] = [
  {
    keys: ['/'],
    action: 'filter',
    label: 'search log',
    help: 'show only the lines of the log that contain the words you type',
  },
  {
    keys: ['esc'],
    action: 'clear-filter',
    label: 'whole log',
    help: 'show the whole log again',
    when: ({ filtered }: Facts) => filtered,
    stays: true,
  },
  {
    keys: ['w'],
    action: 'save-log',
    label: 'write log',
    help: 'write the log to a file in the folder that the program was started in',
    whyNot({ readOnly, run }: Facts): string | null {
      if (readOnly) return READ_ONLY;
      return run?.state.log.length === 0 ? 'The log is empty as yet' : null;
    },
  },
];
