import { expect, test } from 'vitest';
import type { SubsetGraph, SubsetReference } from '../../src/results/subset-results.ts';
import { graphOf } from '../../src/subset/diagram.ts';
import { drawMermaid } from '../../src/subset/draw-mermaid.ts';
import { buildGraph } from '../../src/subset/graph.ts';
import { planSubsetRoles } from '../../src/subset/plan.ts';
import type { SourceForeignKey, SourceSchema } from '../../src/subset/source-schema.ts';

const key = (from: string, to: string): SourceForeignKey => ({
  ...{ id: `${from}>${to}`, name: `${from}_${to}_fkey`, from, columns: [`${to}_id`], to, refColumns: ['id'] },
  ...{ matchFull: false, indexed: true },
});

function sourceOf(names: string[], foreignKeys: SourceForeignKey[]): SourceSchema {
  const column = (name: string) => ({ name, type: 'integer', family: 'number', nullable: true });
  const tables = names.map((name) => ({
    ...{ name, rows: 10, bytes: 1000, keys: [['id']] },
    columns: [
      column('id'),
      ...foreignKeys.filter(({ from }) => from === name).map(({ columns: [own = ''] }) => column(own)),
    ],
  }));
  return { tables, foreignKeys } as unknown as SourceSchema;
}

const NAMES = ['country', 'customer', 'orders', 'product', 'stock'];
const KEYS = [
  key('orders', 'customer'),
  key('orders', 'product'),
  key('customer', 'country'),
  key('country', 'customer'),
  key('stock', 'product'),
  key('product', 'product'),
];

function planned(names = NAMES, keys = KEYS): SubsetGraph {
  const settings = { subset_tables: [{ table: names[1] ?? '', percent: 5 }], excluded_tables: [names[0] ?? ''] };
  return graphOf('shop', planSubsetRoles(buildGraph(sourceOf(names, keys), settings), settings));
}

test('the references by which rows come are chosen, circles are marked, and excluded ones are in it', () => {
  const graph = planned();
  expect(graph.tables.map(({ table, rule }) => `${table} ${rule}`)).toEqual([
    'country excluded',
    'customer target',
    'orders child',
    'product parent',
    'stock empty',
  ]);
  const said = ({ from, to, chosen, circular, excluded }: SubsetReference) =>
    `${from}>${to}${chosen ? ' chosen' : ''}${circular ? ' circular' : ''}${excluded ? ' excluded' : ''}`;
  expect(graph.references.map(said)).toEqual([
    'country>customer circular',
    'customer>country circular excluded',
    'orders>customer chosen',
    'orders>product chosen',
    'product>product circular',
    'stock>product',
  ]);
});

/** The same graph with other names, in the same order. */
const HOSTILE = [
  'a"]:::x --> y; click t0 "javascript:alert(1)"',
  'b\'"><script>alert(1)</script>',
  'c\n  t9 --> t1\n%%{init: {}}%% `x` #quot; end',
  'd]]>&lt;&amp;&#0;\u0000\u202e\ud800<!--',
  'e</title></svg><img src=x onerror=alert(1)>',
];

function renamed(): SubsetGraph {
  const to = new Map(NAMES.map((name, index) => [name, HOSTILE[index] ?? '']));
  const graph = planned();
  return {
    target: HOSTILE[1] ?? '',
    tables: graph.tables.map((each) => ({ ...each, table: to.get(each.table) ?? '' })),
    references: graph.references.map((each) => ({
      ...each,
      ...{ from: to.get(each.from) ?? '', to: to.get(each.to) ?? '', names: HOSTILE },
    })),
  };
}

test('a Mermaid file has the same lines whatever the tables are called', () => {
  const bare = (text: string): string => text.replaceAll(/\["[^"]*<br\/>/g, '["<br/>');
  const hostile = drawMermaid(renamed());
  expect(bare(hostile)).toBe(bare(drawMermaid(planned())));
  for (const line of hostile.split('\n').filter((each) => each.includes('["'))) {
    expect(line).toMatch(/^ {2}t\d+\["(?:[\p{L}\p{M}\p{N} ._\ufffd-]|#\d+;)*<br\/>\w+, [\d#;]+ rows"\]:::\w+_$/u);
  }
  expect(drawMermaid(planned())).toContain('t2 ==> t1');
  expect(drawMermaid(planned())).toContain('t1 -.-> t0');
});

test('the order in which a server lists tables and keys does not change a file', () => {
  const other = planned(NAMES, KEYS.toReversed());
  other.tables.reverse();
  const again = { ...other, tables: other.tables.toReversed() };
  expect(drawMermaid(again)).toBe(drawMermaid(planned()));
});
