import { quoteName, quoteText } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import type { Relation } from '../../dump/unchanged/count-rows.ts';
import { inStatements, type Places, pathOf, placeOf, rangesOf } from './row-places.ts';
import type { Blocks } from './visibility-maps.ts';

/** The primary key of a table, if it has one column, of a common type without collation. */
export interface RowKey {
  column: string;
  type: string;
}

/** By oid. */
export async function readKeys(session: PostgresSession, tables: { oid: number }[]): Promise<Map<number, RowKey>> {
  if (tables.length === 0) return new Map();
  const oids = quoteText(`{${tables.map(({ oid }) => oid).join(',')}}`);
  const rows = await session.query<RowKey & { oid: number }>(`
    SELECT i.indrelid::int8 AS oid, a.attname AS column, format_type(a.atttypid, NULL) AS type
    FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
    WHERE i.indrelid = ANY (${oids}::oid[]) AND i.indisprimary AND i.indisvalid AND i.indnkeyatts = 1
      AND a.atttypid = ANY ('{int2,int4,int8,numeric,uuid,date,timestamp,timestamptz}'::regtype[])`);
  return new Map(rows.map(({ oid, column, type }) => [oid, { column, type }]));
}

export interface NewVersions {
  /** Versions in the blocks, and those of them that are fresh, with their keys. */
  all: number;
  fresh: Places;
  keys: string[];
}

interface NewToRead {
  table: Relation;
  /** `null`: all. */
  blocks: Blocks[] | null;
  isFresh: string;
  key: RowKey;
}

/** Counts the versions in these blocks, and reads places and keys of the fresh ones: half the work of reading all places. */
export async function readFresh(
  session: PostgresSession,
  { table, blocks, isFresh, key }: NewToRead,
): Promise<NewVersions> {
  const found = { all: 0, versions: [] as string[] };
  const versions = `SELECT count(*) AS all, json_agg(concat(t.ctid, t.${quoteName(key.column)})) FILTER (WHERE ${isFresh}) AS fresh
    FROM ONLY ${pathOf(table)} AS t`;
  const inRanges = (some: Blocks[]): string =>
    `${rangesOf(some)}, LATERAL (${versions} WHERE t.ctid >= g.first AND t.ctid < g.last) AS s`;
  for (const from of blocks ? inStatements(blocks).map(inRanges) : [`(${versions}) AS s`]) {
    const [row] = await session.query<{ all: number; fresh: string[][] | null }>(
      `SELECT coalesce(sum(s.all), 0)::int8 AS all, json_agg(s.fresh) FILTER (WHERE s.fresh IS NOT NULL) AS fresh FROM ${from}`,
    );
    found.all += row?.all ?? 0;
    for (const some of row?.fresh ?? []) found.versions.push(...some);
  }
  const fresh = Float64Array.from(found.versions, (one) => placeOf(one.slice(0, one.indexOf(')') + 1))).sort();
  return { all: found.all, fresh, keys: found.versions.map((one) => one.slice(one.indexOf(')') + 1)) };
}

/** Condition on rows with these keys. */
export function hasKey({ column, type }: RowKey, keys: string[]): string {
  const list = quoteText(`{${keys.map((one) => JSON.stringify(one)).join(',')}}`);
  return `t.${quoteName(column)} = ANY (${list}::${type}[])`;
}
