import { quoteName, quoteNumber, quoteText } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import { type ChangedVersions, isFresh } from './find-changes.ts';

export interface RowVersion {
  /** `(block,item)` */
  id: string;
  /** All values, as text of the row's type. */
  row: string;
}

export interface TableVersions {
  /** Rows that only the database has, and those that only the base copy has. */
  deleted: string[];
  inserted: string[];
}

interface Versions {
  table: ChangedVersions;
  border: string;
  database: PostgresSession;
  base: PostgresSession | null;
  /** Limit of the rows of a table, as text. */
  mostBytes: number;
}

/** Finds the rows that differ; `null` where there are too many to keep. They are among the versions that only one side has: equal ones may have been written again. */
export async function readVersions(given: Versions): Promise<TableVersions | null> {
  const { table, border, database, mostBytes } = given;
  const condition = table.rewritten ? 'true' : isFresh(border);
  const fresh = table.fresh === 0 ? [] : await readRows(database, { table, condition, mostBytes });
  const missing = table.missing === 0 ? [] : await readMissing(given);
  if (!fresh || !missing) return null;
  const places = Map.groupBy(fresh, ({ row }) => row);
  const inserted = missing.flatMap(({ row }) => (places.get(row)?.pop() ? [] : [row]));
  return { deleted: [...places.values()].flatMap((left) => left.map(({ id }) => id)), inserted };
}

async function readMissing({ table, border, database, base, mostBytes }: Versions): Promise<RowVersion[] | null> {
  if (!base) throw new Error('rows of the base copy are needed');
  if (table.rewritten) return readRows(base, { table, condition: 'true', mostBytes });
  const isOld = `NOT (${isFresh(border)})`;
  const blocks = await differingBlocks({ table, isOld, database, base });
  const ids: string[] = [];
  for (const within of blocks.map(({ from, to }) => inBlocks(from, to))) {
    const present = new Set(await readIds(database, table, `${within} AND ${isOld}`));
    ids.push(...(await readIds(base, table, within)).filter((id) => !present.has(id)));
  }
  return readRows(base, { table, condition: `ctid = ANY (${quoteIds(ids)})`, mostBytes });
}

async function readIds(session: PostgresSession, table: ChangedVersions, condition: string): Promise<string[]> {
  const [found] = await session.query<{ ids: string[] }>(
    `SELECT coalesce(json_agg(ctid::text), '[]') AS ids FROM ONLY ${pathOf(table)} WHERE ${condition}`,
  );
  return found?.ids ?? [];
}

/** Returns an array of tuple identifiers. */
export function quoteIds(ids: string[]): string {
  return `${quoteText(JSON.stringify(ids).replace(/^\[/, '{').replace(/\]$/, '}'))}::tid[]`;
}

interface Blocks {
  from: number;
  to: number;
}

/** Blocks of a range that is counted alone, first. */
const RANGE = 1024;

/** Finds runs of blocks with another number of old versions, by counts of ranges first. */
async function differingBlocks({
  table,
  isOld,
  database,
  base,
}: Omit<Versions, 'border' | 'mostBytes'> & { isOld: string }) {
  const runs: Blocks[] = [];
  const compare = async (within: string, size: number): Promise<Blocks[]> => {
    const counts = (condition: string): string => `
      SELECT ((ctid::text::point)[0]::int8 / ${quoteNumber(size)}) AS place, count(*) AS rows
      FROM ONLY ${pathOf(table)} WHERE ${condition} GROUP BY 1 ORDER BY 1`;
    const present = new Map(
      (await database.query<{ place: number; rows: number }>(counts(`${within} AND ${isOld}`))).map((one) => [
        one.place,
        one.rows,
      ]),
    );
    const all = await (base ?? database).query<{ place: number; rows: number }>(counts(within));
    return all
      .filter(({ place, rows }) => present.get(place) !== rows)
      .map(({ place }) => ({ from: place * size, to: (place + 1) * size }));
  };
  for (const range of await compare('true', RANGE)) {
    for (const block of await compare(inBlocks(range.from, range.to), 1)) {
      const last = runs.at(-1);
      if (last?.to === block.from && last.to - last.from < RANGE) last.to = block.to;
      else runs.push(block);
    }
  }
  return runs;
}

function inBlocks(from: number, to: number): string {
  return `ctid >= '(${quoteNumber(from)},0)'::tid AND ctid < '(${quoteNumber(to)},0)'::tid`;
}

interface RowsToRead {
  table: ChangedVersions;
  condition: string;
  mostBytes: number;
}

/** A large value can be much larger than it is stored. */
async function readRows(
  session: PostgresSession,
  { table, condition, mostBytes }: RowsToRead,
): Promise<RowVersion[] | null> {
  const from = `FROM ONLY ${pathOf(table)} AS t WHERE ${condition}`;
  if (table.toasted) {
    const [sum] = await session.query<{ bytes: number | null }>(
      `SELECT sum(octet_length((t.*)::text))::float8 AS bytes ${from}`,
    );
    if ((sum?.bytes ?? 0) > mostBytes) return null;
  }
  return session.query<RowVersion>(`SELECT t.ctid::text AS id, (t.*)::text AS row ${from}`);
}

export function pathOf({ schema, name }: Pick<ChangedVersions, 'schema' | 'name'>): string {
  return `${quoteName(schema)}.${quoteName(name)}`;
}
