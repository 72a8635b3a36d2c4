import type { PostgresSession } from '../../connection/session.ts';
import { toXid } from '../../dump/unchanged/count-rows.ts';
import { type ChangedVersions, isFresh, type KnownPlaces, type VersionPlaces } from './changed-versions.ts';
import { hasKey } from './fresh-keys.ts';
import { findMissing } from './missing-versions.ts';
import { idOf, type Places, pathOf, placeOf, quoteIds, readPlaces, without } from './row-places.ts';

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
  /** Places of then that are gone since the last reset; `null` where these are unknown. */
  gone: Places | null;
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

interface ReplacedTable extends ChangedVersions {
  places: VersionPlaces & { before: KnownPlaces };
}

/**
 * Reports whether all fresh rows are replaced unread: since the last reset few are written again and equal, and reading
 * them takes longer than writing these.
 */
export function isReplaced(table: ChangedVersions): table is ReplacedTable {
  return (table.places?.before ?? null) !== null;
}

/** Finds the rows that differ; `null` where there are too many to keep. They are among the versions that only one side has: equal ones may have been written again. */
export async function readVersions(given: Versions): Promise<TableVersions | null> {
  const { table, border, database, mostBytes } = given;
  const condition = table.rewritten ? 'true' : isFresh(table.kept ? toXid(table.kept.border) : border);
  const fresh =
    table.fresh === 0 || isReplaced(table)
      ? []
      : await readRows(database, { table, condition, ids: table.places?.fresh, mostBytes });
  const none = { rows: [], gone: isReplaced(table) ? new Float64Array() : null };
  const missing = table.missing === 0 ? none : await readMissing(given);
  if (!fresh || !missing) return null;
  const places = Map.groupBy(fresh, ({ row }) => row);
  const [inserted, moved] = [[] as RowVersion[], [] as TableVersions['moved']];
  for (const one of missing.rows) {
    const same = places.get(one.row)?.pop();
    if (same) moved.push([placeOf(same.id), one.id]);
    else inserted.push(one);
  }
  return {
    deleted: [...places.values()].flatMap((left) => left.map(({ id }) => id)),
    inserted,
    moved,
    gone: missing.gone,
  };
}

interface MissingVersions extends Pick<TableVersions, 'gone'> {
  rows: RowVersion[];
}

async function readMissing(given: Versions): Promise<MissingVersions | null> {
  const { table, border, database, base, mostBytes } = given;
  if (!base) throw new Error('rows of the base copy are needed');
  const { session, pages } = base;
  const read = async (condition: string, gone: Places | null): Promise<MissingVersions | null> => {
    const rows = await readRows(session, { table, condition, mostBytes });
    return rows && { rows, gone };
  };
  if (table.rewritten) return read('true', null);
  if (!isReplaced(table)) {
    const missing = await findMissing({ table, pages, isFresh: isFresh(border), database, base: session });
    return read(isAt(Array.from(missing, idOf)), null);
  }
  const { keys, before, old } = table.places;
  if (keys) {
    const rows = await readRows(session, { table, condition: hasKey(keys.key, keys.values), mostBytes });
    const gone = rows && goneOf(table, rows);
    if (gone || !rows) return gone && { rows, gone };
  }
  const left =
    old ??
    (await readPlaces(database, { table, blocks: before.blocks ?? [[0, table.pages]], isFresh: isSinceReset(table) }))
      .old;
  const gone = without(before.doubtful, left);
  return read(isAt(Array.from(gone, (place) => table.kept?.moved.get(place) ?? idOf(place))), gone);
}

/**
 * Returns the places of rows of the base copy that have the keys of fresh ones: no other version has such a key, so that they
 * are gone. `null` where these are not all that are gone.
 */
function goneOf(table: ReplacedTable, rows: RowVersion[]): Places | null {
  if (rows.length !== table.missing) return null;
  const { doubtful } = table.places.before;
  const placeOfRow = new Map([...(table.kept?.moved ?? [])].map(([place, id]) => [id, place]));
  const gone = Float64Array.from(rows, ({ id }) => placeOfRow.get(id) ?? placeOf(id)).sort();
  return without(doubtful, gone).length === doubtful.length - gone.length ? gone : null;
}

function isAt(ids: string[]): string {
  return `ctid = ANY (${quoteIds(ids)})`;
}

function isSinceReset({ kept }: ReplacedTable): string {
  return isFresh(toXid(kept?.border ?? '0'));
}

interface RowsToRead {
  table: ChangedVersions;
  condition: string;
  /** Their places, if known: in place of the condition. */
  ids?: Places | undefined;
  mostBytes: number;
}

/** A large value can be much larger than it is stored. */
async function readRows(
  session: PostgresSession,
  { table, condition, ids, mostBytes }: RowsToRead,
): Promise<RowVersion[] | null> {
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
