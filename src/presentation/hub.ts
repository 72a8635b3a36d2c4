import { formatNumberOf } from '../text/format.ts';

/** `rewrapped`: data keys that were encrypted with an older hub key. */
export function migratedText({ migrations, rewrapped }: { migrations: string[]; rewrapped: number }): string {
  return [
    migrations.length > 0 ? `Executed: ${migrations.join(', ')}` : 'The schema is up to date',
    ...(rewrapped > 0 ? [`Wrapped ${formatNumberOf(rewrapped, 'data key')} with the newest hub key`] : []),
  ].join('\n');
}

export const TRIAL_ENDED = 'The trial has ended. Its database was removed.';
