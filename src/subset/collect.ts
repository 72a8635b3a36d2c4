import { filteredReferences, type Plan } from './plan.ts';
import type { RowFinder } from './row-finder.ts';
import { createRowSet, type RowSet } from './row-set.ts';

export interface CollectResult {
  /** Requested rows, and rows that reference them. */
  chosen: Map<string, RowSet>;
  /** Also all rows that these reference; without copied tables. */
  taken: Map<string, RowSet>;
}

export async function collect(plan: Plan, finder: RowFinder): Promise<CollectResult> {
  const chosen = new Map<string, RowSet>();
  await Promise.all(
    (plan.settings.subset_tables ?? []).map((target) =>
      finder.targets(target, (row) => rowsOf(chosen, target.table).add(row)),
    ),
  );
  for (const group of plan.children) await chooseChildren(plan, { finder, chosen, group });
  return { chosen, taken: await takeParents(plan, finder, chosen) };
}

interface ChooseOptions {
  finder: RowFinder;
  chosen: Map<string, RowSet>;
  /** Tables that reference each other, directly or through others; mostly one. */
  group: string[];
}

/**
 * Rows that reference a chosen row, and no unchosen row of a filtered table. References to tables outside the group are
 * decided at once, those within it at the end, when all candidates are known.
 */
async function chooseChildren(plan: Plan, { finder, chosen, group }: ChooseOptions): Promise<void> {
  const references = group.flatMap((table) => filteredReferences(plan.graph, plan.rules, table));
  const inner = references.filter(({ to }) => group.includes(to));
  const outer = references.filter(({ to }) => !group.includes(to));
  for (const table of group) rowsOf(chosen, table);

  /** Without rows that reference an unchosen row outside the group. */
  async function keepAble(table: string, rows: RowSet): Promise<void> {
    const own = references.filter(({ from }) => from === table);
    if (own.length === 1) return;
    await Promise.all(
      outer
        .filter(({ from }) => from === table)
        .map(async (relationship) => {
          const wrong = await dangling(relationship, rows);
          for (const row of wrong) rows.delete(row);
        }),
    );
  }

  async function dangling(relationship: (typeof references)[number], rows: RowSet): Promise<number[]> {
    const wrong: number[] = [];
    await finder.references(relationship, rows, (row, referred) => {
      if (referred === null || !rowsOf(chosen, relationship.to).has(referred)) wrong.push(row);
    });
    return wrong;
  }

  let from = chosen;
  let steps = outer;
  while (steps.length > 0) {
    const found = new Map<string, RowSet>();
    await Promise.all(
      steps.map((relationship) => {
        const known = rowsOf(chosen, relationship.from);
        const added = rowsOf(found, relationship.from);
        return finder.referring(relationship, rowsOf(from, relationship.to), (row) => known.has(row) || added.add(row));
      }),
    );
    await Promise.all([...found].map(([table, rows]) => keepAble(table, rows)));
    for (const [table, rows] of found) for (const row of rows) rowsOf(chosen, table).add(row);
    from = found;
    steps = inner.filter(({ to }) => (found.get(to)?.size ?? 0) > 0);
  }

  let dropped = new Map<string, RowSet>();
  for (const relationship of inner) {
    for (const row of await dangling(relationship, rowsOf(chosen, relationship.from))) {
      rowsOf(dropped, relationship.from).add(row);
    }
  }
  while (dropped.size > 0) {
    for (const [table, rows] of dropped) for (const row of rows) rowsOf(chosen, table).delete(row);
    const next = new Map<string, RowSet>();
    for (const relationship of inner) {
      const known = rowsOf(chosen, relationship.from);
      await finder.referring(relationship, rowsOf(dropped, relationship.to), (row) => {
        if (known.has(row)) rowsOf(next, relationship.from).add(row);
      });
    }
    dropped = next;
  }
}

/** All referenced rows, until there are no new ones: cycles end by themselves. */
async function takeParents(plan: Plan, finder: RowFinder, chosen: Map<string, RowSet>): Promise<Map<string, RowSet>> {
  const taken = new Map([...chosen].map(([table, rows]) => [table, createRowSet(rows)]));
  const isCopied = (table: string): boolean => plan.rules.get(table) === 'copy';
  let added = new Map<string, RowSet | 'all'>(chosen);
  for (const table of plan.settings.copy_tables ?? []) added.set(table, 'all');
  while (added.size > 0) {
    const next = new Map<string, RowSet>();
    await Promise.all(
      plan.graph.relationships
        .filter(({ to }) => !isCopied(to))
        .map(async (relationship) => {
          const rows = added.get(relationship.from);
          if (rows === undefined || (rows !== 'all' && rows.size === 0)) return;
          const known = rowsOf(taken, relationship.to);
          await finder.referred(relationship, rows, (row) => {
            if (known.add(row)) rowsOf(next, relationship.to).add(row);
          });
        }),
    );
    added = next;
  }
  return taken;
}

function rowsOf(sets: Map<string, RowSet>, table: string): RowSet {
  const rows = sets.get(table) ?? createRowSet();
  sets.set(table, rows);
  return rows;
}
