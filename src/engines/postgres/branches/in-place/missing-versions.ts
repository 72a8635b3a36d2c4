import { quoteNumber, quoteText } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import type { Blocks } from '../../dump/unchanged/visibility-maps.ts';
import type { ChangedVersions } from './changed-versions.ts';
import { type Places, pathOf, RANGE, readPlaces, without } from './row-places.ts';

interface Comparison {
  table: ChangedVersions;
  /** Blocks in the base copy. */
  pages: number;
  /** Condition on the versions that the base copy has not. */
  isFresh: string;
  database: PostgresSession;
  base: PostgresSession;
}

/**
 * Finds the row versions that only the base copy has. The old ones of the database are some of them, so that equal counts
 * in a range of blocks make them the same.
 */
export async function findMissing(given: Comparison): Promise<Places> {
  const { table, pages, isFresh, database, base } = given;
  const { old } = table.places ?? {};
  const blocks: Blocks[] = table.blocks ?? (old || pages <= RANGE ? [[0, pages]] : await differing(given));
  const [there, here] = await Promise.all([
    readPlaces(base, { table, blocks }),
    old ?? readPlaces(database, { table, blocks, isFresh }).then((read) => read.old),
  ]);
  return without(there.old, here);
}

/** Returns the ranges in which versions are missing. */
async function differing({ table, pages, isFresh, database, base }: Comparison): Promise<Blocks[]> {
  const counts = (condition: string): string => `
    SELECT coalesce(string_agg(concat(g.n, ' ', (
      SELECT count(*) FROM ONLY ${pathOf(table)} AS t
      WHERE t.ctid >= concat('(', g.n, ',0)')::tid AND t.ctid < concat('(', g.n + ${quoteNumber(RANGE)}, ',0)')::tid AND NOT (${condition})
    )), ','), '') AS found
    FROM generate_series(0, ${quoteNumber(pages - 1)}, ${quoteNumber(RANGE)}) AS g (n)`;
  const [present, all] = await Promise.all([
    database.query<{ found: string }>(counts(isFresh)),
    base.query<{ found: string }>(counts('false')),
  ]);
  const left = new Set(present[0]?.found.split(','));
  const others = (all[0]?.found ?? '').split(',').filter((one) => !left.has(one));
  return others.map((one): Blocks => {
    const from = Number(one.split(' ')[0]);
    return [from, Math.min(from + RANGE, pages)];
  });
}

/** Returns the blocks of each table, in the order of the tables. */
export async function readPages(session: PostgresSession, tables: { oid: number }[]): Promise<number[]> {
  const oids = `{${tables.map(({ oid }) => oid).join(',')}}`;
  const sizes = await session.query<{ pages: number }>(`
    SELECT coalesce(pg_relation_size(oid), 0) / current_setting('block_size')::int8 AS pages
    FROM unnest(${quoteText(oids)}::oid[]) WITH ORDINALITY AS o (oid, at) ORDER BY at`);
  return sizes.map(({ pages }) => pages);
}
