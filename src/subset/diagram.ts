import type { SubsetGraph, SubsetReference } from '../results/subset-results.ts';
import { components } from './components.ts';
import type { Plan } from './plan.ts';

/** Tables and references of a plan, sorted by name. */
export function graphOf(target: string, plan: Plan): SubsetGraph {
  const { tables, relationships, cut } = plan.graph;
  const chosen = chosenReferences(plan);
  const circular = circularReferences([...tables.keys()], [...relationships, ...cut]);
  const references = new Map<string, SubsetReference>();
  for (const [list, excluded] of [
    [relationships, false],
    [cut, true],
  ] as const) {
    for (const { from, to, name } of list) {
      const key = pairOf(from, to);
      const known = references.get(key);
      if (known) {
        known.names.push(name);
        known.excluded &&= excluded;
      } else {
        const reference = { chosen: chosen.has(key), circular: circular.has(key), excluded };
        references.set(key, { from, to, names: [name], ...reference });
      }
    }
  }
  return {
    target,
    tables: [...tables.values()]
      .map(({ name, rows }) => ({ table: name, rule: plan.rules.get(name) ?? ('empty' as const), rows }))
      .sort((a, b) => compare(a.table, b.table)),
    references: [...references.values()].sort((a, b) => compare(a.from, b.from) || compare(a.to, b.to)),
  };
}

/** By code units: the same on every machine. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function pairOf(from: string, to: string): string {
  return JSON.stringify([from, to]);
}

/** The steps of the paths by which the tables get their rows. */
function chosenReferences({ paths }: Plan): Set<string> {
  const chosen = new Set<string>();
  for (const path of paths.values()) {
    for (let at = 0; at + 2 < path.length; at += 2) {
      const [one = '', arrow, other = ''] = path.slice(at, at + 3);
      chosen.add(arrow === '→' ? pairOf(one, other) : pairOf(other, one));
    }
  }
  return chosen;
}

function circularReferences(tables: string[], references: { from: string; to: string }[]): Set<string> {
  const next = Map.groupBy(references, ({ from }) => from);
  const groups = components(tables, (table) => (next.get(table) ?? []).map(({ to }) => to));
  const groupOf = new Map(groups.flatMap((members, index) => members.map((member) => [member, index] as const)));
  return new Set(
    references.filter(({ from, to }) => groupOf.get(from) === groupOf.get(to)).map(({ from, to }) => pairOf(from, to)),
  );
}
