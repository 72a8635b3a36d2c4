import type { HistoryEntry } from '../../results/history-results.ts';
import type { LoadPlan } from '../../results/load-results.ts';

export function methodOf({ strategy, selection, difference }: LoadPlan): NonNullable<HistoryEntry['method']> {
  if (strategy === 'script') return 'script';
  if (strategy === 'rows') return 'rows';
  if (selection) return 'tables';
  return difference?.method ?? 'full';
}
