import type { SanitizeFacet } from '../../../engines/facets/sanitize.ts';
import type { Manifest } from '../../../repository/manifest/manifest.ts';
import { type ColumnDigest, type ColumnFacts, columnName } from '../../../sanitize/column-facts.ts';
import { itemName } from '../../../sanitize/ledger/ledger-item.ts';
import { placeOf } from './stored-items.ts';

/** Digests columns, by the name of the item. Columns whose plain names are equal are read one after the other. */
export async function digestItems(
  sanitize: Pick<SanitizeFacet, 'digestColumns'>,
  manifest: Pick<Manifest, 'engine'>,
  columns: ColumnFacts[],
): Promise<Map<string, ColumnDigest>> {
  const digests = new Map<string, ColumnDigest>();
  let rest = columns;
  while (rest.length > 0) {
    const part = [...new Map(rest.map((facts) => [columnName(facts), facts])).values()];
    const found = await sanitize.digestColumns(part);
    for (const facts of part) {
      const digest = found.get(columnName(facts));
      if (digest) digests.set(itemName(placeOf(manifest, facts)), digest);
    }
    const done = new Set(part);
    rest = rest.filter((facts) => !done.has(facts));
  }
  return digests;
}

/** Reports whether the values are the same, or some rows came or went and most of the distinct samples are still there. */
export function isUnchanged(
  before: ColumnDigest | undefined,
  after: ColumnDigest | undefined,
  { sampled, distinct, sampleHashes }: Pick<ColumnFacts, 'sampled' | 'distinct' | 'sampleHashes'>,
): boolean {
  if (!before || !after || after.values === 0) return false;
  if (before.values === after.values) return before.digest === after.digest;
  const telling = sampled === distinct && sampleHashes.length >= LEAST_SAMPLES;
  return telling && after.surviving * 2 > sampleHashes.length;
}

/** Fewer may be equal by chance. */
const LEAST_SAMPLES = 10;
