import type { CollectResult } from './collect.ts';
import type { Relationship } from './graph.ts';
import type { Plan } from './plan.ts';
import type { RowFinder } from './row-finder.ts';
import { createRowSet, type RowSet } from './row-set.ts';

export interface Link {
  table: string;
  row: number;
  /** The reference to the next link of the chain, in either direction. */
  by: { relationship: Relationship; direction: 'refers' | 'referred' } | null;
}

/**
 * The shortest chain from a row to a requested one: a chosen row references a chosen one, any other row is referenced
 * by an included one. `null` when the row is not in the subset.
 */
export async function explainRow(
  { plan, finder, collected }: { plan: Plan; finder: RowFinder; collected: CollectResult },
  start: { table: string; row: number },
): Promise<Link[] | null> {
  const { rules, graph } = plan;
  const isAsked = ({ table, row }: { table: string; row: number }): boolean =>
    rules.get(table) === 'copy' || (rules.get(table) === 'target' && collected.chosen.get(table)?.has(row) === true);
  const isTaken = (table: string, row: number): boolean =>
    rules.get(table) === 'copy' || collected.taken.get(table)?.has(row) === true;
  if (!isTaken(start.table, start.row)) return null;
  const seen = new Map<string, RowSet>();
  const queue: { link: Link; before: Link[] }[] = [{ link: { ...start, by: null }, before: [] }];
  for (const { link, before } of queue) {
    if (isAsked(link)) return [...before, link];
    const chosen = collected.chosen.get(link.table)?.has(link.row) === true;
    const rows = createRowSet([link.row]);
    const follow = (by: NonNullable<Link['by']>, table: string, row: number): void => {
      const known = seen.get(table) ?? createRowSet();
      seen.set(table, known);
      if (known.add(row)) queue.push({ link: { table, row, by: null }, before: [...before, { ...link, by }] });
    };
    for (const relationship of graph.relationships) {
      if (chosen && relationship.from === link.table) {
        await finder.referred(relationship, rows, (row) => {
          if (collected.chosen.get(relationship.to)?.has(row))
            follow({ relationship, direction: 'refers' }, relationship.to, row);
        });
      } else if (!chosen && relationship.to === link.table) {
        await finder.referring(relationship, rows, (row) => {
          if (isTaken(relationship.from, row)) follow({ relationship, direction: 'referred' }, relationship.from, row);
        });
      }
    }
  }
  return null;
}
