import { groupsOf } from '../../../shared/groups.ts';
import type { CatalogTable } from '../../catalog/introspect.ts';
import { quotePath } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import { conditionOf, type Range, WHOLE } from '../ranges.ts';
import { hasFresh } from './count-rows.ts';
import type { RangeEvidence } from './evidence.ts';
import type { Blocks } from './visibility-maps.ts';

export interface ScanOptions {
  table: CatalogTable;
  /** Ranges of this build. */
  ranges: Range[];
  earlier: RangeEvidence[];
  /** The border that the evidence records. */
  xmin: string;
  /** Blocks outside of which no row has changed; `null` where that is unknown. */
  blocks: Blocks[] | null;
}

/** Ranges that are counted first, spread over the table: when all of them have changed, the others count as changed. */
const SAMPLE = 16;

/**
 * Returns for each range what the evidence says of it where the range still has the same rows, else `null`. A row
 * version that is visible and older than the evidence was visible then, at the same place; a deletion lowers the count,
 * and an update makes a new version.
 */
export async function findUnchangedRanges(
  session: PostgresSession,
  { table, ranges, earlier, xmin, blocks }: ScanOptions,
): Promise<(RangeEvidence | null)[]> {
  if (isWhole(earlier)) {
    // What a load has recorded: unchanged as a whole, or not at all.
    return blocks?.length === 0 || (await isSameWhole(session, { table, earlier, xmin }))
      ? earlier
      : ranges.map(() => null);
  }
  const candidates = ranges.map((range) => candidateOf(range, earlier));
  const untouched = untouchedRanges({ ranges, earlier, blocks });
  const unchanged = candidates.map((candidate, at) => (untouched.has(at) ? candidate : null));
  if (!unchanged.includes(null)) return unchanged;
  if (
    untouched.size === 0 &&
    ranges.length <= SAMPLE &&
    ranges.length === earlier.length &&
    !candidates.includes(null)
  ) {
    // All ranges of a table, whose blocks are read sooner without borders.
    if (await isSameWhole(session, { table, earlier, xmin })) return candidates;
    if (ranges.length === 1) return unchanged;
  }
  const places = [...candidates.keys()].filter((at) => candidates[at] !== null && !untouched.has(at));
  const step = Math.ceil(places.length / SAMPLE);
  const examine = async (some: number[]): Promise<void> => {
    for (const group of groupsOf(some, SAMPLE)) {
      const examined = group.map(async (at) => {
        const [range, candidate] = [ranges[at], candidates[at]];
        if (!range || !candidate) return;
        const { rows, fresh } = await countRange(session, { table, range, xmin });
        if (!fresh && rows === candidate.rows) unchanged[at] = candidate;
      });
      await Promise.all(examined);
    }
  };
  await examine(places.filter((_, at) => at % step === 0));
  if (unchanged.filter((one) => one !== null).length > untouched.size)
    await examine(places.filter((_, at) => at % step !== 0));
  return unchanged;
}

/** Returns the places of the ranges without a block that may have changed. The blocks say nothing of ranges that were cut otherwise. */
function untouchedRanges({ ranges, earlier, blocks }: Pick<ScanOptions, 'ranges' | 'earlier' | 'blocks'>): Set<number> {
  const isSame = ({ start, end }: Range, at: number): boolean =>
    earlier[at]?.start === start && earlier[at].end === end;
  if (!blocks || ranges.length !== earlier.length || !ranges.every(isSame)) return new Set();
  return new Set(
    [...ranges.keys()].filter((at) => {
      const { start, end } = ranges[at] ?? WHOLE;
      return !blocks.some(([from, to]) => from < (end ?? Number.POSITIVE_INFINITY) && to > (start ?? 0));
    }),
  );
}

/** Several files of a table whose rows are at unknown places. */
export function isWhole(ranges: RangeEvidence[]): boolean {
  return ranges.length > 1 && ranges.every(({ start, end }) => start === null && end === null);
}

async function isSameWhole(session: PostgresSession, { table, earlier, xmin }: Omit<ScanOptions, 'ranges' | 'blocks'>) {
  const { rows, fresh } = await countRange(session, { table, range: WHOLE, xmin });
  return !fresh && rows === earlier.reduce((sum, range) => sum + range.rows, 0);
}

/** The recorded range with the same blocks, or with these and all behind them: the last one had no end. */
function candidateOf({ start, end }: Range, earlier: RangeEvidence[]): RangeEvidence | null {
  return earlier.find((one) => one.start === start && (one.end === end || one.end === null)) ?? null;
}

interface Count {
  rows: number;
  /** Some of the rows may be newer than the evidence. */
  fresh: boolean;
}

/** Counts what the snapshot sees. */
async function countRange(
  session: PostgresSession,
  { table, range, xmin }: { table: CatalogTable; range: Range; xmin: string },
): Promise<Count> {
  const { schema, name } = table;
  const [count] = await session.query<Count>(`
    SELECT count(*) AS rows, ${hasFresh(xmin)} AS fresh FROM ONLY ${quotePath(schema, name)}${conditionOf(range)}`);
  if (!count) throw new Error('a count has no row');
  return count;
}
