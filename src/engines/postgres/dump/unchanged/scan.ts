import type { CatalogTable } from '../../catalog/introspect.ts';
import { quoteName, quoteNumber, quoteText } from '../../connection/quote.ts';
import type { PsqlSession } from '../../connection/session.ts';
import type { Range } from '../ranges.ts';
import type { RangeEvidence } from './evidence.ts';

/** Rows of a table or range that the snapshot sees, and those of them that may be newer than the evidence. */
interface Counts {
  rows: number;
  fresh: number;
}

export interface ScanOptions {
  table: CatalogTable;
  /** Ranges of this build. */
  ranges: Range[];
  earlier: RangeEvidence[];
  /** Of the evidence. */
  xmin: string;
}

/**
 * Returns for each range what the evidence says of it where the range still has the same rows, else `null`. A row
 * version that is visible and older than the evidence was visible then, at the same place; a deletion lowers the count,
 * and an update makes a new version.
 */
export async function findUnchangedRanges(
  session: PsqlSession,
  { table, ranges, earlier, xmin }: ScanOptions,
): Promise<(RangeEvidence | null)[]> {
  const candidates = ranges.map((range) => candidateOf(range, earlier));
  const read = ranges.map(() => null);
  if (candidates.every((candidate) => candidate === null)) return read;
  const [whole] = await session.query<Counts & { first: number | null }>(wholeQuery(table, xmin));
  if (!whole) throw new Error('a count has no row');
  const recorded = earlier.reduce((sum, { rows }) => sum + rows, 0);
  const old = whole.rows - whole.fresh;
  const isComplete = old === recorded;
  // The count of each range costs as much as reading it when most rows are others.
  if (!isComplete && recorded - old + whole.fresh > whole.rows / 2) return read;
  // Every row of then is still there: ranges before the first new row are as they were.
  const undecided = isComplete ? firstUndecided({ ranges, candidates, first: whole.first }) : 0;
  if (undecided === ranges.length) return candidates;
  const from = isSmallPart(table, ranges[undecided]) ? undecided : 0;
  const counted = await countRanges(session, { table, ranges, from, xmin });
  return candidates.map((candidate, at) => {
    if (candidate === null || at < from) return candidate;
    const { rows, fresh } = counted[at - from] ?? { rows: 0, fresh: 0 };
    return fresh === 0 && rows === candidate.rows ? candidate : null;
  });
}

/** The recorded range with the same blocks, or with these and all behind them: the last one had no end. */
function candidateOf({ start, end }: Range, earlier: RangeEvidence[]): RangeEvidence | null {
  return earlier.find((one) => one.start === start && (one.end === end || one.end === null)) ?? null;
}

interface Undecided {
  ranges: Range[];
  candidates: (RangeEvidence | null)[];
  /** Block of the first new row. */
  first: number | null;
}

function firstUndecided({ ranges, candidates, first }: Undecided): number {
  const undecided = ranges.findIndex(({ end }, at) => {
    const candidate = candidates[at];
    const isOther = candidate != null && candidate.end !== end;
    return isOther || (first !== null && (end === null || first < end));
  });
  return undecided === -1 ? ranges.length : undecided;
}

function nameOf({ schema, name }: CatalogTable): string {
  return `${quoteName(schema)}.${quoteName(name)}`;
}

const TWO_TO_32 = 2n ** 32n;

/** A transaction that began when the recorded snapshot was taken, or later. The server compares within one transaction. */
function isFresh(xmin: string): string {
  return `age(xmin) <= age(${quoteText(String(BigInt(xmin) % TWO_TO_32))}::xid)`;
}

function wholeQuery(table: CatalogTable, xmin: string): string {
  return `SELECT rows, fresh, ((first::text::point)[0])::int8 AS first FROM (
    SELECT count(*) AS rows, count(*) FILTER (WHERE ${isFresh(xmin)}) AS fresh, min(ctid) FILTER (WHERE ${isFresh(xmin)}) AS first
    FROM ONLY ${nameOf(table)}) counts`;
}

/** A scan by places costs several times what a scan of the whole table does for the same blocks. */
const SHARE_BY_PLACE = 0.25;

function isSmallPart({ blocks }: CatalogTable, range: Range | undefined): boolean {
  return blocks > 0 && (blocks - (range?.start ?? 0)) / blocks < SHARE_BY_PLACE;
}

/** Counts the rows of the ranges from one on. */
async function countRanges(
  session: PsqlSession,
  { table, ranges, from, xmin }: Omit<ScanOptions, 'earlier'> & { from: number },
): Promise<Counts[]> {
  const counted = ranges.slice(from);
  const [first, ...others] = counted.map(({ start }) => placeOf(start ?? 0));
  const bucket = others.length === 0 ? '0' : `width_bucket(ctid, ARRAY[${others.join(', ')}])`;
  const rows = await session.query<Counts & { bucket: number }>(`
    SELECT ${bucket} AS bucket, count(*) AS rows, count(*) FILTER (WHERE ${isFresh(xmin)}) AS fresh
    FROM ONLY ${nameOf(table)} ${from === 0 || first === undefined ? '' : `WHERE ctid >= ${first}`} GROUP BY 1`);
  const byBucket = new Map(rows.map((row) => [row.bucket, row]));
  return counted.map((_, at) => byBucket.get(at) ?? { rows: 0, fresh: 0 });
}

function placeOf(block: number): string {
  return `'(${quoteNumber(block)},0)'::tid`;
}
