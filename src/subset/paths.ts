import type { Graph } from './graph.ts';
import type { TableRole } from './table-role.ts';

/**
 * For each table the shortest path of its rows: from requested rows down to referencing ones, then up to referenced
 * ones.
 */
export function pathsOf({ relationships }: Graph, rules: Map<string, TableRole>): Map<string, string[]> {
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
