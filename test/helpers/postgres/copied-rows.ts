import type { RunEvent } from '../../../src/results/events.ts';

/** The rows of each table that its copy told of at the end, those that took bytes. */
export function copiedRows(events: RunEvent[]): Record<string, number> {
  const copied: Record<string, number> = {};
  for (const event of events) {
    if (event.event !== 'progress' || event.step !== 'copy' || !event.current || !event.of_current) continue;
    if (event.of_current.bytes > 0) copied[event.current] = event.of_current.done;
  }
  return copied;
}
