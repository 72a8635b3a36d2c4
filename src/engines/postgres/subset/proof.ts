import type { ProofRow } from '../../../results/subset-results.ts';
import type { Relationship } from '../../../subset/graph.ts';
import type { SubsetRun } from '../../engine.ts';
import { proveReferences } from '../../shared/prove-references.ts';
import { type PsqlSession, quoteName } from '../connection/session.ts';
import { createFinder } from './finder.ts';
import type { OpenSource } from './reading.ts';
import type { Reference } from './subset-catalog.ts';

interface Proving {
  source: OpenSource;
  run: SubsetRun;
}

/** Proves every reference in the new database, to which the session is connected. */
export function prove(session: PsqlSession, { source, run }: Proving): Promise<ProofRow[]> {
  const referenceWith = ({ id }: Relationship): Reference => referenceOf(source, id);
  return proveReferences(run, {
    inSubset: (all) => countOrphans(session, all.map(referenceWith)),
    inSource: async (one) =>
      (await source.withSession((reading) => countOrphans(reading, [referenceWith(one)])))[0] ?? 0,
    finder: () => createFinder(run.plan.graph, { catalog: source.catalog, withSession: source.withSession, seed: 0 }),
  });
}

function referenceOf({ catalog }: OpenSource, id: string): Reference {
  const reference = catalog.references.get(id);
  if (!reference) throw new Error(`the catalog has no reference ${id}`);
  return reference;
}

/** How many references one statement proves: a server far away is asked seldom. */
const BATCH_REFERENCES = 100;

async function countOrphans(session: PsqlSession, references: Reference[]): Promise<number[]> {
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
