import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ArchiveEntry, parseArchiveList, withoutDependents } from '../dump/archive.ts';
import { CONTENTS, listContents, readContents } from '../dump/archive-contents.ts';

/**
 * Statements that pg_dump adds to the definition of an index: each waits for every other index that is being built on
 * the table.
 */
export const ALTERS_TABLE = /^ALTER TABLE .*(?: CLUSTER ON | REPLICA IDENTITY USING INDEX )/m;

/** A table has one index to cluster on, and one of its replica identity. */
const MOST_TURNS = 2;

/**
 * The entries of a list in several lists, for one parallel pg_restore after the other. It builds the indexes of a table
 * at the same time, and two that alter it would wait for each other: such an index has a turn of its own.
 */
export async function listsInTurn({ archive, list }: { archive: string; list: string }): Promise<string[]> {
  const toc = await readFile(join(archive, CONTENTS));
  const listed = listContents(toc);
  const contents = readContents(toc);
  if (listed === null || contents === null) return [list];
  const wanted = new Set(parseArchiveList(await readFile(list, 'utf8')).map(({ dumpId }) => dumpId));
  const entries = parseArchiveList(listed).filter(({ dumpId }) => wanted.has(dumpId));
  const turns = turnsOf(entries, ({ dumpId }) => ALTERS_TABLE.test(contents.get(dumpId)?.definition ?? ''));
  const lists = Map.groupBy(entries, ({ dumpId }) => turns.get(dumpId) ?? 0);
  if (lists.size === 1) return [list];
  const written = [...lists]
    .sort(([one], [other]) => one - other)
    .map(async ([turn, some]) => {
      const path = `${list}.turn-${turn}`;
      await writeList(path, some);
      return path;
    });
  return Promise.all(written);
}

interface ListApart {
  list: string;
  /** `null` when there are none. */
  views: string | null;
}

/** The content of materialized views apart from all else: their queries are planned with the statistics of the tables. */
export async function viewsApart(list: string): Promise<ListApart> {
  const entries = parseArchiveList(await readFile(list, 'utf8'));
  const isView = ({ text }: ArchiveEntry): boolean => text.startsWith('MATERIALIZED VIEW DATA ');
  const views = entries.filter(isView);
  if (views.length === 0) return { list, views: null };
  const [others, last] = [`${list}.others`, `${list}.views`];
  await writeList(
    others,
    entries.filter((entry) => !isView(entry)),
  );
  await writeList(last, views);
  return { list: others, views: last };
}

/** By number of the entry; what depends on an index of a later turn is of that turn too. */
function turnsOf(entries: ArchiveEntry[], altersTable: (entry: ArchiveEntry) => boolean): Map<number, number> {
  const indexes = entries.filter(({ text }) => /^INDEX (?!ATTACH )/.test(text));
  const tables = new Set(
    entries.filter(({ text }) => /^(TABLE|MATERIALIZED VIEW) (?!DATA |ATTACH )/.test(text)).map(({ dumpId }) => dumpId),
  );
  const turns = new Map<number, number>();
  const ofTables = Map.groupBy(indexes, ({ needs }) => needs.find((id) => tables.has(id)) ?? 0);
  for (const ofTable of ofTables.values()) {
    if (ofTable.length === 1) continue;
    for (const [at, { dumpId }] of ofTable.filter(altersTable).entries())
      turns.set(dumpId, Math.min(at + 1, MOST_TURNS));
  }
  for (let changed = turns.size > 0; changed; ) {
    changed = false;
    for (const { dumpId, needs } of entries) {
      const turn = Math.max(0, ...needs.map((id) => turns.get(id) ?? 0));
      if (turn <= (turns.get(dumpId) ?? 0)) continue;
      turns.set(dumpId, turn);
      changed = true;
    }
  }
  return turns;
}

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
