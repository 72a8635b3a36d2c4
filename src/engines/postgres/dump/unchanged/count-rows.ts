import { groupsOf } from '../../../shared/groups.ts';
import { quoteNumber, quotePath, quoteText } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import { conditionOf, cut } from '../ranges.ts';

export interface Relation {
  oid: number;
  filenode: number;
  schema: string;
  name: string;
  pages: number;
}

export interface RowCount extends Pick<Relation, 'oid' | 'filenode'> {
  rows: number;
  /** Some are not older than the border. */
  fresh: boolean;
}

interface CountRequest {
  /** They see the same rows; more than one have ranges of blocks, from version 14. */
  sessions: PostgresSession[];
  relations: Relation[];
  /** A transaction, with its epoch. */
  border?: string;
}

/** Counts rows, and finds whether some are not older than the border, if any. */
export async function countAll({ sessions, relations, border }: CountRequest): Promise<RowCount[]> {
  const counts = relations.map(({ oid, filenode }): RowCount => ({ oid, filenode, rows: 0, fresh: false }));
  const fresh = border === undefined ? 'false' : hasFresh(border);
  const pieces = relations.flatMap((relation, at) => piecesOf(relation, { at, whole: sessions.length === 1 }));
  const count = async (session: PostgresSession, own: typeof pieces): Promise<void> => {
    for (const some of inBatches(own)) {
      const queries = some.map(
        ({ at, path, where }) =>
          `SELECT ${quoteNumber(at)}::int8 AS at, count(*) AS rows, ${fresh} AS fresh FROM ONLY ${path}${where}`,
      );
      for (const found of await session.query<{ at: number; rows: number; fresh: boolean }>(
        queries.join(' UNION ALL '),
      )) {
        const counted = counts[found.at];
        if (counted) Object.assign(counted, { rows: counted.rows + found.rows, fresh: counted.fresh || found.fresh });
      }
    }
  };
  const shares = sharesOf(pieces, sessions.length);
  await Promise.all(sessions.map((session, at) => count(session, shares[at] ?? [])));
  return counts;
}

/** Reports whether some rows are not older. The youngest decides: an aggregate costs half of a condition on each row. */
export function hasFresh(border: string): string {
  return `coalesce(min(age(xmin)) <= age(${quoteText(toXid(border))}::xid), false)`;
}

const TWO_TO_32 = 2n ** 32n;

/** Returns the 32 bits of a transaction's number that rows have. */
export function toXid(transaction: string): string {
  return String(BigInt(transaction) % TWO_TO_32);
}

/** Blocks of a piece: small enough to give each session the same work. */
const PIECE = 4096;

interface Piece {
  /** Place of its relation in the list. */
  at: number;
  path: string;
  where: string;
  pages: number;
}

/** The last piece has no end: rows may be behind the pages that were counted. */
function piecesOf({ schema, name, pages }: Relation, { at, whole }: { at: number; whole: boolean }): Piece[] {
  const path = quotePath(schema, name);
  if (whole || pages < 2 * PIECE) return [{ at, path, where: '', pages }];
  return cut(Math.floor(pages / PIECE) * PIECE, PIECE).map((range) => {
    return { at, path, where: conditionOf(range), pages: PIECE };
  });
}

/** The largest first, each to who has the least. */
function sharesOf<Counted extends Piece>(pieces: Counted[], count: number): Counted[][] {
  const shares = Array.from({ length: count }, () => ({ pages: 0, pieces: [] as Counted[] }));
  for (const piece of pieces.toSorted((a, b) => b.pages - a.pages)) {
    const [least] = shares.toSorted((a, b) => a.pages - b.pages);
    least?.pieces.push(piece);
    if (least) least.pages += piece.pages + 1;
  }
  return shares.map((share) => share.pieces);
}

/** Relations in one statement. */
const BATCH = 100;

export function inBatches<Item>(items: Item[]): Item[][] {
  return [...groupsOf(items, BATCH)];
}
