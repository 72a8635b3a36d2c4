import type { ReferenceResult } from '../../../results/subset-results.ts';
import type { Relationship } from '../../../subset/graph.ts';
import type { SubsetRun } from '../../facets/subset.ts';
import { groupsOf } from '../../shared/groups.ts';
import { countDanglingRows } from '../../shared/subset/dangling-rows.ts';
import { referenceOf } from '../../shared/subset/reference-of.ts';
import type { PostgresSession } from '../connection/session.ts';
import { createFinder, refers, refersTo } from './finder.ts';
import type { OpenSource } from './open-source.ts';
import type { Reference } from './subset-catalog.ts';

export function verifyReferences(
  session: PostgresSession,
  { source, run }: { source: OpenSource; run: SubsetRun },
): Promise<ReferenceResult[]> {
  const { catalog, withSession } = source;
  const orphansOf = (reading: PostgresSession, all: Relationship[]): Promise<number[]> =>
    countOrphans(
      reading,
      all.map(({ id }) => referenceOf(catalog, id)),
    );
  return countDanglingRows(run, {
    inSubset: (all) => orphansOf(session, all),
    inSource: async (one) => (await withSession((reading) => orphansOf(reading, [one])))[0] ?? 0,
    finder: () => createFinder(run.plan.graph, { catalog, withSession, seed: 0 }),
  });
}

/** References per statement: fewer round trips. */
const BATCH_REFERENCES = 100;

async function countOrphans(session: PostgresSession, references: Reference[]): Promise<number[]> {
  const counts: number[] = [];
  for (const some of groupsOf(references, BATCH_REFERENCES)) {
    const queries = some.map(orphansQuery);
    const rows = await session.query<{ index: number; orphans: number }>(
      queries.map((query, index) => `SELECT ${index} AS index, (${query}) AS orphans`).join(' UNION ALL '),
    );
    counts.push(...rows.toSorted((a, b) => a.index - b.index).map(({ orphans }) => orphans));
  }
  return counts;
}

function orphansQuery(reference: Reference): string {
  const { from, to, code } = reference;
  // Only an excluded reference may have code, and is null.
  if (code !== null) return `SELECT count(*) FROM ${from} f WHERE ${refers(reference)}`;
  return `SELECT count(*) FROM ${from} f WHERE ${refers(reference)}
    AND NOT EXISTS (SELECT FROM ${to} p WHERE ${refersTo(reference, { own: 'f', other: 'p' })})`;
}
