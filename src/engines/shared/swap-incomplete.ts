import { redact } from '../../process/redact.ts';
import type { WarningEvent } from '../../results/events.ts';
import { UserError } from '../../runtime/errors.ts';
import type { Report } from '../../runtime/events.ts';

/** The destination is the new database; `missing` and `cause` say why the run has failed nevertheless. */
export function switchedIncompletely(destination: string, { missing, cause }: { missing: string[]; cause?: unknown }) {
  const reason = cause instanceof Error ? [redact(cause.message)] : [];
  return new UserError(
    'swap_incomplete',
    `Switched ${destination} to the restored database, but the run failed afterwards`,
    {
      details: [...reason, ...missing.map((what) => `not created: ${what}`)],
      hint: newDatabase(destination),
      cause,
    },
  );
}

export function newDatabase(destination: string): string {
  return `${destination} is the new database. To restore the previous one: tool undo`;
}

/** Warns that a replaced database was not dropped, since rows may have been written to it after its save. */
export function copyRemains(destination: string, undoDatabase: string): WarningEvent {
  const message = `${destination} may have been written to while the load ran: the replaced database remains as ${undoDatabase}, the undo copy`;
  return { event: 'warning', code: 'undo_copy_remains', message };
}

export function reportSwept(report: Report, swept: string[]): void {
  if (swept.length === 0) return;
  const message = `Removed leftovers of an interrupted load: ${swept.join(', ')}`;
  report({ event: 'warning', code: 'leftovers_swept', message });
}
