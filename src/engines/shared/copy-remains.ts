import type { WarningEvent } from '../../results/events.ts';

/** Warns that a replaced database was not dropped, since rows may have been written to it after its save. */
export function copyRemains(destination: string, undoDatabase: string): WarningEvent {
  const message = `${destination} may have been written to while the load ran: the replaced database remains as ${undoDatabase}, the undo copy`;
  return { event: 'warning', code: 'undo_copy_remains', message };
}
