import { EXIT, UserError } from '../../errors.ts';
import type { ProofRow } from '../../results.ts';
import type { Relationship } from '../../subset/graph.ts';
import type { SubsetRun } from '../subset.ts';
import { quoteName, type Session } from './session.ts';
import type { Reference } from './subset-catalogue.ts';
import { createFinder } from './subset-finder.ts';
import type { OpenSource } from './subset-reading.ts';

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
  const all = [...relationships, ...cut];
  const orphans = await countOrphans(
    session,
    all.map(({ id }) => referenceOf(source, id)),
  );
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
      orphans_in_source: here === 0 ? 0 : await countInSource({ source, run }, relationship),
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

function referenceOf({ catalogue }: OpenSource, id: string): Reference {
  const reference = catalogue.references.get(id);
  if (!reference) throw new Error(`the catalogue has no reference ${id}`);
  return reference;
}

/** How many references one statement proves: a server far away is asked seldom. */
const BATCH_REFERENCES = 100;

async function countOrphans(session: Session, references: Reference[]): Promise<number[]> {
  const counts: number[] = [];
  for (let start = 0; start < references.length; start += BATCH_REFERENCES) {
    const queries = references.slice(start, start + BATCH_REFERENCES).map(orphansQuery);
    const rows = await session.query<{ index: number; orphans: number }>(
      queries.map((query, index) => `SELECT ${index} AS index, (${query}) AS orphans`).join(' UNION ALL '),
    );
    for (const { index, orphans } of rows) counts[start + index] = orphans;
  }
  return counts;
}

function orphansQuery({ from, columns, to, refColumns, operators }: Reference): string {
  const present = columns.map((column) => `f.${quoteName(column)} IS NOT NULL`);
  const same = columns.map(
    (column, index) => `p.${quoteName(refColumns[index] ?? '')} ${operators[index]} f.${quoteName(column)}`,
  );
  return `SELECT count(*) FROM ${from} f WHERE ${present.join(' AND ')}
    AND NOT EXISTS (SELECT FROM ${to} p WHERE ${same.join(' AND ')})`;
}

async function countInSource({ source, run }: Proving, relationship: Relationship): Promise<number> {
  const { lend, catalogue } = source;
  const { plan, collected } = run;
  if (plan.rules.get(relationship.from) === 'copy') {
    const [counted = 0] = await lend((session) => countOrphans(session, [referenceOf(source, relationship.id)]));
    return counted;
  }
  const rows = collected.taken.get(relationship.from);
  if (!rows) return 0;
  const finder = await createFinder(plan.graph, { catalogue, lend, seed: 0 });
  let orphans = 0;
  await finder.references(relationship, rows, (_, referred) => {
    if (referred === null) orphans += 1;
  });
  return orphans;
}
