import type { DatabaseUrl } from '../../engines/database-url.ts';
import type { HistoryEntry } from '../../results/history-results.ts';
import type { Context } from '../../runtime/context.ts';
import { readHistory } from './history-file.ts';
import { createLeadsTo } from './leads-to.ts';

/** Finds the load, return, reset or switch that made the content of a database; `null` where this machine knows none. */
export async function findOrigin(context: Context, url: DatabaseUrl): Promise<HistoryEntry | null> {
  const leadsTo = createLeadsTo(context, url);
  // An undo returns to what the last change replaced, and a second one takes it back.
  let isUndone = false;
  for (const entry of readHistory(context).entries) {
    if (!replacesContent(entry) || !(await leadsTo(entry.to))) continue;
    if (entry.operation === 'undo') isUndone = !isUndone;
    else if (isUndone) isUndone = false;
    else if (entry.method !== 'rows') return entry;
  }
  return null;
}

const LOADS: HistoryEntry['operation'][] = ['load', 'back', 'reset', 'undo', 'branch switch', 'branch reset'];

/** A script on the existing database is one of the changes. */
function replacesContent({ operation, outcome, method }: HistoryEntry): boolean {
  return outcome === 'done' && LOADS.includes(operation) && method !== 'script';
}
