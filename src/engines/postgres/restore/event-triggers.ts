import type { Session } from '../connection/session.ts';
import { type ArchiveEntry, withoutDependents } from '../dump/archive.ts';

/**
 * Event triggers, with their comments, apart from all else: they are created when everything else is done, since those
 * of a restored database would write into its tables with every definition and every refreshed view.
 */
export function separateEventTriggers(entries: ArchiveEntry[]): {
  others: ArchiveEntry[];
  eventTriggers: ArchiveEntry[];
} {
  const others = withoutDependents(entries, ({ text }) => text.startsWith('EVENT TRIGGER '));
  const kept = new Set(others);
  return { others, eventTriggers: entries.filter((entry) => !kept.has(entry)) };
}

/** What `pg_restore --use-list` reads. */
export function listText(entries: ArchiveEntry[]): string {
  return entries.map(({ line }) => `${line}\n`).join('');
}

/** For superusers, who alone have event triggers; the second since 17. */
const WITHOUT_EVENT_TRIGGERS = ['SET session_replication_role = replica', 'SET event_triggers = off'];

/** A refreshed view and a grant are commands that those of a restored database may record. */
export async function muteEventTriggers(session: Session): Promise<void> {
  for (const statement of WITHOUT_EVENT_TRIGGERS) await session.execute(statement).catch(() => {});
}
