import { expect, test } from 'vitest';
import type { SubsetGraph, SubsetReference } from '../../src/results/subset-results.ts';
import { graphOf, layers } from '../../src/subset/diagram.ts';
import { drawMermaid } from '../../src/subset/draw-mermaid.ts';
import { drawSvg } from '../../src/subset/draw-svg.ts';
import { buildGraph } from '../../src/subset/graph.ts';
import { planSubset } from '../../src/subset/plan.ts';
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
  return graphOf('shop', planSubset(buildGraph(sourceOf(names, keys), settings), settings));
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

test('a table stands left of those that it references, a circle in one layer', () => {
  const layerOf = new Map(layers(planned()).flatMap((row) => row.map(({ table, layer }) => [table, layer])));
  expect(layerOf.get('orders')).toBe(0);
  expect(layerOf.get('customer')).toBe(1);
  expect(layerOf.get('country')).toBe(1);
  expect(layerOf.get('product')).toBe(1);
});

test('a chain of ten thousand tables, and as many without references, are placed', () => {
  const names = Array.from({ length: 10_000 }, (_, index) => `t${index}`);
  const tables = names.map((table) => ({ table, rule: 'empty' as const, rows: 1 }));
  const references = names.slice(1, 5000).map((to, index) => {
    return { from: `t${index}`, to, names: ['fk'], chosen: false, circular: false, excluded: false };
  });
  const placed = layers({ tables, references });
  expect(placed.flat()).toHaveLength(10_000);
  expect(new Set(placed.flat().map(({ table }) => table)).size).toBe(10_000);
  expect(placed[4999]?.map(({ table }) => table)).toEqual(['t4999']);
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

/** Markup without texts and numbers. */
function skeleton(svg: string): string {
  return svg.replaceAll(/>[^<]*</g, '><').replaceAll(/[\d.-]+/g, '0');
}

test('an SVG file has the same markup whatever the tables are called, and no character that XML forbids', () => {
  const hostile = drawSvg(renamed());
  expect(skeleton(hostile)).toBe(skeleton(drawSvg(planned())));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are looked for
  expect(hostile).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/);
  expect(hostile).toContain('&lt;script&gt;');
  expect(hostile).not.toMatch(/href|<script|<style|<image|foreignObject|\bon\w+=(?!alert)/);
  expect(hostile.isWellFormed()).toBe(true);
});

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
  expect(drawSvg(again)).toBe(drawSvg(planned()));
  expect(drawMermaid(again)).toBe(drawMermaid(planned()));
});
