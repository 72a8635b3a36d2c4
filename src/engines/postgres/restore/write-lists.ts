import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ArchiveEntry, withoutDependents } from '../dump/archive.ts';

/** Writes entries for `pg_restore --use-list`. */
export async function writeList(path: string, entries: ArchiveEntry[]): Promise<void> {
  await writeFile(path, entries.map(({ line }) => `${line}\n`).join(''), { flag: 'wx', mode: 0o600 });
}

export interface ArchiveLists {
  list: string;
  /** `null` when there are none. */
  eventTriggers: string | null;
  others: ArchiveEntry[];
}

/**
 * Writes event triggers, with their comments, apart from all else: they are created when everything else is done, since
 * those of a restored database would write into its tables with every definition and every refreshed view.
 */
export async function writeLists(directory: string, entries: ArchiveEntry[]): Promise<ArchiveLists> {
  const others = withoutDependents(entries, ({ text }) => text.startsWith('EVENT TRIGGER '));
  const kept = new Set(others);
  const eventTriggers = entries.filter((entry) => !kept.has(entry));
  const list = join(directory, 'archive.list');
  await writeList(list, others);
  if (eventTriggers.length === 0) return { list, eventTriggers: null, others };
  const last = join(directory, 'event-triggers.list');
  await writeList(last, eventTriggers);
  return { list, eventTriggers: last, others };
}
