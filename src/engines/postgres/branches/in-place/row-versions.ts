import type { PostgresSession } from '../../connection/session.ts';
import { toXid } from '../../dump/unchanged/count-rows.ts';
import { type ChangedVersions, isFresh, MOST_ROWS, type VersionPlaces } from './changed-versions.ts';
import { findMissing } from './missing-versions.ts';
import { idOf, type Places, pathOf, placeOf, quoteIds } from './row-places.ts';

export interface RowVersion {
  /** `(block,item)` */
  id: string;
  /** All values, as text of the row's type. */
  row: string;
}

export interface TableVersions {
  /** Places of rows that only the database has, and the rows that only the base copy has. */
  deleted: string[];
  inserted: RowVersion[];
  /** Fresh places of rows, each with that in the base copy. */
  moved: [number, string][];
}

interface Versions {
  table: ChangedVersions;
  border: string;
  database: PostgresSession;
  /** With the number of the table's blocks in it. */
  base: { session: PostgresSession; pages: number } | null;
  /** Limit of the rows of a table, as text. */
  mostBytes: number;
}

/**
 * Reports whether all fresh rows are replaced unread: since the last reset few are written again and equal, and reading
 * them takes longer than writing these.
 */
export function isReplaced(table: ChangedVersions): table is ChangedVersions & { places: VersionPlaces } {
  return (table.places?.missing ?? null) !== null;
}

/** Finds the rows that differ; `null` where there are too many to keep. They are among the versions that only one side has: equal ones may have been written again. */
export async function readVersions(given: Versions): Promise<TableVersions | null> {
  const { table, border, database, mostBytes } = given;
  const condition = table.rewritten ? 'true' : isFresh(table.kept ? toXid(table.kept.border) : border);
  const fresh =
    table.fresh === 0 || isReplaced(table)
      ? []
      : await readRows(database, { table, condition, ids: table.places?.fresh, mostBytes });
  const missing = table.missing === 0 ? [] : await readMissing(given);
  if (!fresh || !missing) return null;
  const places = Map.groupBy(fresh, ({ row }) => row);
  const [inserted, moved] = [[] as RowVersion[], [] as TableVersions['moved']];
  for (const one of missing) {
    const same = places.get(one.row)?.pop();
    if (same) moved.push([placeOf(same.id), one.id]);
    else inserted.push(one);
  }
  return { deleted: [...places.values()].flatMap((left) => left.map(({ id }) => id)), inserted, moved };
}

async function readMissing({ table, border, database, base, mostBytes }: Versions): Promise<RowVersion[] | null> {
  if (!base) throw new Error('rows of the base copy are needed');
  const { session, pages } = base;
  if (table.rewritten) return readRows(session, { table, condition: 'true', mostBytes });
  const { kept, places } = table;
  const missing =
    places?.missing ?? (await findMissing({ table, pages, isFresh: isFresh(border), database, base: session }));
  if (missing.length > MOST_ROWS) return null;
  const ids = Array.from(missing, (place) => kept?.moved.get(place) ?? idOf(place));
  return readRows(session, { table, condition: `ctid = ANY (${quoteIds(ids)})`, mostBytes });
}

interface RowsToRead {
  table: ChangedVersions;
  condition: string;
  /** Their places, if known: in place of the condition. */
  ids?: Places | undefined;
  mostBytes: number;
}

/** A large value can be much larger than it is stored. */
async function readRows(session: PostgresSession, { table, condition, ids, mostBytes }: RowsToRead) {
  const where = ids ? `ctid = ANY (${quoteIds(Array.from(ids, idOf))})` : condition;
  const from = `FROM ONLY ${pathOf(table)} AS t WHERE ${where}`;
  if (table.toasted) {
    const [sum] = await session.query<{ bytes: number | null }>(
      `SELECT sum(octet_length((t.*)::text))::float8 AS bytes ${from}`,
    );
    if ((sum?.bytes ?? 0) > mostBytes) return null;
  }
  return session.query<RowVersion>(`SELECT t.ctid::text AS id, (t.*)::text AS row ${from}`);
}
