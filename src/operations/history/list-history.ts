import type { HistoryList } from '../../results/history-results.ts';
import type { Context } from '../../runtime/context.ts';
import { findTarget } from '../targets/find-target.ts';
import { readHistory } from './history-file.ts';

export interface HistoryRequest {
  /** Default: every target. */
  target?: string | undefined;
}

/** Returns the operations of this working directory, newest first; also those of a target no longer configured. */
export function listHistory(context: Pick<Context, 'configuration'>, { target }: HistoryRequest = {}): HistoryList {
  const { entries, damaged_lines } = readHistory(context);
  const own = target === undefined ? entries : entries.filter((entry) => entry.target === target);
  if (target !== undefined && own.length === 0) findTarget(context.configuration, target);
  return { entries: own, damaged_lines };
}
