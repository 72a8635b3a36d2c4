import type { Facts } from '../facts.ts';
import type { KeyBinding } from '../key-binding.ts';
import { READ_ONLY } from '../why-not.ts';

function readOnly(facts: Facts): string | null {
  return facts.readOnly ? READ_ONLY : null;
}

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
  {
    keys: ['i'],
    action: 'include-schemas',
    label: 'include schemas',
    help: 'build again, with the schemas that tables need',
    when: ({ run }: Facts) => run?.state.error?.code === 'schema_needed',
    whyNot: readOnly,
  },
  {
    keys: ['a'],
    action: 'keep-going',
    label: 'restore the rest',
    help: 'load again, restore what can be restored, and list what is missing; asked first',
    when: ({ run }: Facts) => run?.kind === 'load' && run.state.error?.code === 'restore_failed',
    whyNot: readOnly,
  },
  {
    keys: ['a'],
    action: 'accept-missing',
    label: 'accept missing',
    help: 'load again, and replace the destination although something is missing; asked first',
    when: ({ run }: Facts) => run?.kind === 'load' && run.state.error?.code === 'restore_incomplete',
    whyNot: readOnly,
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
