import { EXIT, UserError } from '../../errors.ts';
import type { ProofRow } from '../../results.ts';
import type { Relationship } from '../../subset/graph.ts';
import type { SubsetRun } from '../subset.ts';
import { quoteName, type Session } from './session.ts';
import type { Reference } from './subset-catalogue.ts';
import { createFinder } from './subset-finder.ts';
import type { OpenSource } from './subset-source.ts';

interface Proving {
  source: OpenSource;
  run: SubsetRun;
}

/**
 * Looks by every reference for rows that refer to none. Where the source has no constraint that is in force it may have
 * such rows itself: those may be here too, and no others.
 */
export async function prove(session: Session, { source, run }: Proving): Promise<ProofRow[]> {
  const { relationships, cut } = run.plan.graph;
  const proof: ProofRow[] = [];
  for (const relationship of [...relationships, ...cut]) {
    const reference = source.catalogue.references.get(relationship.id);
    if (!reference) throw new Error(`the catalogue has no reference ${relationship.id}`);
    const orphans = await countOrphans(session, reference);
    proof.push({
      reference: relationship.name,
      from: relationship.from,
      columns: relationship.columns,
      to: relationship.to,
      ref_columns: relationship.refColumns,
      added: relationship.added,
      orphans,
      orphans_in_source: orphans === 0 ? 0 : await countInSource({ source, run }, relationship),
    });
  }
  const wrong = proof.filter(({ orphans, orphans_in_source }) => orphans !== orphans_in_source);
  if (wrong.length === 0) return proof;
  throw new UserError('The subset does not hold: rows in it refer to rows that are not', {
    code: 'subset_not_proved',
    exit: EXIT.failed,
    details: wrong.map(({ from, columns, to, orphans }) => `${from} (${columns.join(', ')}) → ${to}: ${orphans} rows`),
    hint: 'The destination is as it was before. This is a defect of the tool: please report it.',
  });
}

async function countOrphans(
  session: Session,
  { from, columns, to, refColumns, operators }: Reference,
): Promise<number> {
  const present = columns.map((column) => `f.${quoteName(column)} IS NOT NULL`);
  const same = columns.map(
    (column, index) => `p.${quoteName(refColumns[index] ?? '')} ${operators[index]} f.${quoteName(column)}`,
  );
  const [row] = await session.query<{ orphans: number }>(`
    SELECT count(*) AS orphans FROM ${from} f WHERE ${present.join(' AND ')}
      AND NOT EXISTS (SELECT FROM ${to} p WHERE ${same.join(' AND ')})`);
  return row?.orphans ?? 0;
}

async function countInSource({ source, run }: Proving, relationship: Relationship): Promise<number> {
  const { lend, catalogue } = source;
  const { plan, collected } = run;
  const reference = catalogue.references.get(relationship.id);
  if (!reference) return 0;
  if (plan.rules.get(relationship.from) === 'copy') return lend((session) => countOrphans(session, reference));
  const rows = collected.taken.get(relationship.from);
  if (!rows) return 0;
  const finder = await createFinder(plan.graph, { catalogue, lend, seed: 0 });
  let orphans = 0;
  await finder.references(relationship, rows, (_, referred) => {
    if (referred === null) orphans += 1;
  });
  return orphans;
}
