import type { DatabaseUrl } from '../../engines/database-url.ts';
import type { HistoryEntry } from '../../results/history-results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { shell } from '../../text/shell-word.ts';
import { readHistory } from '../history/history-file.ts';
import { createLeadsTo } from '../history/leads-to.ts';
import { findSnapshot } from '../snapshots/snapshots.ts';

export interface LastLoad {
  /** Id of the snapshot. */
  snapshot: string;
  at: string;
}

export interface DestinationOfTarget {
  target: string;
  url: DatabaseUrl;
}

/**
 * Finds the last load into a destination, by the history of this machine; `null` where none is known, or it was of another
 * target, or of no whole snapshot.
 */
export async function lastLoad(context: Context, { target, url }: DestinationOfTarget): Promise<LastLoad | null> {
  const entry = await findLoad(context, { url });
  if (!entry?.snapshot || entry.target !== target || entry.method === 'tables' || entry.method === 'script')
    return null;
  return { snapshot: entry.snapshot, at: entry.at };
}

/** Refuses a base copy of a shared destination that another target has loaded, with data that is none of this target. */
export async function assertBaseOfTarget(
  context: Context,
  of: DestinationOfTarget & { snapshot: string | null },
): Promise<void> {
  const other = await otherTargetOf(context, of);
  if (other !== null) throw ofOtherTarget(of.target, { other, destination: of.url.display });
}

/**
 * Returns the target that has loaded the base copy of a shared destination, where that is another one, with data that is
 * none of this target; `null` where the history of this machine shows no such load.
 */
export async function otherTargetOf(
  context: Context,
  { target, url, snapshot }: DestinationOfTarget & { snapshot: string | null },
): Promise<string | null> {
  if (snapshot === null) return null;
  const entry = await findLoad(context, { url, snapshot });
  if (!entry || entry.target === target) return null;
  const own = await findSnapshot(context, { target, snapshot }).catch((thrown) => {
    if (thrown instanceof UserError) return null;
    throw thrown;
  });
  return own ? null : entry.target;
}

async function findLoad(
  context: Context,
  { url, snapshot }: { url: DatabaseUrl; snapshot?: string },
): Promise<HistoryEntry | null> {
  const leadsTo = createLeadsTo(context, url);
  for (const entry of readHistory(context).entries) {
    // Rows of single tables are one of the changes.
    if (entry.operation !== 'load' || entry.outcome !== 'done' || entry.method === 'rows') continue;
    if ((snapshot ?? entry.snapshot) === entry.snapshot && (await leadsTo(entry.to))) return entry;
  }
  return null;
}

function ofOtherTarget(target: string, { other, destination }: { other: string; destination: string }): UserError {
  return new UserError('base_copy_outdated', `The base copy of ${destination} is of target "${other}", loaded last`, {
    hint: `Load the snapshot of "${target}" again: ${shell`tool load ${target}`}`,
  });
}
