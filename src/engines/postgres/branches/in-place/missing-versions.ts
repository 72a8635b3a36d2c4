import { quoteName, quoteNumber, quoteText } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import { toXid } from '../../dump/unchanged/count-rows.ts';
import { type ChangedVersions, isFresh } from './find-changes.ts';

interface Comparison {
  table: ChangedVersions;
  /** Blocks in the base copy. */
  pages: number;
  /** Condition on the versions in the database that the base copy has as well. */
  isOld: string;
  database: PostgresSession;
  base: PostgresSession;
}

/** Blocks of a range that is counted first, in a table of more blocks. */
const RANGE = 4096;
/** Blocks of a table whose versions are all read: counting them first takes longer. */
const FEW = 256;

/** Places of missing rows in the base copy, and the present places of rows that earlier resets have written. */
export interface MissingVersions {
  ids: string[];
  moved: [string, string][];
}

/**
 * Finds the row versions that only the base copy has. The old ones of the database are some of them, so that equal counts
 * in a range of blocks make them the same. A row that an earlier reset has written stands for another one of these.
 */
export async function findMissing(given: Comparison): Promise<MissingVersions> {
  const [ids, moved] = await Promise.all([findReplaced(given), stillMoved(given)]);
  const present = new Set(moved.map(([, place]) => place));
  return { ids: ids.filter((id) => !present.has(id)), moved };
}

async function stillMoved({ table: { kept, ...table }, database }: Comparison): Promise<[string, string][]> {
  if (!kept || kept.moved.size === 0) return [];
  const [row] = await database.query<{ ids: string }>(`
    SELECT coalesce(string_agg(t.ctid::text, ' '), '') AS ids FROM ONLY ${pathOf(table)} AS t
    WHERE t.ctid = ANY (${quoteIds(kept.moved.keys())}) AND NOT (${isFresh(toXid(kept.border))})`);
  return (row?.ids ?? '').split(' ').flatMap((id): [string, string][] => {
    const place = kept.moved.get(id);
    return place === undefined ? [] : [[id, place]];
  });
}

async function findReplaced(given: Comparison): Promise<string[]> {
  const { pages } = given;
  if (pages <= FEW)
    return missingIn(
      given,
      Array.from({ length: pages }, (_, block) => block),
    );
  const ranges = pages <= RANGE ? [0] : await differing(given, { from: 0, to: pages, step: RANGE });
  const ids: string[] = [];
  for (const from of ranges) {
    const to = Math.min(from + RANGE, pages);
    const blocks = await differing(given, { from, to, step: 1 });
    ids.push(...(await missingIn(given, blocks)));
  }
  return ids;
}

interface Blocks {
  from: number;
  to: number;
  step: number;
}

/** Returns the first blocks of those ranges in which versions are missing. */
async function differing({ table, isOld, database, base }: Comparison, { from, to, step }: Blocks): Promise<number[]> {
  const last = quoteNumber(Math.max(from, to - 1));
  const counts = (condition: string): string => `
    SELECT coalesce(string_agg(concat(g.n, ' ', (${inBlocks('count(*)', { table, condition, blocks: step })})), ','), '') AS found
    FROM generate_series(${quoteNumber(from)}, ${last}, ${quoteNumber(step)}) AS g (n)`;
  const [present, all] = await Promise.all([
    database.query<{ found: string }>(counts(isOld)),
    base.query<{ found: string }>(counts('true')),
  ]);
  const left = new Set(present[0]?.found.split(','));
  const others = (all[0]?.found ?? '').split(',').filter((one) => one !== '' && !left.has(one));
  return others.map((one) => Number(one.split(' ')[0]));
}

async function missingIn({ table, isOld, database, base }: Comparison, blocks: number[]): Promise<string[]> {
  if (blocks.length === 0) return [];
  const read = async (session: PostgresSession, condition: string): Promise<string[]> => {
    const [row] = await session.query<{ ids: string }>(`
      SELECT coalesce(string_agg((${inBlocks("string_agg(t.ctid::text, ' ')", { table, condition, blocks: 1 })}), ' '), '') AS ids
      FROM unnest(${quoteText(`{${blocks.join(',')}}`)}::int8[]) AS g (n)`);
    return (row?.ids ?? '').split(' ').filter((id) => id !== '');
  };
  const [present, all] = await Promise.all([read(database, isOld), read(base, 'true')]);
  const left = new Set(present);
  return all.filter((id) => !left.has(id));
}

/**
 * Reads the blocks from `g.n` on, and no others: servers that count sessions, which this needs, scan ranges of places. A
 * bare name would be that of a column of the table.
 */
function inBlocks(
  what: string,
  { table, condition, blocks }: { table: ChangedVersions; condition: string; blocks: number },
): string {
  return `SELECT ${what} FROM ONLY ${pathOf(table)} AS t
    WHERE t.ctid >= concat('(', g.n, ',0)')::tid AND t.ctid < concat('(', g.n + ${quoteNumber(blocks)}, ',0)')::tid AND ${condition}`;
}

export function pathOf({ schema, name }: Pick<ChangedVersions, 'schema' | 'name'>): string {
  return `${quoteName(schema)}.${quoteName(name)}`;
}

/** Returns an array of tuple identifiers. */
export function quoteIds(ids: Iterable<string>): string {
  return `${quoteText(`{${[...ids].map((id) => `"${id}"`).join(',')}}`)}::tid[]`;
}

/** Returns the blocks of each table, in the order of the tables. */
export async function readPages(session: PostgresSession, tables: { oid: number }[]): Promise<number[]> {
  const oids = `{${tables.map(({ oid }) => oid).join(',')}}`;
  const sizes = await session.query<{ pages: number }>(`
    SELECT coalesce(pg_relation_size(oid), 0) / current_setting('block_size')::int8 AS pages
    FROM unnest(${quoteText(oids)}::oid[]) WITH ORDINALITY AS o (oid, at) ORDER BY at`);
  return sizes.map(({ pages }) => pages);
}
