import { quoteName, quoteNumber } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import type { ChangedVersions } from './find-changes.ts';

interface Comparison {
  table: ChangedVersions;
  /** Condition on the versions in the database that the base copy has as well. */
  isOld: string;
  database: PostgresSession;
  base: PostgresSession;
}

/** Blocks of a range that is counted alone, first, in a table of more rows. */
const RANGE = 1024;
const ROWS_OF_ONE_RANGE = 300_000;

/**
 * Finds the row versions that only the base copy has. The old ones of the database are some of them, so that equal counts
 * make them the same, and where one is missing, the sum of the places tells which.
 */
export async function findMissing(given: Comparison): Promise<string[]> {
  const { table } = given;
  const ranges =
    table.rows <= ROWS_OF_ONE_RANGE
      ? ['true']
      : (await differing(given, { within: 'true', blocks: RANGE })).map(({ place }) =>
          inBlocks(place * RANGE, (place + 1) * RANGE),
        );
  const ids: string[] = [];
  for (const within of ranges) {
    const found = await differing(given, { within, blocks: 1 });
    const [single, several] = [found.filter(({ rows }) => rows === 1), found.filter(({ rows }) => rows > 1)];
    ids.push(...single.map(({ place, items }) => `(${place},${items})`));
    const places = several.map(({ place }) => quoteNumber(place)).join(',');
    if (places !== '') ids.push(...(await missingIn(given, `${within} AND ${BLOCK} IN (${places})`)));
  }
  return ids;
}

const BLOCK = '(ctid::text::point)[0]::int8';

interface PlaceCount {
  /** Number of the block, or of the range. */
  place: number;
  rows: number;
  /** Sum of the numbers of the rows in their blocks. */
  items: number;
}

/** Returns the places where versions are missing, with how many. */
async function differing(
  { table, isOld, database, base }: Comparison,
  { within, blocks }: { within: string; blocks: number },
): Promise<PlaceCount[]> {
  const counts = (condition: string): string => `
    SELECT p[0]::int8 / ${quoteNumber(blocks)} AS place, count(*) AS rows, sum(p[1]::int8)::int8 AS items
    FROM (SELECT ctid::text::point AS p FROM ONLY ${pathOf(table)} WHERE ${condition} OFFSET 0) s GROUP BY 1 ORDER BY 1`;
  const [present, all] = await Promise.all([
    database.query<PlaceCount>(counts(`${within} AND ${isOld}`)),
    base.query<PlaceCount>(counts(within)),
  ]);
  const left = new Map(present.map((one) => [one.place, one]));
  return all.flatMap(({ place, rows, items }) => {
    const found = left.get(place) ?? { rows: 0, items: 0 };
    return rows === found.rows ? [] : [{ place, rows: rows - found.rows, items: items - found.items }];
  });
}

async function missingIn({ table, isOld, database, base }: Comparison, within: string): Promise<string[]> {
  const [present, all] = await Promise.all([
    readIds(database, table, `${within} AND ${isOld}`),
    readIds(base, table, within),
  ]);
  const left = new Set(present);
  return all.filter((id) => !left.has(id));
}

async function readIds(session: PostgresSession, table: ChangedVersions, condition: string): Promise<string[]> {
  const [found] = await session.query<{ ids: string[] }>(
    `SELECT coalesce(json_agg(ctid::text), '[]') AS ids FROM ONLY ${pathOf(table)} WHERE ${condition}`,
  );
  return found?.ids ?? [];
}

function inBlocks(from: number, to: number): string {
  return `ctid >= '(${quoteNumber(from)},0)'::tid AND ctid < '(${quoteNumber(to)},0)'::tid`;
}

export function pathOf({ schema, name }: Pick<ChangedVersions, 'schema' | 'name'>): string {
  return `${quoteName(schema)}.${quoteName(name)}`;
}
