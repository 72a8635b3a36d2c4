import type { ProofRow } from '../../results/subset-results.ts';
import { EXIT, UserError } from '../../runtime/errors.ts';
import type { Relationship } from '../../subset/graph.ts';
import type { RowFinder } from '../../subset/row-finder.ts';
import type { SubsetRun } from '../engine.ts';

/** How an engine counts rows that refer to none. */
export interface OrphanCounts {
  /** In the new database, for each of the references. */
  inSubset(references: Relationship[]): Promise<number[]>;
  /** In a table of the source. */
  inSource(reference: Relationship): Promise<number>;
  finder(): Promise<RowFinder>;
}

/**
 * Looks by every reference for rows that refer to none. Where the source has no constraint that is in force it may have
 * such rows itself: those may be here too, and no others.
 */
export async function proveReferences(
  { plan, collected }: Pick<SubsetRun, 'plan' | 'collected'>,
  { inSubset, inSource, finder }: OrphanCounts,
): Promise<ProofRow[]> {
  const all = [...plan.graph.relationships, ...plan.graph.cut];
  const orphans = await inSubset(all);

  async function takenFromSource(relationship: Relationship): Promise<number> {
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

  const proof: ProofRow[] = [];
  for (const [index, relationship] of all.entries()) {
    const here = orphans[index] ?? 0;
    proof.push({
      reference: relationship.name,
      from: relationship.from,
      columns: relationship.columns,
      to: relationship.to,
      ref_columns: relationship.refColumns,
      added: relationship.added,
      orphans: here,
      orphans_in_source: here === 0 ? 0 : await takenFromSource(relationship),
    });
  }
  const wrong = proof.filter((row) => row.orphans !== row.orphans_in_source);
  if (wrong.length === 0) return proof;
  throw new UserError('The subset does not hold: rows in it refer to rows that are not', {
    code: 'subset_not_proved',
    exit: EXIT.failed,
    details: wrong.map(
      ({ from, columns, to, orphans: rows }) => `${from} (${columns.join(', ')}) → ${to}: ${rows} rows`,
    ),
    hint: 'The destination is as it was before. This is a defect of the tool: please report it.',
  });
}
