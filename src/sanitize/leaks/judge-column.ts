import type { ColumnHits } from './search-values.ts';
import { countDistinct, type DistinctBits, NAME, NUMBER, RARE, TELLING, WORD } from './value-table.ts';

/** Distinct values that chance does not put into a column of its own. */
const LEAST_DISTINCT = 5;
/** In a column that the query has not changed: a list of cities may hold those of many customers. */
const LEAST_DISTINCT_UNCHANGED = 20;
/** Shares of the values of a column that make a finding. */
const RARE_SHARE = 0.05;
const COMMON_SHARE = 0.5;

export interface JudgedColumn {
  hits: ColumnHits;
  /** The distinct values of this column itself before the query; `null` where it was not personal or had no values. */
  own: DistinctBits | null;
  /** Hits in the same column before the query; `null` for a new column, `same` for an unchanged one. */
  before: ColumnHits | 'same' | 'unknown' | null;
}

/**
 * Reports how many values of a column hold original ones: telling ones always, others from a share of the column.
 * `common` values are below it. `undecided`: depends on the column before the query.
 */
export type LeakVerdict = { verdict: 'found' | 'common'; count: number } | { verdict: 'none' | 'undecided' };

export function judgeColumn({ hits, own, before }: JudgedColumn): LeakVerdict {
  const distinct = hits.distinct ? countDistinct(hits.distinct) : 0;
  const [all, words, names] = [countFrom(hits, NUMBER), countFrom(hits, WORD), countFrom(hits, NAME)];
  const [rare, telling] = [countFrom(hits, RARE), countFrom(hits, TELLING)];
  const isMany = distinct >= LEAST_DISTINCT;
  if (isMany && hits.distinct && own) {
    const surviving = countDistinct(hits.distinct, own) / Math.max(1, countDistinct(own));
    if (words > 0 && surviving > COMMON_SHARE) return { verdict: 'found', count: words };
  } else if (isMany && all > COMMON_SHARE * hits.values) {
    if (before === 'unknown') return { verdict: 'undecided' };
    if (isMore(hits, before)) return { verdict: 'found', count: all };
    const isList = names > COMMON_SHARE * hits.values && distinct >= LEAST_DISTINCT_UNCHANGED;
    if (isList) return { verdict: 'found', count: names };
  }
  if (isMany && rare > RARE_SHARE * hits.values) {
    if (!own && before === 'unknown') return { verdict: 'undecided' };
    if (own || isMore(hits, before)) return { verdict: 'found', count: rare };
  }
  if (telling > 0) return { verdict: 'found', count: telling };
  return isMany && words > 0 ? { verdict: 'common', count: words } : { verdict: 'none' };
}

function isMore(hits: ColumnHits, before: JudgedColumn['before']): boolean {
  if (before === null) return true;
  if (before === 'same' || before === 'unknown') return false;
  return countFrom(hits, NUMBER) > countFrom(before, NUMBER);
}

function countFrom({ counts }: ColumnHits, least: number): number {
  return counts.slice(least).reduce((sum, count) => sum + count, 0);
}

/** Adds the hits of a round, or of another part (`isOtherPart`), to those of the same column. */
export function mergeHits(
  all: Map<string, ColumnHits>,
  { name, hits, isOtherPart }: { name: string; hits: ColumnHits; isOtherPart: boolean },
): void {
  const known = all.get(name);
  if (!known) {
    all.set(name, hits);
    return;
  }
  if (isOtherPart) known.values += hits.values;
  else known.values = Math.max(known.values, hits.values);
  for (const valueClass of [NUMBER, WORD, NAME, RARE, TELLING] as const) {
    known.counts[valueClass] += hits.counts[valueClass];
  }
  for (const [source, count] of hits.from) known.from.set(source, (known.from.get(source) ?? 0) + count);
  if (hits.distinct) known.distinct = addBits(known.distinct, hits.distinct);
  known.hits.push(...hits.hits);
}

/** Adds to the known bits in place, if there are any. */
export function addBits(known: DistinctBits | null | undefined, bits: DistinctBits): DistinctBits {
  if (!known) return bits;
  for (const [at, byte] of bits.entries()) known[at] = (known[at] ?? 0) | byte;
  return known;
}
