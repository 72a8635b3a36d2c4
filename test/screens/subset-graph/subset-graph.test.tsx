import { expect, test } from 'vitest';
import type { Model } from '../../../screens/app/model.ts';
import type { Routes } from '../../../screens/app/route.ts';
import { diagramLines } from '../../../src/operations/subset/diagram-text.ts';
import { ASCII } from '../../../src/presentation/shapes/glyphs.ts';
import type { SubsetGraph } from '../../../src/results/subset-results.ts';
import { cellWidth } from '../../../src/text/text-width.ts';
import { fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { screenLines, screenText } from '../../helpers/terminal/drawn-screen.tsx';
import { listed, press, until } from '../../helpers/terminal/driven-model.ts';

test('O lists the tables that reference the selected table, and those that it references', async () => {
  const model = await shown();
  const lines = await screenLines(model);
  const screen = lines.join('\n');
  expect(screen).toMatch(
    /Referenced by +public\.orders +child +450 of 9,000 +rows come by it.*\n.*Referenced by +public\.country.*\n.*❯ Table +public\.customer +target +50 of 1,000.*\n.*References +public\.country +copy +200 of 200 +circular, /,
  );
  expect(screen).toContain('public.customer: referenced by 2 tables, references 1 table');
  expect(lines.every((line) => cellWidth(line) <= 80)).toBe(true);
});

test('the selection goes through the neighbours; Enter shows the neighbours of the selected one', async () => {
  const model = await shown();
  press(model, 'home');
  expect(await screenText(model)).toContain('public.orders → public.customer: orders_customer_fkey, rows come by it');
  press(model, 'enter');
  expect(place(model)).toMatchObject({ focus: 'public.orders', selected: 0 });
  press(model, 'end', 'down', 'right');
  expect(place(model)).toMatchObject({ focus: 'public.product', selected: 1 });
  press(model, 'end', 'enter');
  expect(place(model)).toMatchObject({ focus: 'public.category', selected: 1 });
  expect(await screenText(model)).toMatch(/❯ Table +public\.category .* circular, categ/);
  press(model, 'esc');
  expect(model.navigation.top().screen).toBe('subset');
});

test.each([1, 6, 19])('neighbours around the selected one are shown where only %d lines fit', (height) => {
  for (const selected of [0, 15, 30]) {
    const lines = diagramLines({ graph: star(30), focus: 'centre', selected, height, glyphs: ASCII });
    expect(lines).toHaveLength(height);
    const text = lines.map((line) => line.map((span) => span.text).join('')).filter((line) => line.startsWith('>'));
    expect(text).toEqual([expect.stringContaining(selected === 30 ? 'centre' : `n${`${selected}`.padStart(2, '0')}`)]);
  }
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

function place(model: Model): Routes['subset-graph'] {
  const route = model.navigation.top();
  if (route.screen !== 'subset-graph') throw new Error(`${route.screen} is shown`);
  return route;
}
