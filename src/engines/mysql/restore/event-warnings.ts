import type { WarningEvent } from '../../../results/events.ts';
import { formatNumberOf } from '../../../text/format.ts';
import type { Details } from '../details.ts';

/** Returns a plan's warnings of the events of a snapshot; older snapshots do not record them. */
export function eventWarnings(
  { enabled_events: enabled = [], names_database: namers = [], database }: Details,
  { events, isSave }: { events: boolean; isSave: boolean },
): WarningEvent[] {
  const ofDatabase = namesDatabaseWarnings(namers, database);
  // They ran in this destination before.
  if (enabled.length === 0 || (isSave && events)) return ofDatabase;
  const list = enabled.join(', ');
  const number = formatNumberOf(enabled.length, 'event');
  const disabled = `${number} of the ${isSave ? 'save' : 'source'} will be disabled in the destination: ${list}`;
  const toRun = isSave ? 'The save was not made on this machine' : 'To let them run: tool load --events';
  const message = events
    ? `${number} of the source will run in the destination, by --events: ${list}`
    : `${disabled}. ${toRun}`;
  return [{ event: 'warning', code: events ? 'events_enabled' : 'events_disabled', message }, ...ofDatabase];
}

/** Code that names its own database works on that database wherever it is loaded. */
export function namesDatabaseWarnings(namers: string[], database: string): WarningEvent[] {
  if (namers.length === 0) return [];
  const message = `The body of ${namers.join(', ')} names the database "${database}", and accesses it from any other database`;
  return [{ event: 'warning', code: 'names_source_database', message }];
}
