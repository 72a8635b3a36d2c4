import { expect, test } from 'vitest';
import type { Model } from '../../../screens/app/model.ts';
import type { Routes } from '../../../screens/app/route.ts';
import { ASCII, SPOKEN, UNICODE } from '../../../src/presentation/shapes/glyphs.ts';
import { diagramLines } from '../../../src/presentation/subset-diagram.ts';
import type { SubsetGraph } from '../../../src/results/subset-results.ts';
import { cellWidth } from '../../../src/text/text-width.ts';
import { screenLines, screenText } from '../../helpers/drawn-screen.tsx';
import { listed, press, until } from '../../helpers/driven-model.ts';
import { fakeGraph } from '../../helpers/fake-subset.ts';
import { fakeWorld } from '../../helpers/fake-world.ts';

test('z draws the selected table between those that reference it and those that it references', async () => {
  const model = await shown();
  const lines = await screenLines(model);
  const screen = lines.join('\n');
  expect(screen).toMatch(/REFERENCED BY +TABLE +REFERENCES/);
  expect(screen).toMatch(/│ public\.orders +│━━╮.*\n.*\n.*├━▶│ public\.customer +│────▶│ public\.country/);
  expect(screen).toMatch(/↻ copy 200/);
  expect(screen).toContain('public.customer: referenced by 2 tables, references 1 table');
  expect(lines.every((line) => cellWidth(line) <= 80)).toBe(true);
});

test('a reference to the only neighbour is drawn in one stroke', () => {
  const graph: SubsetGraph = star(1);
  const chosen = { ...graph, references: graph.references.map((reference) => ({ ...reference, chosen: true })) };
  const place = { focus: 'centre', side: 'focus' as const, index: 0 };
  const lines = diagramLines({ graph: chosen, place, width: 80, height: 19, glyphs: UNICODE });
  const text = lines.map((line) => line.map((span) => span.text).join('')).join('\n');
  expect(text).toContain('│━━━━▶│');
});

test('arrow keys go through the neighbours, and beyond the last column a table becomes the focus', async () => {
  const model = await shown();
  press(model, 'left');
  expect(place(model)).toMatchObject({ focus: 'public.customer', side: 'left', index: 0 });
  expect(await screenText(model)).toContain('public.orders → public.customer: orders_customer_fkey, rows come by it');
  press(model, 'down', 'down');
  expect(place(model).index, 'the last neighbour').toBe(1);
  press(model, 'up', 'left');
  expect(place(model), 'nothing references orders').toEqual({ focus: 'public.orders', side: 'focus', index: 0 });
  press(model, 'right', 'down', 'right');
  expect(place(model)).toEqual({ focus: 'public.product', side: 'right', index: 0 });
  press(model, 'enter');
  expect(place(model)).toEqual({ focus: 'public.category', side: 'focus', index: 0 });
  press(model, 'esc');
  expect(model.navigation.top().screen).toBe('subset');
});

test.for([
  ['Unicode', UNICODE],
  ['ASCII', ASCII],
] as const)('in %s every line has one width, at every size, with more neighbours than fit', ([, glyphs]) => {
  const graph = star(30);
  for (let width = 40; width <= 240; width += 8) {
    for (const height of [6, 19, 60]) {
      for (const index of [0, 15, 29]) {
        const place = { focus: 'centre', side: 'left' as const, index };
        const lines = diagramLines({ graph, place, width, height, glyphs });
        expect(lines.length).toBeLessThanOrEqual(height);
        const widths = new Set(lines.map((line) => line.reduce((sum, { text }) => sum + cellWidth(text), 0)));
        expect(widths.size, `${width}×${height}`).toBe(1);
        expect([...widths][0]).toBeLessThanOrEqual(width);
        const text = lines.map((line) => line.map((span) => span.text).join('')).join('\n');
        if (width >= 60) expect(text).toContain(`n${String(index).padStart(2, '0')}`);
        if (height === 19 && width >= 60) expect(text).toMatch(/\d+ more/);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: everything beyond ASCII
        if (glyphs === ASCII) expect(text).not.toMatch(/[^\x00-\x7f]/);
      }
    }
  }
});

test('for a screen reader each reference is a line', () => {
  const place = { focus: 'public.customer', side: 'left' as const, index: 0 };
  const lines = diagramLines({ graph: fakeGraph('app'), place, width: 80, height: 19, glyphs: SPOKEN });
  expect(lines.map((line) => line.map(({ text }) => text).join(''))).toEqual([
    'Table public.customer, target',
    '> Referenced by public.orders, child, orders_customer_fkey, rows come by it',
    'Referenced by public.country, copy, country_customer_fkey, circular',
    'References public.country, copy, customer_country_fkey, circular',
  ]);
});

function star(count: number): SubsetGraph {
  const names = Array.from({ length: count }, (_, index) => `n${String(index).padStart(2, '0')}`);
  return {
    target: 'app',
    tables: ['centre', ...names].map((table) => ({ table, rule: 'child' as const, rows: 5 })),
    references: names.map((from) => {
      return { from, to: 'centre', names: ['fk'], chosen: false, circular: false, excluded: false };
    }),
  };
}

async function shown(): Promise<Model> {
  const model = await listed(fakeWorld());
  press(model, 'x');
  await until(() => {
    const route = model.navigation.top();
    return route.screen === 'subset' && !route.counting;
  });
  press(model, 'O');
  expect(model.navigation.top().screen).toBe('subset-graph');
  return model;
}

function place(model: Model): Routes['subset-graph']['place'] {
  const route = model.navigation.top();
  if (route.screen !== 'subset-graph') throw new Error(`${route.screen} is shown`);
  return route.place;
}
