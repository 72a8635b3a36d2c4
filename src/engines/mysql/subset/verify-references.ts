import type { ReferenceResult } from '../../../results/subset-results.ts';
import type { SubsetRun } from '../../facets/subset.ts';
import { countDanglingRows } from '../../shared/subset/dangling-rows.ts';
import { referenceOf } from '../../shared/subset/reference-of.ts';
import { asTable, quotePath } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { createFinder, refers, refersTo } from './finder.ts';
import type { OpenSource } from './open-source.ts';
import type { Reference } from './subset-catalog.ts';

export function verifyReferences(
  session: MysqlSession,
  { source, run, database }: { source: OpenSource; run: SubsetRun; database: string },
): Promise<ReferenceResult[]> {
  const { catalog, withSession } = source;
  return countDanglingRows(run, {
    async inSubset(all) {
      const counts: number[] = [];
      for (const { id } of all) counts.push(await countOrphans(session, referenceOf(catalog, id), database));
      return counts;
    },
    inSource: ({ id }) => withSession((reading) => countOrphans(reading, referenceOf(catalog, id), source.database)),
    finder: async () => createFinder(run.plan.graph, { database: source.database, catalog, withSession, seed: 0 }),
  });
}

async function countOrphans(session: MysqlSession, reference: Reference, database: string): Promise<number> {
  const { from, to } = reference;
  const same = refersTo(reference, { own: 'f', other: 'p' });
  const [row] = await session.query<{ orphans: number | string }>(`
    SELECT COUNT(*) AS orphans FROM ${asTable(quotePath(database, from.catalog.name), 'f')} WHERE ${refers(reference)}
    AND NOT EXISTS (SELECT 1 FROM ${asTable(quotePath(database, to.catalog.name), 'p')} WHERE ${same})`);
  return Number(row?.orphans ?? 0);
}
