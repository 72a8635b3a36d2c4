import { expect, test } from 'vitest';
import type { Model } from '../../../screens/app/model.ts';
import type { Routes } from '../../../screens/app/route.ts';
import type { SubsetGraph, SubsetReference } from '../../../src/results/subset-results.ts';
import { cellWidth } from '../../../src/text/text-width.ts';
import { fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { type Size, screenLines, screenText } from '../../helpers/terminal/drawn-screen.tsx';
import { listed, press, until } from '../../helpers/terminal/driven-model.ts';

const SIZES: Size[] = [
  { columns: 40, rows: 10 },
  { columns: 80, rows: 24 },
  { columns: 120, rows: 40 },
  { columns: 220, rows: 60 },
];

test('O draws the table between those that it references and those that reference it, with the rows of the subset', async () => {
  const model = await shown();
  const screen = await screenText(model);
  expect(screen).toMatch(/References \(1\) .*Table .*Referenced by \(2\)/);
  expect(screen).toMatch(/│ +orders +\+1 │\n.*│ +450 of 9,000 +│\n.*│ +country +↺ \+1 │◂─+│ ❯ customer +│━┤/);
  expect(screen).toMatch(/copy {2}200 of 200 .*│ +50 of 1,000 /);
  expect(screen).toContain('━ adds rows');
  expect(screen).toContain('target: subset table   50 of 1,000 rows, 5 %');
  expect(screen).toContain('References 1 table, referenced by 2 tables');
});

test('tables two steps away are drawn where there is room, along the way by which the rows come', async () => {
  const model = await shown();
  const narrow = await screenText(model, { columns: 80, rows: 24 });
  expect(narrow).not.toContain('product');
  expect(narrow).toMatch(/orders +\+1/);
  const wide = await screenText(model, { columns: 120, rows: 40 });
  expect(wide).toMatch(/2 steps +References \(1\) .*2 steps/);
  expect(wide).toMatch(/◂│ +orders +│━+▸│ +product/);
});

test('the arrows follow the references; the columns scroll along, and tables further out are shown', async () => {
  const model = await shown();
  press(model, 'right');
  expect(await screenText(model)).toContain('public.orders → public.customer  orders_customer_fkey, adds rows');
  press(model, 'right');
  expect(await screenText(model)).toMatch(/❯ product/);
  press(model, 'right');
  expect(await screenText(model)).toMatch(/❯ product/);
  press(model, 'left', 'left');
  expect(place(model).selected).toBe('public.customer');
  press(model, 'left');
  expect(await screenText(model)).toMatch(/❯ country/);
  press(model, 'left', 'left');
  // The customers again, which are in the middle already.
  expect(await screenText(model)).toMatch(/❯ customer +↺/);
});

test('Enter puts the selected table in the middle; Esc goes back along the trail, then to the plan', async () => {
  const model = await shown();
  press(model, 'enter');
  expect(await screenText(model)).toContain('It is in the middle already');
  press(model, 'right', 'enter');
  expect(place(model)).toMatchObject({ focus: 'public.orders', trail: ['public.customer'] });
  expect(await screenText(model)).toContain('diagram ❯ customer ❯ orders');
  press(model, 'left');
  expect(await screenText(model)).toMatch(/References \(2\) [\s\S]*│ ❯ customer/);
  press(model, 'down', 'enter');
  expect(place(model)).toMatchObject({ focus: 'public.product', trail: ['public.customer', 'public.orders'] });
  press(model, 'left', 'enter');
  expect(await screenText(model)).toContain('↺ self-reference');
  press(model, 'esc');
  expect(place(model)).toMatchObject({ focus: 'public.product' });
  press(model, 'esc', 'esc', 'esc');
  expect(model.navigation.top().screen).toBe('subset');
});

test('in a narrow window the tables are lines, and the arrows up and down go through all of them', async () => {
  const model = await shown();
  const size = { columns: 40, rows: 20 };
  expect(await screenText(model, size)).toMatch(
    /❯ customer +50 of 1,000\n +References \(1\)\n +▸ country +200 of 200 ↺\n[\s\S]*Referenced by \(2\)\n +◂ orders +450 of 9,000\n +▸ product/,
  );
  press(model, 'end');
  expect(await screenText(model, size)).toMatch(/❯ +◂ customer +50 of 1,000 ↺/);
});

test.each(SIZES)('200 tables with names of 63 characters are drawn within $columns×$rows', async (size) => {
  const model = await shown();
  model.navigation.replace({ ...place(model), ...drawnGraph(large()) });
  for (const keys of [['right'], ['end', 'right'], ['enter'], ['left', 'left']]) {
    press(model, ...keys);
    const lines = await screenLines(model, size);
    expect(lines.every((line) => cellWidth(line) <= size.columns)).toBe(true);
    // The first line has the trail.
    expect(lines.slice(1).filter((line) => /❯ +(?:[◂▸] )?t\d/.test(line))).toHaveLength(1);
  }
});

test('a diagram of more tables than fit has those around the selected one, and the line to the others goes on', async () => {
  const model = await shown();
  model.navigation.replace({ ...place(model), ...drawnGraph(large()) });
  press(model, 'right');
  const first = await screenLines(model);
  expect(first.find((line) => line.includes('t001'))).toMatch(/╭─+◂❯ t001/);
  press(model, 'end');
  const last = await screenLines(model);
  expect(last.find((line) => line.includes('◂'))).toMatch(/├─+◂ {2}t\d+/);
  expect(last.findLast((line) => line.includes('◂'))).toMatch(/╰─+◂❯ t120/);
});

test('a circle of references ends where it comes back to the middle', async () => {
  const model = await shown();
  const tables = ['a', 'b', 'c'];
  const references = tables.map((from, at) => reference(from, tables[(at + 1) % 3] ?? '', { circular: true }));
  model.navigation.replace({ ...place(model), ...drawnGraph(graphOf(tables, references)) });
  press(model, 'right', 'right', 'right', 'right', 'right');
  const route = place(model);
  expect(route.open).toHaveLength(1);
  expect(await screenText(model, { columns: 160, rows: 30 })).toMatch(/❯ a +↺/);
});

test('the heading of a column of short names is whole', async () => {
  const model = await shown();
  const many = Array.from({ length: 12 }, (_, index) => `c${index}`);
  const references = [reference('b', 'a'), ...many.map((from) => reference(from, 'b'))];
  model.navigation.replace({ ...place(model), ...drawnGraph(graphOf(['b', 'a', ...many], references)) });
  const screen = await screenText(model, { columns: 120, rows: 40 });
  expect(screen).toMatch(/References \(1\) +Table +Referenced by \(12\)/);
});

/** A hub that 120 tables reference, and a chain of 80 that it references. */
function large(): SubsetGraph {
  const name = (index: number): string =>
    `t${String(index).padStart(3, '0')}_${'long_name_'.repeat(5)}${index % 10}xxxxxxx`;
  const tables = Array.from({ length: 200 }, (_, index) => name(index));
  const references = tables.slice(1).map((table, at) => {
    const index = at + 1;
    return index <= 120 ? reference(table, name(0)) : reference(index === 121 ? name(0) : name(index - 1), table);
  });
  expect(cellWidth(name(7))).toBe(63);
  return graphOf(tables, references);
}

function graphOf(tables: string[], references: SubsetReference[]): SubsetGraph {
  const counted = tables.map((table) => ({ table, rule: 'child' as const, rows: 9000, expected: 450 }));
  return { target: 'app', tables: counted, references };
}

function reference(from: string, to: string, change: Partial<SubsetReference> = {}): SubsetReference {
  return { from, to, names: [`${from}_fkey`], chosen: false, circular: false, excluded: false, ...change };
}

function drawnGraph(graph: SubsetGraph): Partial<Routes['subset-graph']> {
  return { graph, focus: graph.tables[0]?.table ?? '', trail: [], selected: null, open: [] };
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
