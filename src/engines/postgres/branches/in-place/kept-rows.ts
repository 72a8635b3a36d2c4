import type { PostgresSession } from '../../connection/session.ts';
import type { VisibilityMap } from '../../dump/unchanged/visibility-maps.ts';
import { type FoundChanges, MOST_PLACES, type RestoredRows, type RestoredTables } from './changed-versions.ts';
import type { ReplacedRows } from './replace-versions.ts';
import { blockOf, join, type Places } from './row-places.ts';

/** Rows that were written again, whose places are kept. */
const MOST_MOVED = 100_000;

/** Keeps what a reset has written in its transaction, which is about to be committed: if it is not, nothing is to be kept. */
export async function keepRows(
  session: PostgresSession,
  { kept, found, changed }: { kept: RestoredTables; found: FoundChanges; changed: ReplacedRows[] },
): Promise<void> {
  const border = await nextBorder(session);
  const { relations, maps, history, xmin } = found;
  for (const { oid, filenode } of relations) {
    const one = kept.get(oid);
    const isKnown = one?.history === history && one.filenode === filenode;
    const known = isKnown ? one : { filenode, history, border: xmin, places: null, moved: new Map() };
    kept.set(oid, { ...known, map: maps.get(oid) });
  }
  for (const { table, moved } of changed) {
    const one = kept.get(table.oid);
    kept.delete(table.oid);
    if (!one || !table.places || border === null || table.rewritten) continue;
    const { old, rest, missing } = table.places;
    for (const place of missing ?? []) one.moved.delete(place);
    for (const [place, id] of moved) one.moved.set(place, id);
    const places = join([rest, old, Float64Array.from(moved, ([place]) => place).sort()]);
    kept.set(table.oid, { ...one, border, places, map: one.map && withBlocksOf(places, one.map) });
  }
  limit(kept, MOST_PLACES, ({ places }) => places?.length ?? 0);
  limit(kept, MOST_MOVED, ({ moved }) => moved.size);
}

/** Counts blocks that the reset has added: they may be cut off again before the map is next read. */
function withBlocksOf(places: Places, map: VisibilityMap): VisibilityMap {
  return { ...map, pages: Math.max(map.pages, blockOf(places.at(-1) ?? 0) + 1) };
}

/** The eldest go first. */
function limit(kept: RestoredTables, most: number, sizeOf: (one: RestoredRows) => number): void {
  let sum = [...kept.values()].reduce((all, one) => all + sizeOf(one), 0);
  for (const [oid, one] of kept) {
    if (sum <= most) break;
    if (sizeOf(one) === 0) continue;
    sum -= sizeOf(one);
    kept.delete(oid);
  }
}

/**
 * The first transaction after that of the session; `null` where older ones of the database still run: what they write from
 * now on would not count as newer. A session that prepares its transaction stays listed until that is listed as well.
 */
async function nextBorder(session: PostgresSession): Promise<string | null> {
  const [row] = await session.query<{ own: string | null; older: boolean }>(`
    SELECT own::text AS own, EXISTS (
      SELECT FROM (
        SELECT datname, backend_xid FROM pg_stat_activity UNION ALL SELECT database, transaction FROM pg_prepared_xacts
      ) AS r (name, xid) WHERE name = current_database() AND age(xid) > age(own::xid)) AS older
    FROM pg_current_xact_id_if_assigned() AS own`);
  return row?.own && !row.older ? String(BigInt(row.own) + 1n) : null;
}
