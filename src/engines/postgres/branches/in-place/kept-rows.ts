import type { PostgresSession } from '../../connection/session.ts';
import type { Relation } from '../../dump/unchanged/count-rows.ts';
import type { FoundChanges } from './find-changes.ts';
import type { VisibilityMap } from './visibility-maps.ts';

/**
 * What is known of a table since its last reset over the same sessions: its rows were those of the base copy. Rows that
 * were written again have other places and versions, and would be read and compared anew at each later reset.
 */
export interface RestoredRows {
  filenode: number;
  /** `xmin` in the evidence of the base copy. */
  base: string;
  /** Versions from this transaction on, which has an epoch, are newer than the reset. */
  border: string;
  /** Places of rows that were written again, each with that in the base copy. */
  moved: Map<string, string>;
  /** Read before its rows were found to be those of the base copy, or made so. */
  map?: VisibilityMap | undefined;
}

/** By oid. A table without an entry is compared with the base copy alone. */
export type RestoredTables = Map<number, RestoredRows>;

export interface MovedRows {
  table: Relation & { rewritten: boolean };
  moved: [string, string][];
}

/** Limit of the places that are kept of all tables. */
const MOST_MOVED = 100_000;

/** Keeps what a reset has written in its transaction, which is about to be committed: if it is not, nothing is to be kept. */
export async function keepRows(
  session: PostgresSession,
  { kept, found, changed }: { kept: RestoredTables; found: FoundChanges; changed: MovedRows[] },
): Promise<void> {
  const border = await nextBorder(session);
  const base = found.xmin;
  for (const { oid, filenode } of found.relations) {
    const one = kept.get(oid);
    const isKnown = one?.base === base && one.filenode === filenode;
    kept.set(oid, { ...(isKnown ? one : { filenode, base, border: base, moved: new Map() }), map: found.maps.get(oid) });
  }
  for (const { table, moved } of changed) {
    kept.delete(table.oid);
    const { oid, filenode, rewritten } = table;
    const map = found.maps.get(oid);
    if (border !== null && !rewritten) kept.set(oid, { filenode, base, border, moved: new Map(moved), map });
  }
  let places = [...kept.values()].reduce((sum, { moved }) => sum + moved.size, 0);
  for (const [oid, { moved }] of kept) {
    if (places <= MOST_MOVED) break;
    places -= moved.size;
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
