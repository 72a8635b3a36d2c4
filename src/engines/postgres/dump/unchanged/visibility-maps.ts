import { quoteName, quoteNumber, quoteText } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import { SqlError } from '../../connection/session-errors.ts';
import type { Relation } from './count-rows.ts';

/** The visibility map of a relation at a moment; the README of `branches/in-place` has what it proves. */
export interface VisibilityMap {
  filenode: number;
  /** Blocks of the relation. */
  pages: number;
  /** Positions in the WAL at which bits of each of its pages were last set. */
  positions: string[];
  /** The content of each of its pages: two bits for each block. */
  bits: Buffer[];
  /** Blocks of which a whole page has the bits. */
  perPage: number;
}

/** By oid. */
export type VisibilityMaps = Map<number, VisibilityMap>;

/** Blocks of all relations: 128 GB of them have maps of 4 MB. */
const MOST_BLOCKS = 2 ** 24;

/**
 * Condition of a server that has such maps: later versions are not known. A user's event trigger would hear of the
 * function.
 */
export const HAS_MAPS = `current_setting('server_version_num')::int BETWEEN 140000 AND 189999
  AND NOT EXISTS (SELECT FROM pg_event_trigger WHERE evtenabled <> 'D')`;

/** The extension pageinspect has this function. It is rolled back at once, so that no other session sees it. */
const FUNCTION = `SAVEPOINT map; CREATE FUNCTION pg_temp.tool_map(text, text, integer) RETURNS bytea
  LANGUAGE c STRICT AS '$libdir/pageinspect', 'get_raw_page_fork'`;

/** Reads the maps in a transaction of its own, at whose end they are not older than any earlier snapshot. */
export async function readMapsApart(session: PostgresSession, relations: Relation[]): Promise<VisibilityMaps> {
  const [server] = await session.query<{ maps: boolean }>(
    `SELECT current_setting('is_superuser') = 'on' AND NOT pg_is_in_recovery() AND ${HAS_MAPS} AS maps`,
  );
  if (!server?.maps || relations.length === 0) return new Map();
  await session.execute('BEGIN READ WRITE');
  const maps = await readMaps(session, relations);
  await session.execute('ROLLBACK');
  return maps;
}

/** Reads the maps in the transaction of a superuser's session; none where the server lacks the function. */
export async function readMaps(session: PostgresSession, relations: Relation[]): Promise<VisibilityMaps> {
  if (relations.reduce((sum, { pages }) => sum + pages, 0) > MOST_BLOCKS) return new Map();
  const sent = await Promise.allSettled([
    session.execute(FUNCTION),
    session.query<{ oid: number; pages: number; size: number; map: [position: string, bits: string][] | null }>(
      mapsQuery(relations),
    ),
    session.execute('ROLLBACK TO SAVEPOINT map; RELEASE SAVEPOINT map'),
  ]);
  const [failure] = sent.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  const [, read] = sent;
  if (failure instanceof SqlError || read.status === 'rejected') {
    if (failure instanceof SqlError && sent[2].status === 'fulfilled') return new Map();
    throw failure;
  }
  const filenodes = new Map(relations.map(({ oid, filenode }) => [oid, filenode]));
  return new Map(
    read.value.map(({ oid, pages, size, map }) => [
      oid,
      {
        ...{ filenode: filenodes.get(oid) ?? 0, pages, perPage: blocksOf(size) },
        positions: (map ?? []).map(([position]) => position),
        bits: (map ?? []).map(([, bits]) => Buffer.from(bits, 'hex')),
      },
    ]),
  );
}

/** Bytes of a page before the bits, and blocks of which a byte has the bits. */
const HEADER = 24;
const PER_BYTE = 4;

function blocksOf(size: number): number {
  return (size - HEADER) * PER_BYTE;
}

function mapsQuery(relations: Relation[]): string {
  const list = relations.map(({ oid, schema, name }) => {
    const path = `${quoteName(schema)}.${quoteName(name)}`;
    return `(${quoteNumber(oid)}::oid, ${quoteText(path)})`;
  });
  const blocks = `(size - ${HEADER}) * ${PER_BYTE}`;
  return `SELECT oid::int8 AS oid, pages, size, (
      SELECT json_agg(json_build_array(encode(substr(page, 1, 8), 'hex'),
        encode(substr(page, ${HEADER + 1}, ceil(least(pages - n * ${blocks}, ${blocks}) / ${PER_BYTE}.0)::int), 'hex')) ORDER BY n)
      FROM (SELECT n, pg_temp.tool_map(path, 'vm', n::int) AS page
        FROM generate_series(0, least(held, ceil(pages / (${blocks})::numeric)::int8) - 1) AS g (n) OFFSET 0) AS p) AS map
    FROM (SELECT oid, path, size, coalesce(pg_relation_size(oid), 0) / size AS pages, coalesce(pg_relation_size(oid, 'vm'), 0) / size AS held
      FROM (VALUES ${list.join(', ')}) AS v (oid, path), (SELECT current_setting('block_size')::int8) AS s (size) OFFSET 0) AS r`;
}

/** Reports whether no bit is missing, so that the positions of its pages are all that is to be kept of it. */
export function isSet(map: VisibilityMap): boolean {
  return map.pages > 0 && changedBlocks(map, map)?.length === 0;
}

/** Returns the earlier map of a relation of which no bit was missing. */
export function setMap(
  { filenode, pages, positions }: Pick<VisibilityMap, 'filenode' | 'pages' | 'positions'>,
  { perPage }: VisibilityMap,
): VisibilityMap {
  const bits = positions.map(() => Buffer.alloc(perPage / PER_BYTE, ALL_VISIBLE));
  return { filenode, pages, positions, bits, perPage };
}

/** A part of the blocks of a relation; it ends before the second. */
export type Blocks = [from: number, to: number];

/** Returns the blocks that may have other rows than at the moment of the earlier map; `null` for all. */
export function changedBlocks(earlier: VisibilityMap | undefined, now: VisibilityMap | undefined): Blocks[] | null {
  if (!earlier || !now || earlier.filenode !== now.filenode || earlier.perPage !== now.perPage) return null;
  const changed: Blocks[] = [];
  const pages = Math.max(earlier.pages, now.pages);
  for (let first = 0; first < pages; first += PER_BYTE) {
    const visible = visibleInBoth(earlier, now, first);
    if (visible === ALL_VISIBLE) continue;
    for (let at = 0; at < PER_BYTE && first + at < pages; at += 1) {
      if ((visible >> (2 * at)) & 1) continue;
      const [block, last] = [first + at, changed.at(-1)];
      if (last && block - last[1] < NEAR) last[1] = block + 1;
      else changed.push([block, block + 1]);
    }
  }
  return changed;
}

/** Blocks between two others that are read with them. */
const NEAR = 8;
/** The lower bit of each block. */
const ALL_VISIBLE = 0x55;

/** Returns the bits of a byte that are set in both maps, none of them since the earlier one. */
function visibleInBoth(earlier: VisibilityMap, now: VisibilityMap, block: number): number {
  const page = Math.floor(block / now.perPage);
  const position = now.positions[page];
  if (position === undefined || position !== earlier.positions[page]) return 0;
  const byte = (block % now.perPage) / PER_BYTE;
  return (earlier.bits[page]?.[byte] ?? 0) & (now.bits[page]?.[byte] ?? 0) & ALL_VISIBLE;
}
