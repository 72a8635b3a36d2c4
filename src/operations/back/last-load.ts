import type { Context } from '../../runtime/context.ts';
import { readHistory } from '../history/history-file.ts';

export interface LastLoad {
  /** Id of the snapshot. */
  snapshot: string;
  at: string;
}

/**
 * Finds the last load into a destination, by the history of this machine; `null` where none is known, or it was of another
 * target, or of no whole snapshot.
 */
export function lastLoad(context: Context, { target, url }: { target: string; url: string }): LastLoad | null {
  const { entries } = readHistory(context);
  const entry = entries.find(
    ({ operation, outcome, to, method }) =>
      operation === 'load' && outcome === 'done' && to === url && method !== 'rows',
  );
  if (!entry?.snapshot || entry.target !== target || entry.method === 'tables' || entry.method === 'script')
    return null;
  return { snapshot: entry.snapshot, at: entry.at };
}
