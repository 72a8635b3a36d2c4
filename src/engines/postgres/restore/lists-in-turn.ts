import { withoutDependents } from '../dump/archive.ts';
import type { ArchiveEntry } from '../dump/archive-contents.ts';

/**
 * Statements that pg_dump adds to the definition of an index: each waits for every other index that is being built on
 * the table.
 */
export const ALTERS_TABLE = /^ALTER TABLE .*(?: CLUSTER ON | REPLICA IDENTITY USING INDEX )/m;

/** A table has one index to cluster on, and one of its replica identity. */
const MOST_TURNS = 2;

/**
 * Divides entries for one parallel pg_restore after the other. It builds the indexes of a table at the same time, and two
 * that alter it would wait for each other: such an index has a turn of its own.
 */
export function listsInTurn(entries: ArchiveEntry[]): ArchiveEntry[][] {
  const turns = turnsOf(entries);
  const lists = Map.groupBy(entries, ({ dumpId }) => turns.get(dumpId) ?? 0);
  return [...lists].sort(([one], [other]) => one - other).map(([, some]) => some);
}

/** By number of the entry; what depends on an index of a later turn is of that turn too. */
function turnsOf(entries: ArchiveEntry[]): Map<number, number> {
  const indexes = entries.filter(({ kind }) => kind === 'INDEX');
  const tables = new Set(
    entries.filter(({ kind }) => kind === 'TABLE' || kind === 'MATERIALIZED VIEW').map(({ dumpId }) => dumpId),
  );
  const turns = new Map<number, number>();
  const ofTables = Map.groupBy(indexes, ({ needs }) => needs.find((id) => tables.has(id)) ?? 0);
  for (const ofTable of ofTables.values()) {
    if (ofTable.length === 1) continue;
    const altering = ofTable.filter(({ definition }) => ALTERS_TABLE.test(definition));
    for (const [at, { dumpId }] of altering.entries()) turns.set(dumpId, Math.min(at + 1, MOST_TURNS));
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

export interface DividedEntries {
  entries: ArchiveEntry[];
  eventTriggers: ArchiveEntry[];
}

/**
 * Divides off event triggers, with their comments: they are created when everything else is done, since those of a
 * restored database would write into its tables with every definition and every refreshed view.
 */
export function divideEntries(all: ArchiveEntry[]): DividedEntries {
  const entries = withoutDependents(all, ({ text }) => text.startsWith('EVENT TRIGGER '));
  const kept = new Set(entries);
  return { entries, eventTriggers: all.filter((entry) => !kept.has(entry)) };
}
