import { setTimeout } from 'node:timers/promises';
import { redact } from '../../process/redact.ts';
import { UserError } from '../../runtime/errors.ts';
import type { Report } from '../../runtime/events.ts';
import { boundedList } from '../../text/bounded-list.ts';

export interface LeftSession {
  id: number;
  /** User and statement. */
  text: string;
  /** It executes a statement, or is in a transaction; others are mostly of clients that have just ended. */
  busy: boolean;
}

interface LeftSessions {
  find: () => Promise<LeftSession[]>;
  end: (id: number) => Promise<unknown>;
}

const TRIES = 50;
const EVERY_MS = 100;
/** Most sessions in a message. */
const LISTED = 10;

/** Ends sessions that steps of `after_load` have left, for whose locks the load would wait. Names those with work to do. */
export async function endLeftSessions(report: Report, { find, end }: LeftSessions): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const left = await find();
    if (left.length === 0) return;
    const busy = left.filter((session) => session.busy).map(({ text }) => redact(text));
    if (attempt === TRIES) throw sessionsStay(busy);
    if (attempt === 1 && busy.length > 0) {
      const message = `Ended sessions that the steps of after_load left: ${boundedList(busy, LISTED)}`;
      report({ event: 'warning', code: 'sessions_ended', message });
    }
    for (const { id } of left) await end(id);
    await setTimeout(EVERY_MS);
  }
}

function sessionsStay(details: string[]): UserError {
  return new UserError('after_load_failed', 'Sessions that the steps of after_load left do not end', {
    details,
    hint: 'The destination is unchanged. End them in the steps, or load with a user that may end them.',
  });
}
