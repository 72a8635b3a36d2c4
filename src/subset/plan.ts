import { components } from './components.ts';
import type { Graph, Relationship, SubsetSettings } from './graph.ts';
import { assertReferencesPossible } from './nulled-columns.ts';

/** The plan of a subset, from catalog and configuration only: no row was read. */
export interface Plan {
  graph: Graph;
  settings: SubsetSettings;
  rules: Map<string, TableRole>;
  /** By table: the table, then the path back to a requested table. */
  paths: Map<string, string[]>;
  /**
   * Tables of rule `child` in groups, each after those that it references; a group with several tables, or a
   * self-reference, is a cycle.
   */
  children: string[][];
  circles: string[][];
  nulled: Map<string, Set<string>>;
  unindexed: Relationship[];
}

export function planSubsetRoles(graph: Graph, settings: SubsetSettings): Plan {
  const copied = new Set(settings.copy_tables ?? []);
  const excluded = new Set(settings.excluded_tables ?? []);
  const targets = new Set((settings.subset_tables ?? []).map(({ table }) => table));
  const downwards = graph.relationships.map(({ from, to }) => ({ from: to, to: from }));
  const descendants = reachedTables(targets, downwards, new Set([...copied, ...excluded]));
  const children = new Set([...descendants].filter((table) => !targets.has(table)));
  const parents = reachedTables([...targets, ...children, ...copied], graph.relationships, excluded);
  const rules = new Map<string, TableRole>();
  for (const table of graph.tables.keys()) {
    const alternatives: [TableRole, boolean][] = [
      ['target', targets.has(table)],
      ['copy', copied.has(table)],
      ['excluded', excluded.has(table)],
      ['child', children.has(table)],
      ['parent', parents.has(table)],
    ];
    rules.set(table, alternatives.find(([, applies]) => applies)?.[0] ?? 'empty');
  }
  const filled = (table: string): boolean => !['excluded', 'empty'].includes(rules.get(table) ?? 'empty');
  const paths = pathsOf(graph, rules);
  const nulled = assertReferencesPossible(graph, { settings, paths, filled });
  return {
    graph,
    settings,
    rules,
    paths,
    children: components(children, (table) =>
      filteredReferences(graph, rules, table)
        .map(({ to }) => to)
        .filter((to) => rules.get(to) === 'child'),
    ),
    circles: circlesOf(graph, filled),
    nulled,
    unindexed: graph.relationships.filter(
      ({ from, to, indexed }) => !indexed && rules.get(from) === 'child' && isFiltered(rules, to),
    ),
  };
}

function isFiltered(rules: Plan['rules'], table: string): boolean {
  return rules.get(table) === 'target' || rules.get(table) === 'child';
}

export function filteredReferences({ relationships }: Graph, rules: Plan['rules'], table: string): Relationship[] {
  return relationships.filter(({ from, to }) => from === table && isFiltered(rules, to));
}

/** The tables to which references lead from these, at any distance, and these. */
function reachedTables(start: Iterable<string>, references: Pick<Relationship, 'from' | 'to'>[], without: Set<string>) {
  const reached = new Set(start);
  const queue = [...reached];
  for (let table = queue.pop(); table !== undefined; table = queue.pop()) {
    for (const { from, to } of references) {
      if (from !== table || reached.has(to) || without.has(to)) continue;
      reached.add(to);
      queue.push(to);
    }
  }
  return reached;
}

function circlesOf({ relationships, tables }: Graph, filled: (table: string) => boolean): string[][] {
  const next = (table: string): string[] =>
    relationships.filter(({ from, to }) => from === table && filled(to)).map(({ to }) => to);
  return components([...tables.keys()].filter(filled), next)
    .filter((members) => members.length > 1 || next(members[0] ?? '').includes(members[0] ?? ''))
    .map((members) => members.sort());
}

/**
 * For each table the shortest path of its rows: from requested rows down to referencing ones, then up to referenced
 * ones.
 */
function pathsOf({ relationships }: Graph, rules: Map<string, TableRole>): Map<string, string[]> {
  const paths = new Map<string, string[]>();
  const spread = (start: string[], steps: { table: string; next: string; arrow: string; rule: TableRole }[]): void => {
    const queue = [...start];
    for (const table of queue) {
      for (const step of steps) {
        if (step.table !== table || rules.get(step.next) !== step.rule || paths.has(step.next)) continue;
        paths.set(step.next, [step.next, step.arrow, ...(paths.get(table) ?? [])]);
        queue.push(step.next);
      }
    }
  };
  const named = [...rules].filter(([, rule]) => rule === 'target' || rule === 'copy').map(([table]) => table);
  for (const table of named) paths.set(table, [table]);
  spread(
    named.filter((table) => rules.get(table) === 'target'),
    relationships.map(({ from, to }) => ({ table: to, next: from, arrow: '→', rule: 'child' })),
  );
  spread(
    [...paths.keys()],
    relationships.map(({ from, to }) => ({ table: from, next: to, arrow: '←', rule: 'parent' })),
  );
  return paths;
}

type TableRole = 'target' | 'child' | 'parent' | 'copy' | 'excluded' | 'empty';
