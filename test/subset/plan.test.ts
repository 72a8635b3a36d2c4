import { expect, it } from 'vitest';
import { buildGraph, columnList } from '../../src/subset/graph.ts';
import { planSubsetRoles } from '../../src/subset/plan.ts';
import type { SourceSchema } from '../../src/subset/source-schema.ts';

/** `child → parent`, by a column of its own that may be null where the arrow has a question mark. */
function facts(...arrows: string[]): SourceSchema {
  const references = arrows.map((arrow, index) => {
    const [, from = '', nullable, to = ''] = /^(\w+) →(\??) (\w+)$/.exec(arrow) ?? [];
    return { from: `s.${from}`, to: `s.${to}`, column: `c${index}`, nullable: nullable === '?' };
  });
  const names = [...new Set(references.flatMap(({ from, to }) => [from, to]))].sort();
  const column = { nullable: false, generated: false, type: 'integer', family: 'number' };
  return {
    tables: names.map((name) => ({
      name,
      columns: [
        { ...column, name: 'id' },
        ...references
          .filter(({ from }) => from === name)
          .map((own) => ({ ...column, name: own.column, nullable: own.nullable })),
      ],
      keys: [['id']],
      rows: 10,
      bytes: 8192,
    })),
    foreignKeys: references.map(({ from, to, column: name }) => ({
      ...{ id: name, name, from, to, columns: [name], refColumns: ['id'], matchFull: false, indexed: true },
    })),
  };
}

const target = { subset_tables: [{ table: 's.a', percent: 5 }] };

it('assigns every table its role and its path', () => {
  const source = facts('b → a', 'c → b', 'c → d', 'd → e', 'f → e', 'a → e');
  const { rules, paths } = planSubsetRoles(buildGraph(source, target), target);
  expect(Object.fromEntries(rules)).toEqual({
    ...{ 's.a': 'target', 's.b': 'child', 's.c': 'child', 's.d': 'parent', 's.e': 'parent', 's.f': 'empty' },
  });
  expect(paths.get('s.d')?.join(' ')).toBe('s.d ← s.c → s.b → s.a');
  expect(paths.get('s.e')?.join(' ')).toBe('s.e ← s.a');
});

it('orders children after referenced tables, and groups cycles', () => {
  const source = facts('b → a', 'c → b', 'd → c', 'c → d', 'e → d', 'e → b');
  const { children, circles } = planSubsetRoles(buildGraph(source, target), target);
  expect(children.map((group) => group.sort())).toEqual([['s.b'], ['s.c', 's.d'], ['s.e']]);
  expect(circles).toEqual([['s.c', 's.d']]);
});

it('does not follow copied and excluded tables to referencing ones', () => {
  const settings = { ...target, copy_tables: ['s.b'], excluded_tables: ['s.c'] };
  const { rules } = planSubsetRoles(buildGraph(facts('b → a', 'x → b', 'c → a', 'y → c'), settings), settings);
  expect([rules.get('s.x'), rules.get('s.y')]).toEqual(['empty', 'empty']);
});

it('refuses a non-nullable reference to an excluded table only when its rows are included', () => {
  const source = facts('b → a', 'b → c', 'd → c');
  const excluded = { ...target, excluded_tables: ['s.c'] };
  expect(() => planSubsetRoles(buildGraph(source, excluded), excluded)).toThrow('cannot be null');
  const nullable = facts('b → a', 'b →? c', 'd → c');
  expect(planSubsetRoles(buildGraph(nullable, excluded), excluded).nulled).toEqual(new Map([['s.b', new Set(['c1'])]]));
});

it('takes a table by one rule only', () => {
  const settings = { ...target, copy_tables: ['s.a'] };
  expect(() => buildGraph(facts('b → a'), settings)).toThrow(
    expect.objectContaining({ code: 'subset_invalid', details: ['s.a is in subset_tables and in copy_tables'] }),
  );
});

it('reads columns as a text, as a list in a text, and as a list', () => {
  expect([columnList('a'), columnList('a, b'), columnList(['a', 'b'])]).toEqual([['a'], ['a', 'b'], ['a', 'b']]);
});
