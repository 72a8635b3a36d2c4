import type { DatabaseUrl } from '../../engines/database-url.ts';
import type { HistoryEntry } from '../../results/history-results.ts';
import type { Context } from '../../runtime/context.ts';
import { readHistory } from './history-file.ts';
import { createLeadsTo } from './leads-to.ts';

/** Finds the load, return, reset or switch that made the content of a database; `null` where this machine knows none. */
export async function findOrigin(context: Context, url: DatabaseUrl): Promise<HistoryEntry | null> {
  const leadsTo = createLeadsTo(context, url);
  // An undo returns to what was there when its copy was replaced: not every change leaves an undo copy.
  let before = Number.POSITIVE_INFINITY;
  for (const entry of readHistory(context).entries) {
    if (Date.parse(entry.at) + entry.duration_ms >= before) continue;
    if (!replacesContent(entry) || !(await leadsTo(entry.to))) continue;
    if (entry.operation === 'undo') before = Date.parse(entry.replaced_at ?? '');
    else if (entry.method !== 'rows') return entry;
    if (Number.isNaN(before)) return null;
  }
  return null;
}

const LOADS: HistoryEntry['operation'][] = ['load', 'back', 'reset', 'undo', 'branch switch', 'branch reset'];

/** A script on the existing database is one of the changes. */
function replacesContent({ operation, outcome, method }: HistoryEntry): boolean {
  return outcome === 'done' && LOADS.includes(operation) && method !== 'script';
}
