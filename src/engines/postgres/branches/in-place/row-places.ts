import { quoteName, quoteText } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import type { Relation } from '../../dump/unchanged/count-rows.ts';
import type { Blocks } from '../../dump/unchanged/visibility-maps.ts';

/** Places of row versions in ascending order, each its block times 65,536 and its item: half of what text would take. */
export type Places = Float64Array;

const ITEMS = 65_536;
/** Bytes of a place as the server sends it. */
const SENT = 6;
/** Blocks that are read by one statement. */
export const RANGE = 4096;

interface PlacesToRead {
  table: Pick<Relation, 'schema' | 'name'>;
  blocks: Blocks[];
  /** Condition on versions. */
  isFresh?: string;
}

/** Reads the places of the versions in these blocks: of the fresh ones, and of the others. */
export async function readPlaces(session: PostgresSession, { table, blocks, isFresh = 'false' }: PlacesToRead) {
  const read = { all: [] as Places[], fresh: [] as Places[] };
  for (const some of inStatements(blocks)) {
    const tids = (at: 0 | 1): string => `${quoteText(`{${some.map((one) => `"(${one[at]},0)"`).join(',')}}`)}::tid[]`;
    const [row] = await session.query<{ all: string | null; fresh: string | null }>(`
      SELECT encode(string_agg(s.all, ''::bytea), 'base64') AS all, encode(string_agg(s.fresh, ''::bytea), 'base64') AS fresh
      FROM unnest(${tids(0)}, ${tids(1)}) AS g (first, last), LATERAL (
        SELECT string_agg(tidsend(t.ctid), ''::bytea) AS all, string_agg(tidsend(t.ctid), ''::bytea) FILTER (WHERE ${isFresh}) AS fresh
        FROM ONLY ${pathOf(table)} AS t WHERE t.ctid >= g.first AND t.ctid < g.last) AS s`);
    read.all.push(decode(row?.all));
    read.fresh.push(decode(row?.fresh));
  }
  const fresh = join(read.fresh);
  return { fresh, old: without(join(read.all), fresh) };
}

function inStatements(blocks: Blocks[]): Blocks[][] {
  const statements: Blocks[][] = [];
  let left = 0;
  for (const [from, to] of blocks) {
    for (let first = from; first < to; ) {
      if (left <= 0) {
        statements.push([]);
        left = RANGE;
      }
      const last = Math.min(to, first + left);
      statements.at(-1)?.push([first, last]);
      left -= last - first;
      first = last;
    }
  }
  return statements;
}

function decode(text: string | null | undefined): Places {
  const sent = Buffer.from(text ?? '', 'base64');
  const places = new Float64Array(sent.length / SENT);
  let [last, isInOrder] = [0, true];
  for (let at = 0; at < places.length; at += 1) {
    const place = sent.readUInt32BE(at * SENT) * ITEMS + sent.readUInt16BE(at * SENT + 4);
    places[at] = place;
    isInOrder &&= last < place;
    last = place;
  }
  // A scan may begin where another one is.
  return isInOrder ? places : places.sort();
}

/** Returns all of these places, of which each part is in order. */
export function join(parts: Places[]): Places {
  const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const part of parts) {
    const isBehind = (all[end - 1] ?? 0) <= (part[0] ?? Number.POSITIVE_INFINITY);
    if (isBehind) all.set(part, end);
    else all.set(merged(all.slice(0, end), part));
    end += part.length;
  }
  return all;
}

function merged(some: Places, others: Places): Places {
  const all = new Float64Array(some.length + others.length);
  let [at, next] = [0, 0];
  for (let end = 0; end < all.length; end += 1) {
    const takesNext = next < others.length && (at >= some.length || (others[next] ?? 0) < (some[at] ?? 0));
    all[end] = (takesNext ? others[next++] : some[at++]) ?? 0;
  }
  return all;
}

/** Returns the places that are not among the others. */
export function without(places: Places, others: Places): Places {
  const [left, length] = [new Float64Array(places.length), others.length];
  let [at, end] = [0, 0];
  for (let next = 0; next < places.length; next += 1) {
    const place = places[next] ?? 0;
    while (at < length && (others[at] ?? 0) < place) at += 1;
    if (at < length && others[at] === place) continue;
    left[end] = place;
    end += 1;
  }
  return left.slice(0, end);
}

/** Returns the places that are in these blocks. */
export function within(places: Places, blocks: Blocks[]): Places {
  return join(blocks.map(([from, to]) => places.subarray(firstAt(places, from * ITEMS), firstAt(places, to * ITEMS))));
}

/** Returns where the first place is that is not before this one. */
function firstAt(places: Places, place: number): number {
  let [from, to] = [0, places.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((places[middle] ?? 0) < place) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Returns the place as the server writes it. */
export function idOf(place: number): string {
  return `(${blockOf(place)},${place % ITEMS})`;
}

export function blockOf(place: number): number {
  return Math.floor(place / ITEMS);
}

export function placeOf(id: string): number {
  const [block = '', item = ''] = id.slice(1, -1).split(',');
  return Number(block) * ITEMS + Number(item);
}

export function pathOf({ schema, name }: Pick<Relation, 'schema' | 'name'>): string {
  return `${quoteName(schema)}.${quoteName(name)}`;
}

/** Returns an array of tuple identifiers. */
export function quoteIds(ids: string[]): string {
  return `${quoteText(`{${ids.map((id) => `"${id}"`).join(',')}}`)}::tid[]`;
}
