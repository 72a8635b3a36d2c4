import { UserError } from '../../../runtime/errors.ts';
import { groupsOf } from '../../shared/groups.ts';
import { quoteText } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';

export interface NameCase {
  folds: boolean;
  fold(name: string): string;
}

const EXACT: NameCase = { folds: false, fold: (name) => name };

const NAMES_AT_ONCE = 1000;

export async function readNameCase(session: MysqlSession, names: Iterable<string>): Promise<NameCase> {
  const [row] = await session.query<{ folds: number }>('SELECT @@lower_case_table_names > 0 AS folds');
  if (Number(row?.folds) !== 1) return EXACT;
  const folded = new Map<string, string>();
  for (const part of groupsOf([...new Set(names)], NAMES_AT_ONCE)) {
    // Names are utf8mb3, whose case rules differ.
    const rows = await session.query<{ at: number; name: string }>(
      part
        .map((name, at) => `SELECT ${Number(at)} AS at, LOWER(CONVERT(${quoteText(name)} USING utf8mb3)) AS name`)
        .join(' UNION ALL '),
    );
    for (const { at, name } of rows) folded.set(part[Number(at)] ?? '', name);
  }
  return { folds: true, fold: (name) => folded.get(name) ?? name.toLowerCase() };
}

export function assertNoNameCollision({ folds, fold }: NameCase, names: string[], what = 'tables or views'): void {
  if (!folds) return;
  const pairs = [...Map.groupBy(names, fold).values()].filter((same) => same.length > 1);
  const [pair] = pairs;
  if (!pair) return;
  const [first, second] = pair.sort();
  throw new UserError('names_collide', `The destination cannot tell the ${what} "${first}" and "${second}" apart`, {
    details: pairs.slice(1, 20).map((same) => same.sort().join(', ')),
    hint: 'Nothing was changed. Rename one of them, or load into a server with lower_case_table_names = 0.',
  });
}
