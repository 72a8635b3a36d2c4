import type { ReferenceResult } from '../../../results/subset-results.ts';
import { UserError } from '../../../runtime/errors.ts';
import type { Relationship } from '../../../subset/graph.ts';
import type { RowFinder } from '../../../subset/row-finder.ts';
import type { SubsetRun } from '../../facets/subset.ts';

export interface OrphanCounts {
  inSubset(references: Relationship[]): Promise<number[]>;
  inSource(reference: Relationship): Promise<number>;
  finder(): Promise<RowFinder>;
}

/**
 * Counts dangling rows by reference. Without an enforced constraint the source may have some: the subset may contain
 * those, and no others.
 */
export async function countDanglingRows(
  { plan, collected }: Pick<SubsetRun, 'plan' | 'collected'>,
  { inSubset, inSource, finder }: OrphanCounts,
): Promise<ReferenceResult[]> {
  const all = [...plan.graph.relationships, ...plan.graph.cut];
  const orphans = await inSubset(all);

  async function countTaken(relationship: Relationship): Promise<number> {
    if (plan.rules.get(relationship.from) === 'copy') return inSource(relationship);
    const rows = collected.taken.get(relationship.from);
    if (!rows) return 0;
    let count = 0;
    const found = await finder();
    await found.references(relationship, rows, (_, referred) => {
      if (referred === null) count += 1;
    });
    return count;
  }

  const results: ReferenceResult[] = [];
  for (const [index, relationship] of all.entries()) {
    const here = orphans[index] ?? 0;
    results.push({
      reference: relationship.name,
      from: relationship.from,
      columns: relationship.columns,
      to: relationship.to,
      ref_columns: relationship.refColumns,
      added: relationship.added,
      orphans: here,
      orphans_in_source: here === 0 ? 0 : await countTaken(relationship),
    });
  }
  const wrong = results.filter((row) => row.orphans !== row.orphans_in_source);
  if (wrong.length === 0) return results;
  throw new UserError('subset_not_proved', 'The subset has dangling references', {
    details: wrong.map(
      ({ from, columns, to, orphans: rows }) => `${from} (${columns.join(', ')}) → ${to}: ${rows} rows`,
    ),
    hint: 'The destination is unchanged. This is a defect of the tool: please report it.',
  });
}
