import type { Configuration } from '../../config/configuration.ts';
import type { LoadPlan } from '../../results/load-results.ts';
import type { SnapshotRow } from '../../results/results.ts';
import { chosenQuery } from '../../sanitize/query.ts';
import { shell } from '../../text/shell-word.ts';

export interface DataRequest {
  target: string;
  snapshot: SnapshotRow;
  /** The original was asked for by its flag. */
  original: boolean;
  /** The data of a save, whose origin is unknown. */
  isSave?: boolean;
}

export type DataState = Pick<LoadPlan, 'sanitized' | 'sanitized_reason' | 'warnings'>;

/** Reports whether the data of a snapshot is sanitized, and the reason; a query that was not run on it is a warning. */
export function dataState(
  configuration: Configuration,
  { target, snapshot, original, isSave }: DataRequest,
): DataState {
  const { index, sanitized, sanitized_at, sanitized_of } = snapshot;
  if (isSave) return { sanitized: null, sanitized_reason: 'that of the database when it was saved', warnings: [] };
  if (sanitized) {
    const of = [sanitized_of && `of ${sanitized_of}`, sanitized_at && `at ${sanitized_at.replace(/\.\d+Z$/, 'Z')}`];
    const reason = ['the sanitized copy', ...of.filter((part) => part !== undefined)].join(' ');
    return { sanitized: true, sanitized_reason: reason, warnings: [] };
  }
  const query = chosenQuery(configuration, target)?.chosenBy ?? null;
  if (original) return notSanitized('the original was requested');
  if (query === null) return notSanitized('the target has no sanitization query');
  const message = `Snapshot ${index} of ${target} is not sanitized, although ${query} applies to it: the original data is loaded. To sanitize it first: ${shell`tool sanitize ${target} ${index}`}`;
  return notSanitized(`${query} has not been run on it`, [{ code: 'not_sanitized', message }]);
}

function notSanitized(sanitized_reason: string, warnings: LoadPlan['warnings'] = []): DataState {
  return { sanitized: false, sanitized_reason, warnings };
}
